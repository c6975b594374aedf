import { sleep } from "../../../base/abort.ts";
import { type Clock, MINUTE, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Log } from "../../../base/log.ts";
import { createMailbox } from "../../../base/mailbox.ts";
import { endsInTime } from "../../../base/time-limit.ts";
import { inSpan, type Tracing } from "../../../base/tracing.ts";
import { formatDuration } from "../../../config/duration.ts";
import {
  computeExcess,
  formatSize,
  type ImageDiskUsage,
  type ImageGarbagePolicy,
  type ImageRecord,
  type ListedImage,
  unusedSince,
} from "./garbage-plan.ts";
import type { ImageClaims } from "./image-claims.ts";
import { ImageCollectionError } from "./image-disk.ts";
import type { Look, UnusedImages } from "./unused-images.ts";

/** Removes images that nobody uses. */
export interface ImageCollection {
  /**
   * Removes unused images until so many bytes have been freed, or none may be removed any more; resolves with the freed
   * bytes. Without a number, all unused images are removed. Rejects where images could not be listed or removed.
   */
  freeImages(signal: AbortSignal, bytes?: bigint): Promise<bigint>;
  /** Keeps to the policy until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
}

interface ImageCollectionDeps {
  readonly unused: UnusedImages;
  readonly claims: Pick<ImageClaims, "keptUntil" | "onPullEnd">;
  /** Reads the usage of the disk on which the runtime keeps images. */
  readDiskUsage(signal: AbortSignal): Promise<ImageDiskUsage>;
  /** Records an event of the node. */
  recordNodeEvent(event: { type: "Warning"; reason: string; message: string }): void;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes a trace of each round. */
  readonly tracing?: Tracing | undefined;
}

/** The longest wait between two rounds; upstream's period. A round comes earlier where a time is known, or after a pull. */
const PERIOD_MS = 5 * MINUTE;
const LEAST_WAIT_MS = SECOND;
/** The wait after a pull, so that pulls in quick succession lead to one round. */
const AFTER_PULL_MS = 10 * SECOND;

