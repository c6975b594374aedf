import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createScriptedSyncer } from "./__fixtures__/scripted-syncer.ts";
import { initialState, type KillOptions, type WorkerUpdate } from "./pod-state.ts";
import { IncompleteSyncError, RetryError } from "./pod-syncer.ts";
import { createPodWorker } from "./pod-worker.ts";

const RESYNC_MS = 60_000;
const BACK_OFF_MS = 10_000;

function makePod(version: string): Pod {
  const metadata = { uid: "a", name: "web", namespace: "default", labels: { version } };
  return { metadata, spec: { containers: [], terminationGracePeriodSeconds: 30 } };
}

const create = (version = "1"): WorkerUpdate => ({ type: "create", subject: { kind: "pod", pod: makePod(version) } });
const sync = (version = "1"): WorkerUpdate => ({ type: "sync", subject: { kind: "pod", pod: makePod(version) } });
const update = (version: string): WorkerUpdate => ({ type: "update", subject: { kind: "pod", pod: makePod(version) } });
const kill = (options: KillOptions = {}): WorkerUpdate => ({
  type: "kill",
  subject: { kind: "pod", pod: makePod("1") },
  kill: options,
});

function createRig(options: { random?: number; mayStart?: () => boolean } = {}) {
  const { random = 0, mayStart = () => true } = options;
  const clock = createFakeClock();
  const syncer = createScriptedSyncer();
  const phases: string[] = [];
  const failures: unknown[] = [];
  let gone = 0;
  const worker = createPodWorker(
    initialState(create(), "web_default"),
    {
      clock,
      random: { next: () => random },
      log: silentLog,
      syncer,
      mayStart,
      onState: ({ phase }) => void (phases.at(-1) !== phase && phases.push(phase)),
      onGone: () => void gone++,
      onFailure: (_state, _work, error) => void failures.push(error),
    },
    { resyncMs: RESYNC_MS, backOffMs: BACK_OFF_MS },
  );
  const calls = () => syncer.calls.map(({ what }) => what);
  return { clock, syncer, worker, phases, failures, calls, gone: () => gone };
}

