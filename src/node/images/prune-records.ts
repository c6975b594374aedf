import { sleep } from "../../base/abort.ts";
import { type Clock, MINUTE } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import * as cri from "../../cri/gen/cri-v1.ts";
import type { Cri } from "../../cri/port.ts";
import type { PullRecords } from "./pull-records.ts";

export interface RecordPruningDeps {
  readonly records: Pick<PullRecords, "prune">;
  readonly images: Pick<Cri["images"], "listImages">;
  readonly clock: Clock;
  readonly log: Log;
}

/** As often as upstream collects images, which is when it does this. */
const PERIOD_MS = 5 * MINUTE;

/** Forgets the records of images that are gone from the machine, now and then, until the signal fires. */
export async function pruneRecords({ records, images, clock, log }: RecordPruningDeps, signal: AbortSignal) {
  for (;;) {
    await sleep(clock, PERIOD_MS, signal);
    try {
      const listedAt = clock.now();
      const { images: present } = await images.listImages(cri.ListImagesRequest.fromPartial({}), { signal });
      await records.prune(
        present.map(({ id }) => id),
        listedAt,
      );
    } catch (error) {
      signal.throwIfAborted();
      log.warn("Records of images that are gone could not be removed", { error: messageOf(error) });
    }
  }
}
