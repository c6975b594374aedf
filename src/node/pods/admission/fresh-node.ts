import type { Node } from "../../../api/gen/types.ts";
import { sleep } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { createMailbox } from "../../../base/mailbox.ts";

/**
 * The node object, read anew for pods that its labels or taints keep away as they were last seen. Both may have changed
 * since the last heartbeat, and a refusal is final.
 */
export interface FreshNode {
  /** Reads the node for the pod; `onRead` is called when that is done, also where the API server is away for long. */
  ask(podUid: string): void;
  /** The node as it was read for the pod, which is given once; undefined where it was not read. */
  take(podUid: string): Node | undefined;
  run(signal: AbortSignal): Promise<void>;
}

interface FreshNodeDeps {
  /** Has a time limit of its own. */
  readNode(signal: AbortSignal): Promise<Node>;
  onRead(podUid: string): void;
  readonly clock: Clock;
  readonly log: Log;
}

const RETRY_MS = { first: SECOND, longest: 30 * SECOND };
/**
 * A bound on the readings that are kept for pods which went before they were asked about again; the oldest is dropped.
 */
const MAX_READ = 1_000;

export function createFreshNode({ readNode, onRead, clock, log }: FreshNodeDeps): FreshNode {
  const asked = new Set<string>();
  const read = new Map<string, Node>();
  const bell = createMailbox<"asked">(1);

  const readUntilThere = async (signal: AbortSignal): Promise<Node> => {
    for (let waitMs = RETRY_MS.first; ; waitMs = Math.min(2 * waitMs, RETRY_MS.longest)) {
      try {
        return await readNode(signal);
      } catch (error) {
        signal.throwIfAborted();
        log.warn("Failed to fetch node info, pods wait for it to be let in", { error: messageOf(error), waitMs });
        await sleep(clock, waitMs, signal);
      }
    }
  };

  return {
    ask(podUid) {
      asked.add(podUid);
      bell.offer("asked");
    },
    take(podUid) {
      const node = read.get(podUid);
      read.delete(podUid);
      return node;
    },
    async run(signal) {
      for (;;) {
        await bell.take(signal);
        const uids = [...asked];
        if (uids.length === 0) continue;
        const node = await readUntilThere(signal);
        for (const uid of uids) {
          asked.delete(uid);
          read.set(uid, node);
          const [oldest] = read.keys();
          if (read.size > MAX_READ && oldest !== undefined) read.delete(oldest);
          onRead(uid);
        }
      }
    },
  };
}
