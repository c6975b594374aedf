import type { Pod } from "../../../../api/gen/types.ts";
import { isMirrorPod, isStaticPod, podUid } from "../../../../api/pods.ts";
import { assertNever } from "../../../../base/assert.ts";
import type { PublishedStatus } from "../pod-statuses.ts";
import { computeApiStatus } from "./api-status.ts";
import { computeStatusPatch } from "./status-patch.ts";
import { isPartOf } from "./strategic-diff.ts";

/**
 * How far the API server has been told the status of one pod. `nextReport` is the whole table of transitions, and
 * `planStep` says what is to be asked of the API server next; neither asks anything itself.
 *
 *               published                 finished
 *     (none) ───────────────► current ─────────────────► final ◄─┐ published
 *        │                     │  ▲ ▲                     │ │ └──┘
 *        │           published └──┘ └─────────────────────┘ │
 *        │                      published: a static pod that │
 *        │ finished                came back under its UID   │ forgotten (also from `current`)
 *        └────────────────────────────────► final            ▼
 *                                                        forgotten
 *
 * The steps that each state asks for, in this order and one at a time:
 *
 *     current     patch … ──► rest             the API server says what the node says, or does not show the pod
 *     final       patch … ──► delete ──► over  a pod that nobody deletes rests after its patches until somebody does;
 *                                              a static pod's report is over then, because others delete its mirror
 *     forgotten   over
 */
export type ReportState = OpenReport | ForgottenReport;

type OpenReport = CurrentReport | FinalReport;

/** What the API server's answers have shown so far. */
interface Knowledge {
  /** The API server's pod as it answered last, while that is newer than the watch's copy. */
  readonly answer: { readonly pod: Pod; readonly atMs: number } | undefined;
  /** The API server does not have the pod of this UID any more. */
  readonly goneUid: string | undefined;
  /**
   * This version of the API server's pod says what was published; it comes by several times, in answers and by the
   * watch.
   */
  readonly told: { readonly published: PublishedStatus; readonly version: string } | undefined;
  /** A patch of what the API server took without doing it, as an old server does with a field that it does not know. */
  readonly ignored: string | undefined;
  /** A patch that the API server called invalid although it was made of what had just been read. */
  readonly invalid: string | undefined;
  readonly sends: Sends;
  /** When the oldest change that the API server has not been told came about. */
  readonly untoldSinceMs: number | undefined;
}

/** How often the published status was sent to one pod of the API server since it was published or stood for long. */
interface Sends {
  readonly uid: string;
  readonly count: number;
  readonly lastAtMs: number;
}

/** The node may say more of the pod. */
interface CurrentReport extends Knowledge {
  readonly phase: "current";
  readonly published: PublishedStatus;
}

/** Nothing of the pod is left on the node. */
interface FinalReport extends Knowledge {
  readonly phase: "final";
  /** The pod as it was when it was finished. */
  readonly pod: Pod;
  /** Undefined for a pod of which the node never said anything. */
  readonly published: PublishedStatus | undefined;
}

/** Nothing more is to be sent, whatever was said before. */
interface ForgottenReport extends Knowledge {
  readonly phase: "forgotten";
}

/** What begins a report. */
export type FirstReportEvent =
  | { readonly type: "published"; readonly published: PublishedStatus }
  | { readonly type: "finished"; readonly pod: Pod };

export type ReportEvent =
  | FirstReportEvent
  | { readonly type: "forgotten" }
  /** The API server took a patch, and this is its pod now. */
  | { readonly type: "patched"; readonly step: PatchStep; readonly answer: Pod }
  /** The API server's pod was read anew. */
  | { readonly type: "read"; readonly answer: Pod }
  /** A patch made of what was just read is not valid all the same. */
  | { readonly type: "invalid"; readonly step: PatchStep }
  /** The API server does not have that pod any more, or has another of its name. */
  | { readonly type: "gone"; readonly target: Pod }
  /** The API server has been told everything. */
  | { readonly type: "told" };

/** What is to be asked of the API server next. `isTold`: it shows the pod, and nothing is left to be said of it. */
export type ReportStep =
  | PatchStep
  | { readonly kind: "delete"; readonly target: Pod }
  | { readonly kind: "rest"; readonly isTold: boolean }
  | { readonly kind: "over" };

