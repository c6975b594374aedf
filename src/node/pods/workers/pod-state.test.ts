import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import type { RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";
import {
  afterWork,
  computeGracePeriod,
  initialState,
  nextState,
  type PodState,
  type Subject,
  type WorkerUpdate,
  workOf,
} from "./pod-state.ts";

const RUNTIME_POD: RuntimePod = { uid: "uid-1", name: "web", namespace: "default", sandboxes: [], containers: [] };
const orphan: Subject = { kind: "orphan", pod: RUNTIME_POD };

function makePod(overrides: { phase?: string; deletedWithin?: number; grace?: number; label?: string } = {}): Subject {
  const { phase, deletedWithin, grace = 30, label } = overrides;
  const pod: Pod = {
    metadata: {
      uid: "uid-1",
      name: "web",
      namespace: "default",
      ...(label === undefined ? {} : { labels: { label } }),
      ...(deletedWithin === undefined
        ? {}
        : { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: deletedWithin }),
    },
    spec: { containers: [], terminationGracePeriodSeconds: grace },
    ...(phase === undefined ? {} : { status: { phase } }),
  };
  return { kind: "pod", pod };
}

const common = { subject: makePod(), fullName: "web_default", restartRequested: false };
const ending = { ...common, deleted: false, evicted: false, gracePeriodSeconds: 30, statusOverride: undefined };
const syncing: PodState = { ...common, phase: "syncing" };
const terminating: PodState = { ...ending, phase: "terminating" };
const terminated: PodState = { ...ending, phase: "terminated" };
const finished: PodState = { ...ending, phase: "finished" };

const updates = {
  create: { type: "create", subject: makePod() },
  update: { type: "update", subject: makePod() },
  sync: { type: "sync", subject: makePod() },
  deletion: { type: "update", subject: makePod({ deletedWithin: 10 }) },
  completed: { type: "update", subject: makePod({ phase: "Succeeded" }) },
  kill: { type: "kill", subject: makePod() },
  removal: { type: "kill", subject: makePod(), kill: { deleted: true } },
  eviction: { type: "kill", subject: makePod(), kill: { evicted: true, gracePeriodSeconds: 5 } },
  orphan: { type: "kill", subject: orphan, kill: { deleted: true } },
} satisfies Record<string, WorkerUpdate>;

/** `phase work flags`, e.g. `terminating terminating cancel deleted grace=10`. */
function describeTransition(state: PodState, update: WorkerUpdate): string {
  const { state: next, work, cancel } = nextState(state, update);
  return [
    next.phase,
    work ?? "-",
    ...(cancel ? ["cancel"] : []),
    ...(next.phase !== "syncing" && next.deleted ? ["deleted"] : []),
    ...(next.phase !== "syncing" && next.evicted ? ["evicted"] : []),
    ...(next.phase === "terminating" ? [`grace=${next.gracePeriodSeconds}`] : []),
    ...(next.restartRequested ? ["restart"] : []),
  ].join(" ");
}

describe("nextState", () => {
  it.each<[PodState, keyof typeof updates, string]>([
    [syncing, "create", "syncing sync"],
    [syncing, "update", "syncing sync"],
    [syncing, "sync", "syncing sync"],
    [syncing, "deletion", "terminating terminating cancel deleted grace=10"],
    [syncing, "completed", "terminating terminating cancel grace=30"],
    [syncing, "kill", "terminating terminating cancel grace=30"],
    [syncing, "removal", "terminating terminating cancel deleted grace=30"],
    [syncing, "eviction", "terminating terminating cancel evicted grace=5"],
    [syncing, "orphan", "terminating terminating cancel deleted grace=30"],

    [terminating, "create", "terminating - grace=30 restart"],
    [terminating, "update", "terminating terminating grace=30"],
    [terminating, "sync", "terminating terminating grace=30"],
    [terminating, "deletion", "terminating terminating cancel deleted grace=10"],
    [terminating, "completed", "terminating terminating grace=30"],
    [terminating, "kill", "terminating terminating grace=30"],
    [terminating, "removal", "terminating terminating deleted grace=30"],
    [terminating, "eviction", "terminating terminating cancel evicted grace=5"],
    [terminating, "orphan", "terminating terminating deleted grace=30"],

    [terminated, "create", "terminated -"],
    [terminated, "update", "terminated -"],
    [terminated, "sync", "terminated -"],
    [terminated, "deletion", "terminated terminated deleted"],
    [terminated, "completed", "terminated -"],
    [terminated, "kill", "terminated -"],
    [terminated, "removal", "terminated terminated deleted"],
    [terminated, "eviction", "terminated -"],
    [terminated, "orphan", "terminated -"],

    [finished, "create", "finished -"],
    [finished, "update", "finished -"],
    [finished, "sync", "finished -"],
    [finished, "deletion", "terminated terminated deleted"],
    [finished, "completed", "finished -"],
    [finished, "kill", "finished -"],
    [finished, "removal", "terminated terminated deleted"],
    [finished, "eviction", "finished -"],
    [finished, "orphan", "finished -"],
  ])("%o, when told %s, becomes: %s", (state, update, expected) => {
    expect(describeTransition(state, updates[update])).toBe(expected);
  });

  it.each<PodState>([
    { ...ending, phase: "terminating", deleted: true },
    { ...ending, phase: "terminated", deleted: true },
  ])("a deleted pod remembers that it was asked for again, and forgets it when that is taken back: $phase", (state) => {
    const asked = nextState(state, updates.create);
    expect(asked).toMatchObject({ state: { restartRequested: true, phase: state.phase }, work: undefined });
    const takenBack = nextState(asked.state, updates.removal);
    expect(takenBack.state).toMatchObject({ restartRequested: false, deleted: true });
  });

  it.each([
    [30, 10, 10],
    [10, 30, 10],
    [10, 0, 1],
  ])("a grace period of %i s that is asked to be %i s becomes %i s", (from, asked, expected) => {
    const state: PodState = { ...ending, phase: "terminating", gracePeriodSeconds: from };
    const { state: next, cancel } = nextState(state, { ...updates.kill, kill: { gracePeriodSeconds: asked } });
    expect(next).toMatchObject({ gracePeriodSeconds: expected });
    expect(cancel).toBe(expected < from);
  });

  it("keeps the latest reason for the end of a terminating pod", () => {
    const first = nextState(syncing, { ...updates.kill, kill: { statusOverride: { reason: "A", message: "a" } } });
    const second = nextState(first.state, updates.removal);
    expect(second.state).toMatchObject({ statusOverride: { reason: "A" } });
    const third = nextState(second.state, { ...updates.kill, kill: { statusOverride: { reason: "B", message: "b" } } });
    expect(third.state).toMatchObject({ statusOverride: { reason: "B" }, deleted: true });
  });

  it("works on with the newest spec, and keeps the spec when only the runtime speaks", () => {
    const newest = makePod({ label: "new" });
    expect(nextState(syncing, { type: "update", subject: newest }).state.subject).toBe(newest);
    expect(nextState(terminating, { type: "kill", subject: newest }).state.subject).toBe(newest);
    expect(nextState(terminating, updates.orphan).state.subject).toBe(terminating.subject);
  });
});

describe("afterWork", () => {
  const deleted = { ...ending, phase: "terminated", deleted: true } satisfies PodState;
  it.each([
    ["a sync goes on", syncing, "sync", false, "syncing"],
    ["a sync that found the end terminates", syncing, "sync", true, "terminating"],
    ["what was done for another phase changes nothing", syncing, "terminated", false, "syncing"],
    ["a sync that ends after a kill changes nothing", terminating, "sync", true, "terminating"],
    ["a stopped pod has terminated", terminating, "terminating", false, "terminated"],
    ["late terminating work changes nothing", terminated, "terminating", false, "terminated"],
    ["a torn down pod is kept while it is named", terminated, "terminated", false, "finished"],
    ["a torn down pod that nobody names is gone", deleted, "terminated", false, undefined],
    ["a finished pod stays", finished, "terminated", false, "finished"],
  ] as const)("%s", (_name, state, work, terminal, expected) => {
    expect(afterWork(state, work, { terminal })?.phase).toBe(expected);
  });
});

it("the first update decides where a pod begins", () => {
  const state = initialState(updates.create, "web_default");
  expect(workOf(state)).toBe("sync");
  expect(workOf(nextState(initialState(updates.orphan, "web_default"), updates.orphan).state)).toBe("terminating");
  expect(workOf(finished)).toBeUndefined();
});

describe("computeGracePeriod", () => {
  it.each([
    ["the override", makePod({ deletedWithin: 10 }), { gracePeriodSeconds: 5 }, 5],
    ["else the API's", makePod({ deletedWithin: 10 }), undefined, 10],
    ["else the pod's", makePod(), undefined, 30],
    ["at least a second", makePod({ grace: 0 }), undefined, 1],
    ["also when overridden", makePod(), { gracePeriodSeconds: 0 }, 1],
    ["half a minute for an orphan", orphan, undefined, 30],
  ])("is %s", (_name, subject, kill, expected) => {
    expect(computeGracePeriod(subject, kill)).toBe(expected);
  });
});
