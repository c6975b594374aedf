import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createScriptedSyncer } from "./__fixtures__/scripted-syncer.ts";
import { referenceOf } from "./pod-syncer.ts";
import { createPodWorkers } from "./pod-workers.ts";

function makePod(uid: string, name = "web", source = "file"): Pod {
  const annotations = { [CONFIG_SOURCE_ANNOTATION]: source };
  return { metadata: { uid, name, namespace: "default", annotations }, spec: { containers: [] } };
}

function createRig() {
  const clock = createFakeClock();
  const syncer = createScriptedSyncer();
  const gone: string[] = [];
  const workers = createPodWorkers(
    {
      clock,
      random: { next: () => 0 },
      log: silentLog,
      syncer,
      onFailure: () => undefined,
      onGone: ({ subject, restartRequested }) =>
        void gone.push(`${referenceOf(subject).uid}${restartRequested ? " restart" : ""}`),
    },
    { resyncMs: 60_000, backOffMs: 10_000 },
  );
  const add = (pod: Pod) => workers.update({ type: "create", subject: { kind: "pod", pod } });
  const remove = (pod: Pod) =>
    workers.update({ type: "kill", subject: { kind: "pod", pod }, kill: { deleted: true, gracePeriodSeconds: 30 } });
  const adopt = (uid: string, name = "web") => {
    const pod = { uid, name, namespace: "default", sandboxes: [], containers: [] };
    workers.update({ type: "kill", subject: { kind: "orphan", pod }, kill: { deleted: true } });
  };
  /** Ends what is open, as often as there is something. */
  const finish = async (uid: string) => {
    for (;;) {
      await clock.settle();
      const call = syncer.open().find(({ what }) => what.split(" ")[1] === uid);
      if (call === undefined || call.what.startsWith("sync")) return;
      call.succeed();
    }
  };
  const calls = () => syncer.calls.map(({ what }) => what);
  return { clock, syncer, workers, gone, add, remove, adopt, finish, calls };
}

describe("the pod workers", () => {
  it("tell when pods have given back what they held, whether they are kept for their status or gone", async () => {
    const { clock, workers, add, remove, finish } = createRig();
    const [kept, gone] = [makePod("a", "web"), makePod("b", "db")];
    for (const pod of [kept, gone]) add(pod);
    await clock.settle();
    const { signal } = new AbortController();
    let isOver = false;
    void workers.untilFinished(["a", "b", "unknown"], signal).then(() => {
      isOver = true;
    });
    workers.update({ type: "kill", subject: { kind: "pod", pod: kept }, kill: { gracePeriodSeconds: 1 } });
    remove(gone);
    await finish("a");
    expect([workers.state("a")?.phase, isOver]).toEqual(["finished", false]);
    await finish("b");
    expect([workers.state("b"), isOver]).toEqual([undefined, true]);
  });

  it("tell when nothing of a pod runs any more, though it still holds something", async () => {
    const { clock, syncer, workers, add, remove } = createRig();
    const pod = makePod("a");
    add(pod);
    await clock.settle();
    let hasStopped = false;
    void workers.untilStopped(["a", "unknown"], new AbortController().signal).then(() => {
      hasStopped = true;
    });
    remove(pod);
    await clock.settle();
    expect([workers.state("a")?.phase, hasStopped]).toEqual(["terminating", false]);
    syncer
      .open()
      .find(({ what }) => what.includes("terminating"))
      ?.succeed();
    await clock.settle();
    expect([workers.state("a")?.phase, hasStopped]).toEqual(["terminated", true]);
  });

  it("stop telling when nobody waits any longer", async () => {
    const { clock, workers, add } = createRig();
    add(makePod("a"));
    await clock.settle();
    const waiting = new AbortController();
    const waited = workers.untilFinished(["a"], waiting.signal);
    waiting.abort();
    await expect(waited).rejects.toThrow("aborted");
  });

  it("work on pods independently", async () => {
    const { clock, workers, add, calls } = createRig();
    add(makePod("a", "web"));
    add(makePod("b", "db"));
    await clock.settle();
    expect(calls()).toEqual(["sync a", "sync b"]);
    expect([...workers.states().keys()]).toEqual(["a", "b"]);
    expect(workers.state("a")?.phase).toBe("syncing");
  });

  it("do not look again at a pod that nobody knows", async () => {
    const { clock, workers, calls } = createRig();
    workers.update({ type: "sync", subject: { kind: "pod", pod: makePod("a") } });
    await clock.settle();
    expect(calls()).toEqual([]);
    expect(workers.states().size).toBe(0);
  });

  it("start static pods of one name in the order of their arrival, each when the one before has stopped", async () => {
    const { clock, add, remove, finish, calls } = createRig();
    for (const uid of ["a", "b", "c"]) add(makePod(uid));
    await clock.settle();
    expect(calls()).toEqual(["sync a"]);
    remove(makePod("b"));
    await finish("b");
    remove(makePod("a"));
    await finish("a");
    expect(calls().filter((call) => call.startsWith("sync"))).toEqual(["sync a", "sync c"]);
  });

  it("make a static pod wait until nothing runs any more of what the runtime still held of its name", async () => {
    const { clock, add, adopt, finish, calls } = createRig();
    adopt("old");
    add(makePod("new"));
    await clock.settle();
    expect(calls()).toEqual(["terminating old grace=30"]);
    await finish("old");
    expect(calls()).toEqual(["terminating old grace=30", "sync new", "terminated old deleted"]);
  });

  it("do not make pods of an API server wait for static pods of their name", async () => {
    const { clock, add, calls } = createRig();
    add(makePod("static"));
    add(makePod("api", "web", "api"));
    await clock.settle();
    expect(calls()).toEqual(["sync static", "sync api"]);
  });

  it("let a pod of the same UID begin anew only when the old one is gone", async () => {
    const { clock, workers, gone, add, remove, finish, calls } = createRig();
    const pod = makePod("a");
    add(pod);
    await clock.settle();
    remove(pod);
    await clock.settle();
    add(pod);
    await finish("a");
    expect(gone).toEqual(["a restart"]);
    expect(workers.states().size).toBe(0);
    expect(calls()).toEqual(["sync a", "terminating a grace=30", "terminated a deleted to begin anew"]);
    add(pod);
    await clock.settle();
    expect(calls().at(-1)).toBe("sync a");
  });

  it("forget that a pod was asked for again when it was taken back before the old one was gone", async () => {
    const { clock, gone, add, remove, finish } = createRig();
    const pod = makePod("a");
    add(pod);
    remove(pod);
    await clock.settle();
    add(pod);
    remove(pod);
    await finish("a");
    expect(gone).toEqual(["a"]);
  });

  it("stop when all work in flight has ended, and take nothing afterwards", async () => {
    const { clock, syncer, workers, add, calls } = createRig();
    add(makePod("a", "web"));
    add(makePod("b", "db"));
    await clock.settle();
    await workers.stop();
    expect(syncer.calls.every((call) => call.aborted())).toBe(true);
    add(makePod("c", "cache"));
    await clock.advance(600_000);
    expect(calls()).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });
});
