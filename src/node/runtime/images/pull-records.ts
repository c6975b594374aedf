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
import type { PullCredentials } from "./pull-credentials.ts";
import { ImagePullError, type PulledImage } from "./pull-image.ts";
import { accessOf, type ImageAccess, judgeAccess, mergeAccess, type PulledRecord } from "./pull-record.ts";
import { createIntentFiles, createPulledFiles } from "./pull-record-files.ts";
import { requiresVerification, type VerificationPolicy } from "./verification-policy.ts";

/**
 * Records who may use the images on the machine. A pod that lacks the secret with which an image was pulled has to pull
 * it too, so that the registry decides. The records are kept on disk in the format of a Go kubelet
 * (pkg/kubelet/images/pullmanager), so that either kubelet finds the other's records.
 */
export interface PullRecords {
  /**
   * Whether a pod has to pull the image although it is there. `credentials` is called only where it decides. In doubt,
   * or where the credentials cannot be read, the answer is yes.
   */
  mustPull(
    image: PresentImageName,
    credentials: () => Promise<readonly PullCredentials[]>,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Pulls, with a note on disk before and after, so that no crash makes a secret image look like an open one. */
  recordPull(image: string, pull: () => Promise<PulledImage>, signal: AbortSignal): Promise<PulledImage>;
  /** Forgets images that were not on the machine at `listedAt`, milliseconds since the epoch. */
  prune(imageRefs: readonly string[], listedAt: number): Promise<void>;
}

interface PresentImageName {
  /** As the pod writes it. */
  readonly image: string;
  /** The image's id in the runtime. */
  readonly imageRef: string;
}

interface PullRecordsDeps {
  readonly files: Files;
  readonly images: Pick<Cri["images"], "imageStatus">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

type Verdict = "credentialPolicyAllowed" | "credentialRecordFound" | "mustAuthenticate" | "error";

/** The records in memory, once the files have been read. */
interface Known {
  /** Images that are being pulled, or were when the machine or the node agent died, with the number of current pulls. */
  readonly intents: Map<string, number>;
  readonly pulled: Map<string, PulledRecord>;
  /** When this node agent last pulled each image, in milliseconds since the epoch. A record tells only its last change. */
  readonly pulledAt: Map<string, number>;
  /** Names of files that cannot be read. What they might allow is not allowed. */
  readonly unreadable: Set<string>;
}

export function createPullRecords(
  deps: PullRecordsDeps,
  { rootDirectory, policy }: { readonly rootDirectory: string; readonly policy: VerificationPolicy },
): PullRecords {
  const { clock, log } = deps;
  const intentFiles = createIntentFiles(deps.files, rootDirectory);
  const pulledFiles = createPulledFiles(deps.files, rootDirectory);
  const metrics = declareMetrics(deps.metrics);
  const lock = createKeyedLock();
  let loading: Promise<Known> | undefined;

  const write = async (known: Known, image: string, imageRef: string, access?: ImageAccess): Promise<void> => {
    const repository = parseImageReference(image)?.repository;
    if (repository === undefined) throw new Error(`invalid image name ${JSON.stringify(image)}`);
    await lock.run(imageRef, async () => {
      const before = known.pulled.get(imageRef);
      const record = mergeAccess(before, { imageRef, repository, now: clock.now(), ...(access && { access }) });
      if (record === before) return;
      await pulledFiles.write(record);
      known.pulled.set(imageRef, record);
      known.unreadable.delete(pulledFiles.fileName(imageRef));
      metrics.show(known);
    });
  };

  const endIntent = async (known: Known, image: string, isUncertain: boolean): Promise<void> => {
    await lock.run(image, async () => {
      const pulls = (known.intents.get(image) ?? 1) - 1;
      known.intents.set(image, pulls);
      if (pulls > 0 || isUncertain) return;
      try {
        await intentFiles.remove(image);
        known.intents.delete(image);
        metrics.show(known);
      } catch (error) {
        log.error("failed to remove image pull intent", { image, error: messageOf(error) });
      }
    });
  };

  const load = async (): Promise<Known> => {
    const [intents, pulled] = [await intentFiles.load(), await pulledFiles.load()];
    const known: Known = {
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
      await write(known, image, found.id);
      await intentFiles.remove(image);
      known.intents.delete(image);
    }
    metrics.show(known);
    return known;
  };

  /** Reads the files when the first image is asked for, and again after a failure. */
  const read = async (signal: AbortSignal): Promise<Known> => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return await untilAborted(loading, signal);
  };

