import { parseImageReference } from "../../../api/image-reference.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Cri } from "../../../cri/port.ts";
import type { Files } from "../../../host/port.ts";
import type { PullCredentials } from "./pull-credentials.ts";
import { ImagePullError, type PulledImage } from "./pull-image.ts";
import { accessOf, judgeAccess } from "./pull-record.ts";
import { createPullRecordStore, type KnownPulls } from "./pull-record-store.ts";
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

export function createPullRecords(
  deps: PullRecordsDeps,
  { rootDirectory, policy }: { readonly rootDirectory: string; readonly policy: VerificationPolicy },
): PullRecords {
  const { log } = deps;
  const store = createPullRecordStore(deps, rootDirectory);
  const checks = deps.metrics.counter(
    "kubelet_imagemanager_image_mustpull_checks_total",
    "Counter for how many times kubelet checked whether credentials need to be re-verified to access an image",
    ["result"],
  );

  const judge = async (
    known: KnownPulls,
    { image, imageRef }: PresentImageName,
    credentials: () => Promise<readonly PullCredentials[]>,
  ): Promise<Verdict> => {
    if (store.isUnreadable(known, { image, imageRef })) return "error";
    const record = known.pulled.get(imageRef);
    const isPulledByNode = record !== undefined || known.intents.has(image);
    if (!requiresVerification(policy, image, isPulledByNode)) return "credentialPolicyAllowed";
    const access = record?.access.get(parseImageReference(image)?.repository ?? image);
    if (access?.isNodeWide === true) return "credentialRecordFound";
    if (access === undefined || access.secrets.length + access.serviceAccounts.length === 0) return "mustAuthenticate";
    const { isAllowed, noted } = judgeAccess(access, await credentials());
    if (noted !== undefined) {
      await store.note(known, image, imageRef, noted).catch((error: unknown) => {
        log.error("failed to write an image pulled record", { image, imageRef, error: messageOf(error) });
      });
    }
    return isAllowed ? "credentialRecordFound" : "mustAuthenticate";
  };

  return {
    async mustPull(present, credentials, signal) {
      let verdict: Verdict = "error";
      try {
        verdict = await judge(await store.read(signal), present, credentials);
      } catch (error) {
        signal.throwIfAborted();
        log.error("Unable to check by whom an image was pulled", { ...present, error: messageOf(error) });
      }
      checks.add({ result: verdict });
      return verdict === "mustAuthenticate" || verdict === "error";
    },

    async recordPull(image, pull, signal) {
      const known = await store.read(signal);
      await store.beginPull(known, image);
      let pulled: PulledImage;
      try {
        pulled = await pull();
        store.pulledNow(known, pulled.imageRef);
      } catch (error) {
        await store.endPull(known, image, !(error instanceof ImagePullError) || error.isUncertain);
        throw error;
      }
      try {
        await store.note(known, image, pulled.imageRef, accessOf(pulled.used));
      } catch (error) {
        // The intent stays, so that the image does not look like one that was always there.
        log.error("failed to write image pulled record", { imageRef: pulled.imageRef, error: messageOf(error) });
        await store.endPull(known, image, true);
        return pulled;
      }
      await store.endPull(known, image, false);
      return pulled;
    },

    async prune(imageRefs, listedAt) {
      await store.prune(new Set(imageRefs), listedAt);
    },
  };
}
