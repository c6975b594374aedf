import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import { isMirrorPod, isStaticPod, podUid } from "../../../api/pods.ts";
import { computeApiStatus } from "./api-status.ts";
import { computeStatusPatch } from "./status-patch.ts";
import { isPartOf } from "./strategic-diff.ts";

/** What the node says of a pod, and of which version of it. */
export interface PublishedStatus {
  readonly pod: Pod;
  readonly status: PodStatus;
  /** Something of the pod may run still. Default false. */
  readonly mayRun?: boolean;
}

/**
 * What is to be asked of the API next for one pod:
 *
 * ```
 *   patch ──► patch … ──► rest            the API says what the node says, or does not show the pod (yet)
 *                    └──► delete ──► over  nothing of the pod is left on the node, and now not in the API either
 * ```
 */
export type DeliveryStep =
  | { readonly kind: "patch"; readonly target: Pod; readonly body: PatchBody; readonly text: string }
  | { readonly kind: "delete"; readonly target: Pod }
  | { readonly kind: "rest"; readonly isTold: boolean }
  | { readonly kind: "over" };

/** A strategic merge patch of a pod. */
interface PatchBody {
  readonly metadata: object;
  readonly status: object;
}

type PatchStep = Extract<DeliveryStep, { kind: "patch" }>;

/** How far the status of one pod has come on its way to the API. Asks nobody; told of what came of its steps. */
export interface StatusDelivery {
  publish(published: PublishedStatus): void;
  /** Nothing of the pod is left on the node. */
  finish(pod: Pod): void;
  next(): DeliveryStep;
  /** The API took a patch, and this is its pod now. */
  acknowledge(step: PatchStep, answer: Pod): void;
  /** The API's pod was read anew. */
  reread(answer: Pod): void;
  /** A patch made of what was just read is not valid all the same. */
  refuse(step: PatchStep): void;
  /** The API does not have that pod any more, or another of its name. */
  vanish(target: Pod): void;
  /** Nothing more is to be done. */
  drop(): void;
  /** What the node published was sent several times of late and somebody else changes it each time. */
  readonly isContested: boolean;
  /** How long ago the oldest change came about that was not told by then; undefined where there was none. Asked once. */
  takeLatencyMs(): number | undefined;
}

interface DeliveryDeps {
  readonly clock: { now(): number; monotonic(): number };
  /** The API's pod that shows the node's, as the watch brought it; it may be behind what the API answered us. */
  apiPod(): Pod | undefined;
}

/**
 * After this long an answer of the API no longer counts for more than the watch's copy. It bounds what happens when the
 * API comes back from a backup with lower revisions.
 */
const ANSWER_TRUSTED_MS = 60_000;

/** One status may be sent so often in a row: anew when it was overwritten, and once more to learn what a server drops. */
const FREE_SENDS = 3;
/** A status that stood for so long was not contested. */
const CONTEST_MS = 60_000;

