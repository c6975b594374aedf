import { childController } from "../../base/abort.ts";
import { CodedError } from "../../base/errors.ts";
import { createTally } from "../../base/tally.ts";
import type { ServedRequest } from "../../host/http-server.ts";

/** The request for which the API server is asked. */
export type Asker = Pick<ServedRequest, "remoteAddress" | "signal">;

/** The places of the reviews that are under way. */
interface ReviewPlaces {
  /**
   * Settles as the review does. Rejects with a CodedError `too-many-reviews` where there is no place, and where this
   * one has to make room; the review's own signal fires then.
   */
  run<T>(asker: Asker, review: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

interface Place {
  readonly address: string;
  makeRoom(): void;
}

/**
 * Anybody can have tokens reviewed that are none, and so fill all places. Beyond the limit the oldest review of the
 * address that has most of them makes room, unless the newcomer's address would then have more than that one.
 */
export function createReviewPlaces(limit: number): ReviewPlaces {
  /** Oldest first. */
  const taken = new Set<Place>();
  const byAddress = createTally();

  const enter = (newcomer: Place): void => {
    if (taken.size >= limit) makeRoomFor(newcomer);
    taken.add(newcomer);
    byAddress.add(newcomer.address, 1);
  };
  const leave = (place: Place): void => {
    if (taken.delete(place)) byAddress.add(place.address, -1);
  };
  const makeRoomFor = ({ address }: Place): void => {
    const busiest = byAddress.highest() ?? address;
    const oldest = [...taken].find((place) => place.address === busiest);
    if (oldest === undefined || byAddress.count(busiest) <= byAddress.count(address) + 1) {
      throw new CodedError("too-many-reviews", `${taken.size} reviews are under way, no more are asked for`);
    }
    leave(oldest);
    oldest.makeRoom();
  };

  return {
    async run({ remoteAddress, signal }, review) {
      const { controller, release } = childController(signal);
      const place = { address: remoteAddress, makeRoom: () => controller.abort() };
      try {
        enter(place);
        return await review(controller.signal);
      } catch (error) {
        if (signal.aborted || !controller.signal.aborted) throw error;
        throw new CodedError("too-many-reviews", "the review made room for one of another client", { cause: error });
      } finally {
        leave(place);
        release();
      }
    },
  };
}