  const judge = async (
    known: Known,
    { image, imageRef }: PresentImageName,
    credentials: () => Promise<readonly PullCredentials[]>,
  ): Promise<Verdict> => {
    if (hasUnreadable(known, [pulledFiles.fileName(imageRef), intentFiles.fileName(image)])) return "error";
    const record = known.pulled.get(imageRef);
    const isPulledByNode = record !== undefined || known.intents.has(image);
    if (!requiresVerification(policy, image, isPulledByNode)) return "credentialPolicyAllowed";
    const access = record?.access.get(parseImageReference(image)?.repository ?? image);
    if (access?.isNodeWide === true) return "credentialRecordFound";
    if (access === undefined || access.secrets.length + access.serviceAccounts.length === 0) return "mustAuthenticate";
    const { isAllowed, noted } = judgeAccess(access, await credentials());
    if (noted !== undefined) {
      await write(known, image, imageRef, noted).catch((error: unknown) => {
        log.error("failed to write an image pulled record", { image, imageRef, error: messageOf(error) });
      });
    }
    return isAllowed ? "credentialRecordFound" : "mustAuthenticate";
  };

  return {
    async mustPull(present, credentials, signal) {
      let verdict: Verdict = "error";
      try {
        verdict = await judge(await read(signal), present, credentials);
      } catch (error) {
        signal.throwIfAborted();
        log.error("Unable to check by whom an image was pulled", { ...present, error: messageOf(error) });
      }
      metrics.judged(verdict);
      return verdict === "mustAuthenticate" || verdict === "error";
    },

    async recordPull(image, pull, signal) {
      const known = await read(signal);
      await lock.run(image, async () => {
        if (!known.intents.has(image)) await intentFiles.write(image);
        known.intents.set(image, (known.intents.get(image) ?? 0) + 1);
        known.unreadable.delete(intentFiles.fileName(image));
        metrics.show(known);
      });
      let pulled: PulledImage;
      try {
        pulled = await pull();
        known.pulledAt.set(pulled.imageRef, clock.now());
      } catch (error) {
        await endIntent(known, image, !(error instanceof ImagePullError) || error.isUncertain);
        throw error;
      }
      try {
        await write(known, image, pulled.imageRef, accessOf(pulled.used));
      } catch (error) {
        // The intent stays, so that the image does not look like one that was always there.
        log.error("failed to write image pulled record", { imageRef: pulled.imageRef, error: messageOf(error) });
        await endIntent(known, image, true);
        return pulled;
      }
      await endIntent(known, image, false);
      return pulled;
    },

    async prune(imageRefs, listedAt) {
      const known = await loading?.catch(() => undefined);
      if (known === undefined) return;
      const present = new Set(imageRefs);
      for (const imageRef of [...known.pulled.keys()].filter((ref) => !present.has(ref))) {
        await lock.run(imageRef, async () => {
          if (lastNotedAt(known, imageRef) > listedAt) return;
          await pulledFiles.remove(imageRef);
          known.pulled.delete(imageRef);
          known.pulledAt.delete(imageRef);
        });
      }
      metrics.show(known);
    },
  };
}

/** When the image was last noted. Records have whole seconds, so the end of that second counts. */
function lastNotedAt({ pulled, pulledAt }: Known, imageRef: string): number {
  const notedAt = (parseTime(pulled.get(imageRef)?.lastUpdatedTime) ?? 0) + SECOND;
  return Math.max(notedAt, pulledAt.get(imageRef) ?? 0);
}

/** Whether one of these files, which might be about the image, cannot be read. */
function hasUnreadable({ unreadable }: Known, fileNames: readonly string[]): boolean {
  return fileNames.some((name) => unreadable.has(name));
}

function declareMetrics(metrics: Metrics) {
  const intents = metrics.gauge(
    "kubelet_imagemanager_ondisk_pullintents",
    "Number of ImagePullIntents stored on disk.",
  );
  const pulled = metrics.gauge(
    "kubelet_imagemanager_ondisk_pulledrecords",
    "Number of ImagePulledRecords stored on disk.",
  );
  const checks = metrics.counter(
    "kubelet_imagemanager_image_mustpull_checks_total",
    "Counter for how many times kubelet checked whether credentials need to be re-verified to access an image",
    ["result"],
  );
  return {
    show(known: Known) {
      intents.set(known.intents.size);
      pulled.set(known.pulled.size);
    },
    judged: (result: Verdict) => checks.add({ result }),
  };
}