export function createStatusDelivery({ clock, apiPod }: DeliveryDeps): StatusDelivery {
  let published: PublishedStatus | undefined;
  let finished: Pod | undefined;
  let since: number | undefined;
  let answered: { pod: Pod; at: number } | undefined;
  let goneUid: string | undefined;
  /** What the API took without doing it, as an old server does with a field that it does not know: a patch of that alone. */
  let idle: string | undefined;
  let refused: string | undefined;
  /** This version of the API's pod says what was published: it comes by several times, as our answer and by the watch. */
  let same: { published: PublishedStatus; version: string } | undefined;
  let isDropped = false;
  /** How often the published status was sent to that pod of the API, since it was published or stood for long. */
  let sends = { uid: "", count: 0, lastAt: 0 };
  const stoodMs = () => clock.monotonic() - sends.lastAt;

  const newestApiPod = (): Pod | undefined => {
    const copy = apiPod();
    const own = published?.pod ?? finished;
    if (own === undefined || copy === undefined || !isShownBy(own, copy) || podUid(copy) === goneUid) return undefined;
    // A new mirror has not been told yet, however often the one before it was.
    if (sends.uid !== podUid(copy)) sends = { uid: podUid(copy), count: 0, lastAt: 0 };
    if (answered === undefined) return copy;
    const isOtherPod = podUid(answered.pod) !== podUid(copy);
    if (isOtherPod) idle = undefined;
    const isOld = clock.monotonic() - answered.at > ANSWER_TRUSTED_MS;
    if (isOtherPod || isOld || !isNewer(answered.pod, copy)) answered = undefined;
    return answered?.pod ?? copy;
  };

  const isCompared = (target: Pod): boolean => {
    const { uid, resourceVersion = "" } = target.metadata ?? {};
    return same?.published === published && resourceVersion !== "" && same?.version === `${uid} ${resourceVersion}`;
  };

  const nextPatch = (target: Pod): PatchStep | undefined => {
    if (published === undefined || isCompared(target)) return undefined;
    const wanted = computeApiStatus(published, target, clock.now());
    const patch = computeStatusPatch(target.status ?? {}, wanted);
    if (patch === undefined) {
      same = { published, version: `${target.metadata?.uid} ${target.metadata?.resourceVersion}` };
      return undefined;
    }
    const text = JSON.stringify(patch);
    if (text === idle) return undefined;
    const { uid, resourceVersion } = target.metadata ?? {};
    // A phase and why it is so must not be overwritten unseen, as it may be final by now. For the rest the last writer
    // may win: what it should not have changed is put right when the answer or the watch shows it.
    const isVerdict = ["phase", "reason", "message"].some((field) => Object.hasOwn(patch, field));
    const metadata = isVerdict ? { uid, resourceVersion } : { uid };
    return { kind: "patch", target, body: { metadata, status: patch }, text };
  };

  const isToBeDeleted = (target: Pod): boolean => {
    if (finished === undefined || isStaticPod(finished)) return false;
    return [finished, target].some(({ metadata }) => metadata?.deletionTimestamp !== undefined);
  };

  return {
    publish(next) {
      published = next;
      // A static pod may come back under its UID.
      if (finished !== undefined && isStaticPod(finished)) finished = undefined;
      since ??= clock.monotonic();
      sends = { ...sends, count: 0, lastAt: 0 };
    },
    finish(pod) {
      finished = pod;
    },
    next() {
      const target = newestApiPod();
      if (isDropped || (target === undefined && finished !== undefined)) return { kind: "over" };
      if (target === undefined) return { kind: "rest", isTold: false };
      const patch = nextPatch(target);
      const mayGo = isToBeDeleted(target);
      // A pod whose status cannot be told has to go all the same.
      if (patch !== undefined && !(mayGo && patch.text === refused)) return patch;
      if (mayGo) return { kind: "delete", target };
      // A finished static pod has nothing more to say; its mirror goes with it.
      return finished && isStaticPod(finished) ? { kind: "over" } : { kind: "rest", isTold: true };
    },
    acknowledge(step, answer) {
      answered = { pod: answer, at: clock.monotonic() };
      sends = { ...sends, count: stoodMs() > CONTEST_MS ? 1 : sends.count + 1, lastAt: clock.monotonic() };
      // What the answer lacks of all that it was asked for, the server does not take: asking again changes nothing.
      const left = nextPatch(answer);
      if (left !== undefined && isPartOf(left.body.status, step.body.status)) idle = left.text;
    },
    reread(answer) {
      answered = { pod: answer, at: clock.monotonic() };
    },
    refuse(step) {
      refused = step.text;
    },
    vanish(target) {
      goneUid = podUid(target);
      answered = undefined;
    },
    drop() {
      isDropped = true;
    },
    get isContested() {
      return sends.count >= FREE_SENDS && stoodMs() <= CONTEST_MS;
    },
    takeLatencyMs() {
      const latency = since === undefined ? undefined : clock.monotonic() - since;
      since = undefined;
      return latency;
    },
  };
}

/** Never the status of one pod to another: an API pod shows itself, a static one is shown by a mirror. */
function isShownBy(pod: Pod, apiPod: Pod): boolean {
  return isStaticPod(pod) ? isMirrorPod(apiPod) : podUid(apiPod) === podUid(pod);
}

/** By their resource versions, which are decimal numbers of any length (KEP-5504). */
function isNewer(pod: Pod, than: Pod): boolean {
  const [left, right] = [pod, than].map(({ metadata }) => metadata?.resourceVersion ?? "");
  if (left === undefined || right === undefined || !/^\d+$/.test(left) || !/^\d+$/.test(right)) return false;
  return left.length === right.length ? left > right : left.length > right.length;
}
