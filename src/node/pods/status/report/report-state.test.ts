import { describe, expect, it } from "vitest";
import type { Pod, PodStatus } from "../../../../api/gen/types.ts";
import { apiPod, mirrorPod, staticPod } from "./__fixtures__/reporter-rig.ts";
import {
  initialReport,
  isContested,
  type Moment,
  nextReport,
  planStep,
  type ReportEvent,
  type ReportState,
  type ReportStep,
} from "./report-state.ts";

const at = (atMs: number): Moment => ({ nowMs: 1_767_225_600_000 + atMs, atMs });
const START = at(1_000);
const STARTED: PodStatus = { startTime: "2026-01-01T00:00:00Z" };

function published(message: string, pod = apiPod("a")): ReportEvent & { type: "published" } {
  return { type: "published", published: { pod, status: { ...STARTED, phase: "Running", message } } };
}

/** The API server's pod in its `version`. */
function shown(status: PodStatus, version = "7", pod = apiPod("a")): Pod {
  return { ...pod, metadata: { ...pod.metadata, resourceVersion: version }, status: { ...STARTED, ...status } };
}

const old = shown({ phase: "Pending" });
const said = (message: string, version = "8") => shown({ phase: "Running", message }, version);
const patchOf = (state: ReportState): Extract<ReportStep, { kind: "patch" }> => {
  const { step } = planStep(state, old, START);
  if (step.kind !== "patch") throw new Error(`a patch is expected, not ${step.kind}`);
  return step;
};

const current = initialReport(published("m"), START);
const staticCurrent = initialReport(published("m", staticPod("a")), START);
const final = nextReport(current, { type: "finished", pod: apiPod("a") }, START);
const deleted = nextReport(current, { type: "finished", pod: apiPod("a", { deleted: true }) }, START);
const staticFinal = nextReport(staticCurrent, { type: "finished", pod: staticPod("a") }, START);
const unsaid = initialReport({ type: "finished", pod: apiPod("a", { deleted: true }) }, START);
const forgotten = nextReport(current, { type: "forgotten" }, START);
const states = { current, staticCurrent, final, deleted, staticFinal, unsaid, forgotten };

const step = patchOf(current);
const events = {
  published: published("news"),
  publishedStatic: published("news", staticPod("a")),
  finished: { type: "finished", pod: apiPod("a") },
  forgotten: { type: "forgotten" },
  patched: { type: "patched", step, answer: said("m") },
  read: { type: "read", answer: said("other") },
  invalid: { type: "invalid", step },
  gone: { type: "gone", target: old },
  told: { type: "told" },
} satisfies Record<string, ReportEvent>;

/** The phase, what of the pod was said last, and what else is known. */
function describeState(state: ReportState): string {
  const message = state.phase === "forgotten" ? undefined : state.published?.status.message;
  return [
    state.phase,
    ...(message === undefined ? [] : [message]),
    ...(state.answer === undefined ? [] : ["answered"]),
    ...(state.invalid === undefined ? [] : ["invalid"]),
    ...(state.goneUid === undefined ? [] : ["gone"]),
    ...(state.sends.count === 0 ? [] : ["sent"]),
    ...(state.untoldSinceMs === undefined ? ["told"] : []),
  ].join(" ");
}

describe("nextReport", () => {
  it.each<[keyof typeof states, keyof typeof events, string]>([
    ["current", "published", "current news"],
    ["current", "finished", "final m"],
    ["current", "forgotten", "forgotten"],
    ["current", "patched", "current m answered sent"],
    ["current", "read", "current m answered"],
    ["current", "invalid", "current m invalid"],
    ["current", "gone", "current m gone"],
    ["current", "told", "current m told"],

    ["final", "published", "final news"],
    ["final", "finished", "final m"],
    ["final", "forgotten", "forgotten"],
    ["final", "patched", "final m answered sent"],
    ["final", "read", "final m answered"],
    ["final", "invalid", "final m invalid"],
    ["final", "gone", "final m gone"],
    ["final", "told", "final m told"],

    ["staticFinal", "publishedStatic", "current news"],
    ["unsaid", "published", "final news"],
    ["unsaid", "gone", "final gone told"],

    ["forgotten", "published", "forgotten"],
    ["forgotten", "finished", "forgotten"],
    ["forgotten", "forgotten", "forgotten"],
    ["forgotten", "patched", "forgotten answered sent"],
    ["forgotten", "gone", "forgotten gone"],
    ["forgotten", "told", "forgotten told"],
  ])("%s, when %s, becomes: %s", (state, event, expected) => {
    expect(describeState(nextReport(states[state], events[event], at(2_000)))).toBe(expected);
  });

  it("keeps the time of the oldest change that was not told", () => {
    const again = nextReport(current, events.published, at(2_000));
    expect(again.untoldSinceMs).toBe(1_000);
    const told = nextReport(again, events.told, at(3_000));
    expect(nextReport(told, events.published, at(4_000)).untoldSinceMs).toBe(4_000);
  });
});

/** The kind of the step and what is special about it. */
function describeStep(state: ReportState, copy: Pod | "none" = old, moment = START): string {
  const { step: next } = planStep(state, copy === "none" ? undefined : copy, moment);
  if (next.kind === "patch") return `patch ${next.target.metadata?.resourceVersion} ${next.text}`;
  return next.kind === "rest" ? `rest ${next.isTold ? "told" : "untold"}` : next.kind;
}