describe("a pod worker", () => {
  it("works on the newest of the updates that came together, and once more for those that came meanwhile", async () => {
    const { clock, syncer, worker, calls } = createRig();
    for (const version of ["1", "2", "3"]) worker.update(update(version));
    await clock.settle();
    expect(calls()).toEqual(["sync a:3"]);
    for (const version of ["4", "5"]) worker.update(update(version));
    await clock.settle();
    expect(calls()).toEqual(["sync a:3"]);
    syncer.current().succeed();
    await clock.settle();
    expect(calls()).toEqual(["sync a:3", "sync a:5"]);
  });

  it("chooses the work of the state as it is when the work begins", async () => {
    const { clock, worker, calls } = createRig();
    worker.update(create());
    worker.update(kill());
    await clock.settle();
    expect(calls()).toEqual(["terminating a grace=30"]);
  });

  it("goes through its phases until the pod is gone", async () => {
    const { clock, syncer, worker, phases, calls, gone } = createRig();
    worker.update(create());
    await clock.settle();
    syncer.current().succeed({ terminal: true });
    await clock.settle();
    syncer.current().succeed();
    await clock.settle();
    syncer.current().succeed();
    await clock.settle();
    expect(phases).toEqual(["syncing", "terminating", "terminated", "finished"]);
    expect(syncer.open()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);

    worker.update(kill({ deleted: true }));
    await clock.settle();
    syncer.current().succeed();
    await clock.settle();
    expect(gone()).toBe(1);
    expect(calls()).toEqual(["sync a:1", "terminating a grace=30", "terminated a", "terminated a deleted"]);
    worker.update(create());
    await clock.settle();
    expect(calls()).toHaveLength(4);
  });

  it("cancels the sync in flight when the pod begins to terminate", async () => {
    const { clock, syncer, worker, calls, failures } = createRig();
    worker.update(create());
    await clock.settle();
    const sync = syncer.current();
    worker.update(kill());
    expect(sync.aborted()).toBe(true);
    await clock.settle();
    expect(calls()).toEqual(["sync a:1", "terminating a grace=30"]);
    expect(failures).toEqual([]);
  });

  it("stops again, sooner, when the grace period is shortened, and not when it is lengthened", async () => {
    const { clock, syncer, worker, calls } = createRig();
    worker.update(kill({ gracePeriodSeconds: 20 }));
    await clock.settle();
    worker.update(kill({ gracePeriodSeconds: 25 }));
    expect(syncer.current().aborted()).toBe(false);
    worker.update(kill({ gracePeriodSeconds: 5 }));
    await clock.settle();
    expect(calls()).toEqual(["terminating a grace=20", "terminating a grace=5"]);
  });

  it("tears down again what was torn down for a pod that was to be kept", async () => {
    const { clock, syncer, worker, calls, gone } = createRig();
    worker.update(kill());
    await clock.settle();
    syncer.current().succeed();
    await clock.settle();
    worker.update(kill({ deleted: true }));
    syncer.current().succeed();
    await clock.settle();
    expect(calls().slice(1)).toEqual(["terminated a", "terminated a deleted"]);
    expect(gone()).toBe(0);
  });

  it("tears down again what was torn down to begin anew, and is not wanted after all", async () => {
    const { clock, syncer, worker, calls, gone } = createRig();
    worker.update(kill({ deleted: true }));
    worker.update(create());
    await clock.settle();
    syncer.current().succeed();
    await clock.settle();
    worker.update(kill({ deleted: true }));
    syncer.current().succeed();
    await clock.settle();
    expect(calls().slice(1)).toEqual(["terminated a deleted to begin anew", "terminated a deleted"]);
    expect(gone()).toBe(0);
  });

  it.each([
    [0, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]],
    [0.5, [1_250, 2_500, 5_000, 10_000, 12_500, 12_500]],
    [1, [1_500, 3_000, 6_000, 12_000, 15_000, 15_000]],
  ])("waits longer after each failure in a row, up to the back-off (random %d)", async (random, waits) => {
    const { clock, syncer, worker, calls, failures } = createRig({ random });
    worker.update(create());
    await clock.settle();
    for (const [index, wait] of waits.entries()) {
      syncer.current().fail(new Error("no"));
      await clock.advance(wait - 1);
      expect(calls()).toHaveLength(index + 1);
      await clock.advance(1);
      expect(calls()).toHaveLength(index + 2);
    }
    expect(failures).toHaveLength(waits.length);
    syncer.current().succeed({ retryAt: clock.now() + 1 });
    await clock.advance(1);
    syncer.current().fail(new Error("no"));
    expect(clock.untilNextTimer()).toBeUndefined();
    await clock.settle();
    expect(clock.untilNextTimer()).toBe(waits[0]);
  });

  it("comes back at the exact time that a sync asks for, at the latest after the resync", async () => {
    const { clock, syncer, worker, calls } = createRig();
    worker.update(create());
    await clock.settle();
    syncer.current().succeed({ retryAt: clock.now() + 12_345 });
    await clock.advance(12_344);
    expect(calls()).toHaveLength(1);
    await clock.advance(1);
    expect(calls()).toHaveLength(2);
    syncer.current().succeed({ retryAt: clock.now() + 10 * RESYNC_MS });
    await clock.advance(RESYNC_MS - 1);
    expect(calls()).toHaveLength(2);
    await clock.advance(1);
    expect(calls()).toHaveLength(3);
  });

  it("does not count as a failure what is known to be possible later", async () => {
    const { clock, syncer, worker, calls, failures } = createRig();
    worker.update(create());
    await clock.settle();
    syncer.current().fail(new RetryError("network is not ready", clock.now() + 1_000));
    await clock.advance(1_000);
    expect(calls()).toHaveLength(2);
    expect(failures).toEqual([]);
  });

  it.each([
    ["sooner than the back-off", 300, 300],
    ["later than the back-off", 300_000, 1_000],
  ])("after an incomplete sync comes back for what is due %s", async (_name, dueMs, expected) => {
    const { clock, syncer, worker, calls, failures } = createRig();
    worker.update(create());
    await clock.settle();
    syncer.current().fail(new IncompleteSyncError("one container cannot start", clock.now() + dueMs));
    await clock.advance(expected - 1);
    expect(calls()).toHaveLength(1);
    await clock.advance(1);
    expect(calls()).toHaveLength(2);
    expect(failures).toHaveLength(1);
  });

  it("is not driven in circles by hints that its own failing work causes", async () => {
    const { clock, syncer, worker, calls } = createRig();
    worker.update(create());
    await clock.settle();
    const startedAt = clock.monotonic();
    const times: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      times.push(clock.monotonic() - startedAt);
      worker.update(sync());
      syncer.current().fail(new Error("the sandbox is lost at once"));
      while (syncer.open().length === 0) await clock.advance(clock.untilNextTimer() ?? 0);
    }
    expect(times).toEqual([0, 1_000, 3_000, 7_000]);
    expect(calls()).toHaveLength(5);
  });

  it("reports what a hint is about while the wait after a failure lasts, and does no more", async () => {
    const { clock, syncer, worker, calls } = createRig();
    worker.update(create());
    await clock.settle();
    worker.update(sync());
    syncer.current().fail(new Error("one container cannot start"));
    await clock.settle();
    expect(syncer.reported).toBe(0);
    worker.update(sync());
    expect(syncer.reported).toBe(1);
    expect(calls()).toHaveLength(1);
    await clock.advance(1_500);
    syncer.current().succeed();
    await clock.settle();
    worker.update(sync());
    await clock.settle();
    expect(syncer.reported).toBe(1);
    expect(calls()).toHaveLength(3);
  });

  it("does not wait for the back-off when there is news from the source", async () => {
    const { clock, syncer, worker, calls } = createRig();
    worker.update(create());
    await clock.settle();
    syncer.current().fail(new Error("no such image"));
    await clock.settle();
    worker.update(update("2"));
    await clock.settle();
    expect(calls()).toEqual(["sync a:1", "sync a:2"]);
  });

  it("waits for its turn, and starts when it is woken", async () => {
    let turn = false;
    const { clock, worker, calls } = createRig({ mayStart: () => turn });
    worker.update(create());
    await clock.advance(10 * RESYNC_MS);
    expect(calls()).toEqual([]);
    turn = true;
    worker.wake();
    await clock.settle();
    expect(calls()).toEqual(["sync a:1"]);
  });

  it("needs no turn to terminate", async () => {
    const { clock, worker, calls } = createRig({ mayStart: () => false });
    worker.update(create());
    worker.update(kill());
    await clock.settle();
    expect(calls()).toEqual(["terminating a grace=30"]);
  });

  it("stops when its work has ended, and does nothing afterwards", async () => {
    const { clock, syncer, worker, calls, failures } = createRig();
    worker.update(create());
    await clock.settle();
    const call = syncer.current();
    const stopped = worker.stop();
    expect(call.aborted()).toBe(true);
    await stopped;
    worker.update(create("2"));
    worker.wake();
    await clock.advance(10 * RESYNC_MS);
    expect(calls()).toHaveLength(1);
    expect(failures).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("leaves no timer behind when it is stopped between two looks", async () => {
    const { clock, syncer, worker } = createRig();
    worker.update(create());
    await clock.settle();
    syncer.current().succeed();
    await clock.settle();
    expect(clock.pendingTimers).toBe(1);
    await worker.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