/** A strategic merge patch of the target. */
interface PatchStep {
  readonly kind: "patch";
  readonly target: Pod;
  readonly body: { readonly metadata: object; readonly status: object };
  /** The status in the body, by which two patches are compared. */
  readonly text: string;
}

/** Both readings of the clock. */
export interface Moment {
  /** Wall-clock time, for what the API server is told. */
  readonly nowMs: number;
  /** Monotonic time, for durations. */
  readonly atMs: number;
}

/**
 * After this long an answer of the API server no longer counts for more than the watch's copy. It bounds what happens
 * when the API server comes back from a backup with lower revisions.
 */
const ANSWER_TRUSTED_MS = 60_000;
/**
 * One status may be sent so often in a row: anew when it was overwritten, and once more to learn what a server drops.
 */
const FREE_SENDS = 3;
/** A status that stood for so long was not contested. */
const CONTEST_MS = 60_000;

const NOTHING_KNOWN: Knowledge = {
  answer: undefined,
  goneUid: undefined,
  told: undefined,
  ignored: undefined,
  invalid: undefined,
  sends: { uid: "", count: 0, lastAtMs: 0 },
  untoldSinceMs: undefined,
};

/** The state of a pod that was never reported. */
export function initialReport(event: FirstReportEvent, { atMs }: Moment): ReportState {
  if (event.type === "finished") return { ...NOTHING_KNOWN, phase: "final", pod: event.pod, published: undefined };
  return { ...NOTHING_KNOWN, phase: "current", published: event.published, untoldSinceMs: atMs };
}

/** What an event does to a report. */
export function nextReport(state: ReportState, event: ReportEvent, moment: Moment): ReportState {
  switch (event.type) {
    case "published":
      return state.phase === "forgotten" ? state : afterPublished(state, event.published, moment);
    case "finished":
      return state.phase === "forgotten" ? state : { ...state, phase: "final", pod: event.pod };
    case "forgotten":
      return { ...state, phase: "forgotten" };
    case "patched":
      return afterPatched(state, event.step, event.answer, moment);
    case "read":
      return { ...state, answer: { pod: event.answer, atMs: moment.atMs } };
    case "invalid":
      return { ...state, invalid: event.step.text };
    case "gone":
      return { ...state, goneUid: podUid(event.target), answer: undefined };
    case "told":
      return { ...state, untoldSinceMs: undefined };
    default:
      return assertNever(event, "event of a report");
  }
}

function afterPublished(state: OpenReport, published: PublishedStatus, { atMs }: Moment): OpenReport {
  const news = {
    published,
    untoldSinceMs: state.untoldSinceMs ?? atMs,
    sends: { ...state.sends, count: 0, lastAtMs: 0 },
  };
  if (state.phase === "final" && !isStaticPod(state.pod)) return { ...state, ...news };
  return { ...state, ...news, phase: "current" };
}

function afterPatched(state: ReportState, step: PatchStep, answer: Pod, moment: Moment): ReportState {
  const { atMs } = moment;
  const count = stoodMs(state, moment) > CONTEST_MS ? 1 : state.sends.count + 1;
  const sent = { ...state, answer: { pod: answer, atMs }, sends: { ...state.sends, count, lastAtMs: atMs } };
  if (sent.phase === "forgotten") return sent;
  // What the answer lacks of all that it was asked for, the server does not take: asking again changes nothing.
  const { state: next, patch: left } = planPatch(sent, answer, moment);
  return left !== undefined && isPartOf(left.body.status, step.body.status) ? { ...next, ignored: left.text } : next;
}

/** True where the published status was sent several times of late and somebody else changes it each time. */
export function isContested(state: ReportState, moment: Moment): boolean {
  return state.sends.count >= FREE_SENDS && stoodMs(state, moment) <= CONTEST_MS;
}

function stoodMs({ sends }: Knowledge, { atMs }: Moment): number {
  return atMs - sends.lastAtMs;
}

/**
 * What is to be asked next, and what was learned from the look at `copy`: the API server's pod that shows the node's,
 * as the watch brought it. It may be behind what the API server answered.
 */