describe("planStep", () => {
  const patch = 'patch 7 {"phase":"Running","message":"m"}';
  const mirror = shown({ phase: "Pending" }, "7", mirrorPod("a", "m1"));
  const marked = shown({ phase: "Running", message: "m" }, "8", apiPod("a", { deleted: true }));

  it.each<[string, keyof typeof states, Pod | "none", string]>([
    ["patches what is different", "current", old, patch],
    ["rests where nothing is", "current", said("m"), "rest told"],
    ["rests where the API server has no such pod", "current", "none", "rest untold"],
    ["rests where another pod has the name", "current", shown({}, "7", apiPod("a", { uid: "other" })), "rest untold"],
    ["tells a mirror of a static pod", "staticCurrent", mirror, patch],
    ["tells no other pod of a static one", "staticCurrent", old, "rest untold"],
    ["sends the last words", "final", old, patch],
    ["waits for somebody to delete a finished pod", "final", said("m"), "rest told"],
    ["deletes one that was marked before its end", "deleted", said("m"), "delete"],
    ["deletes one that is marked after its end", "final", marked, "delete"],
    ["tells before it deletes", "deleted", old, patch],
    ["deletes a pod of which nothing is to be said", "unsaid", old, "delete"],
    ["is over when a finished pod is gone", "deleted", "none", "over"],
    ["sends a static pod's last words", "staticFinal", mirror, patch],
    [
      "is over after a static pod's last words, and deletes no mirror",
      "staticFinal",
      shown({ phase: "Running", message: "m" }, "8", mirrorPod("a", "m1")),
      "over",
    ],
    ["is over when it is forgotten", "forgotten", old, "over"],
  ])("%s", (_name, state, copy, expected) => {
    expect(describeStep(states[state], copy)).toBe(expected);
  });

  it("names the version that it changes the phase of, and the UID for anything else", () => {
    expect(patchOf(current).body.metadata).toEqual({ uid: "uid-a", resourceVersion: "7" });
    const status = { ...STARTED, phase: "Pending", podIP: "10.0.0.1" };
    const address = initialReport({ type: "published", published: { pod: apiPod("a"), status } }, START);
    expect(patchOf(address).body.metadata).toEqual({ uid: "uid-a" });
  });

  it("goes by an answer that is newer than the watch's copy, for a minute", () => {
    const answered = nextReport(current, events.read, at(1_000));
    const repair = 'patch 8 {"message":"m"}';
    expect(describeStep(answered, old, at(61_000))).toBe(repair);
    expect(describeStep(answered, old, at(61_001))).toBe(patch);
    expect(describeStep(answered, said("m", "8"))).toBe("rest told");
    expect(describeStep(answered, said("m", "10"))).toBe("rest told");
  });

  it("asks nothing more of a pod that is gone, but tells the next mirror", () => {
    expect(describeStep(nextReport(current, events.gone, START))).toBe("rest untold");
    const gone = nextReport(staticCurrent, { type: "gone", target: mirror }, START);
    expect(describeStep(gone, mirror)).toBe("rest untold");
    expect(describeStep(gone, shown({ phase: "Pending" }, "9", mirrorPod("a", "m2")))).toBe(
      'patch 9 {"phase":"Running","message":"m"}',
    );
  });

  it("does not ask again for what the API server took without doing it", () => {
    const taken = nextReport(current, { type: "patched", step, answer: shown({ phase: "Running" }, "8") }, START);
    expect(describeStep(taken)).toBe("rest told");
    const news = nextReport(taken, events.published, START);
    expect(describeStep(news)).toBe('patch 8 {"message":"news"}');
  });

  it("deletes a pod whose status is not valid, and asks again for what is not deleted", () => {
    expect(describeStep(nextReport(deleted, events.invalid, START))).toBe("delete");
    expect(describeStep(nextReport(current, events.invalid, START))).toBe(patch);
  });

  it("compares a version of the API server's pod once", () => {
    const { state } = planStep(current, said("m"), START);
    expect(state).toMatchObject({ told: { version: "uid-a 8" } });
    expect(planStep(state, said("m"), START).state).toBe(state);
  });
});

describe("a status that somebody changes each time that it is sent", () => {
  const sentAt = (...times: number[]) =>
    times.reduce((state, time) => nextReport(state, events.patched, at(time)), planStep(current, old, START).state);

  it.each<[string, number[], number, boolean]>([
    ["is free for two sends", [1_000, 2_000], 2_000, false],
    ["is contested after three", [1_000, 2_000, 3_000], 3_000, true],
    ["is contested for a minute", [1_000, 2_000, 3_000], 63_000, true],
    ["is not contested after that", [1_000, 2_000, 3_000], 63_001, false],
    ["counts anew where it stood for long", [1_000, 2_000, 63_000], 63_000, false],
  ])("%s", (_name, times, moment, expected) => {
    expect(isContested(sentAt(...times), at(moment))).toBe(expected);
  });

  it("is free again when it is new, and for a new mirror", () => {
    const contested = sentAt(1_000, 2_000, 3_000);
    expect(isContested(nextReport(contested, events.published, at(3_000)), at(3_000))).toBe(false);
    const next = shown({ phase: "Pending" }, "9", mirrorPod("a", "m2"));
    const fixed = { ...contested, ...(staticCurrent.phase === "current" && { published: staticCurrent.published }) };
    expect(isContested(planStep(fixed, next, at(3_000)).state, at(3_000))).toBe(false);
  });
});
