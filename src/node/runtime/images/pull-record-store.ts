import { parseImageReference } from "../../../api/image-reference.ts";
import { untilAborted } from "../../../base/abort.ts";
import { type Clock, parseTime, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { createKeyedLock } from "../../../base/keyed-lock.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import type { Files } from "../../../host/port.ts";
import { type ImageAccess, mergeAccess, type PulledRecord } from "./pull-record.ts";
import { createIntentFiles, createPulledFiles } from "./pull-record-files.ts";

interface PullRecordStoreDeps {
  readonly files: Files;
  readonly images: Pick<Cri["images"], "imageStatus">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The records in memory, once the files have been read. */
export interface KnownPulls {
  /** Images that are being pulled, or were when the machine or the node agent died, with the number of current pulls. */
  readonly intents: Map<string, number>;
  readonly pulled: Map<string, PulledRecord>;
  /** When this node agent last pulled each image, in milliseconds since the epoch. A record tells only its last change. */
  readonly pulledAt: Map<string, number>;
  /** Names of files that cannot be read. What they might allow is not allowed. */
  readonly unreadable: Set<string>;
}

/** The records of pulled images and of pulls under way: in memory, and in files that say the same. */
export function createPullRecordStore(deps: PullRecordStoreDeps, rootDirectory: string) {
  const { clock, log } = deps;
  const intentFiles = createIntentFiles(deps.files, rootDirectory);
  const pulledFiles = createPulledFiles(deps.files, rootDirectory);
  const show = declareGauges(deps.metrics);
  const lock = createKeyedLock();
  let loading: Promise<KnownPulls> | undefined;

  const note = async (known: KnownPulls, image: string, imageRef: string, access?: ImageAccess): Promise<void> => {
    const repository = parseImageReference(image)?.repository;
    if (repository === undefined) throw new Error(`invalid image name ${JSON.stringify(image)}`);
    await lock.run(imageRef, async () => {
      const before = known.pulled.get(imageRef);
      const record = mergeAccess(before, { imageRef, repository, now: clock.now(), ...(access && { access }) });
      if (record === before) return;
      await pulledFiles.write(record);
      known.pulled.set(imageRef, record);
      known.unreadable.delete(pulledFiles.fileName(imageRef));
      show(known);
    });
  };

  const load = async (): Promise<KnownPulls> => {
    const [intents, pulled] = [await intentFiles.load(), await pulledFiles.load()];
    const known: KnownPulls = {
      intents: new Map(intents.records.map((image) => [image, 0])),
      pulled: new Map(pulled.records.map((record) => [record.imageRef, record])),
      pulledAt: new Map(),
      unreadable: new Set([...intents.unreadable, ...pulled.unreadable]),
    };
    for (const name of known.unreadable) log.error("A record of a pulled image cannot be read", { file: name });
    for (const record of pulled.outdated) await pulledFiles.write(record);
    // An image that was being pulled when the last node agent ended, and is there now, gets a record that allows nobody.
    for (const image of intents.records) {
      const request = cri.ImageStatusRequest.fromPartial({ image: { image } });
      const { image: found } = await deps.images.imageStatus(request);
      if (found === undefined) continue;
      await note(known, image, found.id);
      await intentFiles.remove(image);
      known.intents.delete(image);
    }
    show(known);
    return known;
  };

  return {
    /** Reads the files when the first image is asked for, and again after a failure. */
    async read(signal: AbortSignal): Promise<KnownPulls> {
      loading ??= load().catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      return await untilAborted(loading, signal);
    },

    /** Notes that the image was pulled, and who may use it; without `access` nobody more may than before. */
    note,

    /** Whether one of the files that might be about the image cannot be read. */
    isUnreadable({ unreadable }: KnownPulls, { image, imageRef }: { image: string; imageRef: string }): boolean {
      return unreadable.has(pulledFiles.fileName(imageRef)) || unreadable.has(intentFiles.fileName(image));
    },

    async beginPull(known: KnownPulls, image: string): Promise<void> {
      await lock.run(image, async () => {
        if (!known.intents.has(image)) await intentFiles.write(image);
        known.intents.set(image, (known.intents.get(image) ?? 0) + 1);
        known.unreadable.delete(intentFiles.fileName(image));
        show(known);
      });
    },

    pulledNow(known: KnownPulls, imageRef: string): void {
      known.pulledAt.set(imageRef, clock.now());
    },

    /** The intent stays where it is uncertain whether the runtime has the image now. */
    async endPull(known: KnownPulls, image: string, isUncertain: boolean): Promise<void> {
      await lock.run(image, async () => {
        const pulls = (known.intents.get(image) ?? 1) - 1;
        known.intents.set(image, pulls);
        if (pulls > 0 || isUncertain) return;
        try {
          await intentFiles.remove(image);
          known.intents.delete(image);
          show(known);
        } catch (error) {
          log.error("failed to remove image pull intent", { image, error: messageOf(error) });
        }
      });
    },

    /** Forgets images that are not present and were not noted after `listedAt`; nothing where no record was read yet. */
    async prune(present: ReadonlySet<string>, listedAt: number): Promise<void> {
      const known = await loading?.catch(() => undefined);
      if (known === undefined) return;
      for (const imageRef of [...known.pulled.keys()].filter((ref) => !present.has(ref))) {
        await lock.run(imageRef, async () => {
          if (lastNotedAt(known, imageRef) > listedAt) return;
          await pulledFiles.remove(imageRef);
          known.pulled.delete(imageRef);
          known.pulledAt.delete(imageRef);
        });
      }
      show(known);
    },
  };
}

/** When the image was last noted. Records have whole seconds, so the end of that second counts. */
function lastNotedAt({ pulled, pulledAt }: KnownPulls, imageRef: string): number {
  const notedAt = (parseTime(pulled.get(imageRef)?.lastUpdatedTime) ?? 0) + SECOND;
  return Math.max(notedAt, pulledAt.get(imageRef) ?? 0);
}

function declareGauges(metrics: Metrics): (known: KnownPulls) => void {
  const intents = metrics.gauge(
    "kubelet_imagemanager_ondisk_pullintents",
    "Number of ImagePullIntents stored on disk.",
  );
  const pulled = metrics.gauge(
    "kubelet_imagemanager_ondisk_pulledrecords",
    "Number of ImagePulledRecords stored on disk.",
  );
  return (known) => {
    intents.set(known.intents.size);
    pulled.set(known.pulled.size);
  };
}