export function planStep(
  before: ReportState,
  copy: Pod | undefined,
  moment: Moment,
): { state: ReportState; step: ReportStep } {
  if (before.phase === "forgotten") return { state: before, step: { kind: "over" } };
  const { state: seen, target } = findTarget(before, copy, moment);
  if (target === undefined) {
    return { state: seen, step: seen.phase === "final" ? { kind: "over" } : { kind: "rest", isTold: false } };
  }
  const { state, patch } = planPatch(seen, target, moment);
  const mayGo = isToBeDeleted(state, target);
  // A pod whose status cannot be told has to go all the same.
  if (patch !== undefined && !(mayGo && patch.text === state.invalid)) return { state, step: patch };
  if (mayGo) return { state, step: { kind: "delete", target } };
  // A finished static pod has nothing more to say; its mirror goes with it.
  if (state.phase === "final" && isStaticPod(state.pod)) return { state, step: { kind: "over" } };
  return { state, step: { kind: "rest", isTold: true } };
}

/**
 * The newest version that is known of the API server's pod; undefined where the API server does not show the node's
 * pod.
 */
function findTarget(
  before: OpenReport,
  copy: Pod | undefined,
  { atMs }: Moment,
): { state: OpenReport; target: Pod | undefined } {
  const own = before.published?.pod ?? ownPodOf(before);
  if (own === undefined || copy === undefined || !isShownBy(own, copy) || podUid(copy) === before.goneUid) {
    return { state: before, target: undefined };
  }
  const uid = podUid(copy);
  // A new mirror has not been told yet, however often the one before it was.
  const state = before.sends.uid === uid ? before : { ...before, sends: { uid, count: 0, lastAtMs: 0 } };
  const { answer } = state;
  if (answer === undefined) return { state, target: copy };
  if (podUid(answer.pod) !== uid) return { state: { ...state, answer: undefined, ignored: undefined }, target: copy };
  const isOld = atMs - answer.atMs > ANSWER_TRUSTED_MS;
  if (isOld || !isNewer(answer.pod, copy)) return { state: { ...state, answer: undefined }, target: copy };
  return { state, target: answer.pod };
}

function ownPodOf(state: OpenReport): Pod | undefined {
  return state.phase === "final" ? state.pod : undefined;
}

function planPatch(
  state: OpenReport,
  target: Pod,
  { nowMs }: Moment,
): { state: OpenReport; patch: PatchStep | undefined } {
  const { published } = state;
  const { uid, resourceVersion = "" } = target.metadata ?? {};
  const version = `${uid} ${resourceVersion}`;
  const isCompared = state.told?.published === published && resourceVersion !== "" && state.told?.version === version;
  if (published === undefined || isCompared) return { state, patch: undefined };
  const status = computeStatusPatch(target.status ?? {}, computeApiStatus(published, target, nowMs));
  if (status === undefined) return { state: { ...state, told: { published, version } }, patch: undefined };
  const text = JSON.stringify(status);
  if (text === state.ignored) return { state, patch: undefined };
  // A phase and why it is so must not be overwritten unseen, as it may be final by now. For the rest the last writer
  // may win: what it should not have changed is put right when the answer or the watch shows it.
  const isVerdict = ["phase", "reason", "message"].some((field) => Object.hasOwn(status, field));
  const metadata = isVerdict ? { uid, resourceVersion: target.metadata?.resourceVersion } : { uid };
  return { state, patch: { kind: "patch", target, body: { metadata, status }, text } };
}

function isToBeDeleted(state: OpenReport, target: Pod): boolean {
  if (state.phase !== "final" || isStaticPod(state.pod)) return false;
  return [state.pod, target].some(({ metadata }) => metadata?.deletionTimestamp !== undefined);
}

/** True where the API server's pod shows the node's: a pod shows itself, and a static pod is shown by a mirror. */
function isShownBy(pod: Pod, apiPod: Pod): boolean {
  return isStaticPod(pod) ? isMirrorPod(apiPod) : podUid(apiPod) === podUid(pod);
}

/** Compares resource versions, which are decimal numbers of any length (KEP-5504). */
function isNewer(pod: Pod, than: Pod): boolean {
  const [left, right] = [pod, than].map(({ metadata }) => metadata?.resourceVersion ?? "");
  if (left === undefined || right === undefined || !/^\d+$/.test(left) || !/^\d+$/.test(right)) return false;
  return left.length === right.length ? left > right : left.length > right.length;
}