/** Follows pkg/kubelet/images/image_gc_manager.go. */
export function createImageCollection(deps: ImageCollectionDeps, policy: ImageGarbagePolicy): ImageCollection {
  const { clock, log, claims, unused } = deps;
  /** Only one round, with its look and its removals, runs at a time. */
  const one = createLimiter(1);
  const isEnabled = policy.highThresholdPercent < 100 || policy.maxAgeMs > 0;

  const removeOld = async (seen: Look, signal: AbortSignal): Promise<readonly ListedImage[]> => {
    const { maxAgeMs } = policy;
    if (maxAgeMs === 0) return seen.unused;
    const mayGo = (record: ImageRecord) => seen.at - unusedSince(record) > maxAgeMs;
    const { left, errors } = await unused.remove(seen, { reason: "age", mayGo }, signal);
    if (errors.length === 0) return left;
    const wanted = `wanted to free images older than ${formatDuration(maxAgeMs)}`;
    const message = `${wanted}, encountered errors in image deletion: ${joinErrors(errors)}`;
    throw new ImageCollectionError("removal-failed", message);
  };

  const removeForSpace = async (
    seen: Pick<Look, "at" | "unused" | "readKept">,
    signal: AbortSignal,
    bytes?: bigint,
  ) => {
    const mayGo = ({ firstDetectedAt }: ImageRecord) => seen.at - firstDetectedAt >= policy.minAgeMs;
    const rule = { reason: "space", mayGo, ...(bytes !== undefined && { enough: bytes }) } as const;
    const { left, freed, errors } = await unused.remove(seen, rule, signal);
    if (errors.length === 0) return { left, freed };
    const wanted = `wanted to free ${bytes ?? "all"} bytes, but freed ${freed} bytes space`;
    const message = `${wanted} with errors in image deletion: ${joinErrors(errors)}`;
    throw new ImageCollectionError("removal-failed", message);
  };

  /** Frees space where the disk is too full. Resolves with the problem where that does not suffice. */
  const heedDisk = async (
    seen: Look,
    left: readonly ListedImage[],
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const usage = await deps.readDiskUsage(signal);
    if (usage.capacity === 0n) {
      const message = "invalid capacity 0 on image filesystem";
      deps.recordNodeEvent({ type: "Warning", reason: "InvalidDiskCapacity", message });
      throw new ImageCollectionError("invalid-capacity", message);
    }
    const excess = computeExcess(usage, policy);
    if (excess === undefined) return undefined;
    const { usedPercent, bytesToFree } = excess;
    const { highThresholdPercent: highThreshold, lowThresholdPercent: lowThreshold } = policy;
    const what =
      "Disk usage on image filesystem is over the high threshold, trying to free bytes down to the low threshold";
    log.info(what, { usage: usedPercent, highThreshold, amountToFree: Number(bytesToFree), lowThreshold });
    const done = await removeForSpace({ ...seen, unused: left }, signal, bytesToFree);
    if (done.freed >= bytesToFree) return undefined;
    // An image that is too young yet may be removed soon, so that there is no problem to tell before.
    const isYoung = ({ id }: ListedImage) => seen.at - (unused.recordOf(id)?.firstDetectedAt ?? 0) < policy.minAgeMs;
    if (done.left.some(isYoung)) return undefined;
    const message =
      `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ` +
      `${formatSize(usage.capacity)} used). Failed to free sufficient space by deleting unused images ` +
      `(freed ${done.freed} bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.`;
    deps.recordNodeEvent({ type: "Warning", reason: "FreeDiskSpaceFailed", message });
    return message;
  };

  /** Milliseconds until an image that may not be removed now may have to be. */
  const computeWait = ({ at, images, unused: idle }: Look, isFull: boolean): number => {
    const claimed = isFull ? idle.map(({ id }) => claims.keptUntil(id)).filter((until) => until > at) : [];
    const ages = images
      .filter(({ isPinned }) => !isPinned)
      .flatMap(({ id }) => {
        const record = unused.recordOf(id);
        if (record === undefined) return [];
        const oldAt = policy.maxAgeMs > 0 ? unusedSince(record) + policy.maxAgeMs + 1 : Number.POSITIVE_INFINITY;
        const ripeAt = record.firstDetectedAt + policy.minAgeMs;
        return [Math.max(Math.min(oldAt, ripeAt > at ? ripeAt : Number.POSITIVE_INFINITY), claims.keptUntil(id))];
      });
    const times = [...claimed, ...ages].map((time) => time - clock.monotonic());
    return Math.max(LEAST_WAIT_MS, Math.min(PERIOD_MS, ...times));
  };

  let failures = 0;
  const fail = (message: string): void => {
    failures++;
    if (failures === 1) {
      const what = "Image garbage collection failed once. Stats initialization may not have completed yet";
      log.warn(what, { error: message });
      return;
    }
    log.error("Image garbage collection failed multiple times in a row", { error: message });
    deps.recordNodeEvent({ type: "Warning", reason: "ImageGCFailed", message });
  };

  const round = async (signal: AbortSignal): Promise<number> => {
    try {
      const seen = await unused.look(signal);
      if (!isEnabled) return PERIOD_MS;
      const problem = await heedDisk(seen, await removeOld(seen, signal), signal);
      if (problem === undefined) failures = 0;
      else fail(problem);
      return computeWait(seen, problem !== undefined);
    } catch (error) {
      signal.throwIfAborted();
      if (isEnabled) fail(messageOf(error));
      else log.warn("Failed to monitor images", { error: messageOf(error) });
      return PERIOD_MS;
    }
  };

  const tracedRound = async (signal: AbortSignal): Promise<number> => {
    if (deps.tracing === undefined) return await round(signal);
    const start = { name: "Images/GarbageCollect", isRoot: true };
    return await inSpan(deps.tracing, start, async () => await round(signal));
  };

  const bell = createMailbox<"pulled">(1);
  /** Waits until the time is over, or until pulls have ended. */
  const rest = async (waitMs: number, signal: AbortSignal): Promise<void> => {
    await endsInTime(clock, { timeoutMs: waitMs, signal }, async (inner) => {
      await bell.take(inner);
      await sleep(clock, AFTER_PULL_MS, inner);
    });
  };

  return {
    freeImages: async (signal, bytes) =>
      await one.run(async () => (await removeForSpace(await unused.look(signal), signal, bytes)).freed, signal),
    async run(signal) {
      const stop = isEnabled ? claims.onPullEnd(() => bell.offer("pulled")) : () => undefined;
      try {
        for (;;) await rest(await one.run(async () => await tracedRound(signal), signal), signal);
      } finally {
        stop();
      }
    },
  };
}

/** Joins messages in the form of upstream's aggregates. */
function joinErrors(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}
