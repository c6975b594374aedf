import { afterEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { podReference, podUid } from "../../../api/pods.ts";
import { CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createPodWorkers } from "../workers/pod-workers.ts";
import { createPreemption } from "./preemption.ts";

const SECOND = 1_000;

function makePod(uid: string, { isStatic = false, graceSeconds = 30, cpu = "1" } = {}): Pod {
  return {
    metadata: {
      uid,
      name: uid,
      namespace: "ns",
      annotations: { [CONFIG_SOURCE_ANNOTATION]: isStatic ? "file" : "api" },
    },
    spec: {
      containers: [{ name: "main", resources: { requests: { cpu } } }],
      terminationGracePeriodSeconds: graceSeconds,
    },
  };
}

const CRITICAL = makePod("critical", { isStatic: true });
const missingCpu = (amount: bigint) => ({ missing: [{ resource: "cpu", amount }] });
let stop = async (): Promise<void> => {};

/** Real workers, whose pods stop when they are told to. */
function createRig() {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  const metrics = createMetrics();
  const decidable: string[] = [];
  const stopping = new Map<string, { seconds: number; end: () => void }>();
  const workers = createPodWorkers(
    {
      clock,
      random: { next: () => 0 },
      log: silentLog,
      syncer: {
        syncPod: async () => await Promise.resolve({ terminal: false }),
        async syncTerminatingPod({ subject, gracePeriodSeconds: seconds, signal }) {
          await new Promise<void>((end, fail) => {
            stopping.set(subject.kind === "pod" ? podUid(subject.pod) : "", { seconds, end });
            signal.addEventListener("abort", () => fail(new Error("cancelled")));
          });
        },
        syncTerminatedPod: async () => await Promise.resolve(),
        reportPod: () => undefined,
      },
      onFailure: () => undefined,
      onGone: () => undefined,
    },
    { resyncMs: 60 * SECOND, backOffMs: 10 * SECOND },
  );
  const preemption = createPreemption({
    clock,
    log: silentLog,
    timeline,
    metrics,
    workers,
    onDecidable: (uid) => void decidable.push(uid),
  });
  const controller = new AbortController();
  const run = preemption.run(controller.signal);
  stop = async () => {
    await workers.stop();
    controller.abort();
    await run;
  };
  const add = (pod: Pod) => workers.update({ type: "create", subject: { kind: "pod", pod } });
  const end = async (uid: string) => {
    stopping.get(uid)?.end();
    await clock.settle();
  };
  const told = (pod: Pod) => timeline.read(podReference(pod).uid).map(({ reason, message }) => `${reason}: ${message}`);
  const causesOf = (pod: Pod) => timeline.read(podReference(pod).uid).map(({ causes }) => causes);
  return { clock, workers, preemption, decidable, stopping, metrics, add, end, told, causesOf };
}

afterEach(async () => await stop());

describe("room for a critical pod", () => {
  it("is made by ending others, who are told why, with the time that they have", async () => {
    const { clock, workers, preemption, decidable, stopping, metrics, add, end, told, causesOf } = createRig();
    const victim = makePod("victim", { graceSeconds: 7 });
    add(victim);
    await clock.settle();
    expect(preemption.makeRoom(CRITICAL, missingCpu(500n))).toBe("undecided");
    await clock.settle();
    expect(workers.state("victim")).toMatchObject({
      phase: "terminating",
      evicted: true,
      statusOverride: {
        reason: "Preempting",
        message: "Preempted in order to admit critical pod",
        disruption: "Pod was preempted by Kubelet to accommodate a critical pod.",
      },
    });
    expect(stopping.get("victim")?.seconds).toBe(7);
    expect(told(victim)).toEqual(["Preempting: Preempted in order to admit critical pod"]);
    const wanted = "the critical pod ns/critical (priority 0) needs 500m more cpu than is free";
    expect(causesOf(victim)).toEqual([[{ reason: "RoomWanted", message: wanted, at: clock.now() }]]);
    expect(told(CRITICAL)).toEqual([`MakingRoom: ns/victim must end: ${wanted}`]);
    expect([preemption.claimants(), preemption.isAwaited("victim"), decidable]).toEqual([[CRITICAL], true, []]);
    await end("victim");
    expect(decidable).toEqual(["critical"]);
    expect(preemption.claimants()).toEqual([CRITICAL]);
    preemption.release("critical");
    expect([preemption.claimants(), preemption.isAwaited("victim")]).toEqual([[], false]);
    expect(await metrics.render()).toContain('kubelet_preemptions{preemption_signal="cpu"} 1');
  });

  it("is refused in upstream's words where nobody can make it, and nobody ends", async () => {
    const { clock, workers, preemption, add } = createRig();
    add(makePod("small", { cpu: "100m" }));
    add(makePod("other", { isStatic: true }));
    await clock.settle();
    expect(preemption.makeRoom(CRITICAL, missingCpu(500n))).toEqual({
      reason: "UnexpectedAdmissionError",
      message:
        "Unexpected error while attempting to recover from admission failure: preemption: error finding a set of " +
        "pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 400), ]",
    });
    expect([...workers.states().values()].map(({ phase }) => phase)).toEqual(["syncing", "syncing"]);
    expect(preemption.claimants()).toEqual([]);
  });

  it("waits no longer than half as long again as a pod has to end, and that one is waited for no more", async () => {
    const { clock, preemption, decidable, metrics, add, end, told } = createRig();
    const stuck = makePod("stuck", { graceSeconds: 20 });
    add(stuck);
    await clock.settle();
    preemption.makeRoom(CRITICAL, missingCpu(1n));
    await clock.settle();
    await clock.advance(30 * SECOND - 1);
    expect([decidable, preemption.isOverdue("stuck")]).toEqual([[], false]);
    await clock.advance(1);
    expect([decidable, preemption.isOverdue("stuck")]).toEqual([["critical"], true]);
    expect(told(stuck).at(-1)).toBe(
      "ExceededGracePeriod: Container runtime did not kill the pod within specified grace period.",
    );
    expect(await metrics.render()).not.toContain("kubelet_preemptions{");
    expect(preemption.makeRoom(CRITICAL, missingCpu(1n))).toMatchObject({ reason: "UnexpectedAdmissionError" });
    await end("stuck");
    expect(preemption.isOverdue("stuck")).toBe(false);
  });

  it("waits ten seconds at least", async () => {
    const { clock, preemption, decidable, add } = createRig();
    add(makePod("victim", { graceSeconds: 1 }));
    await clock.settle();
    preemption.makeRoom(CRITICAL, missingCpu(1n));
    await clock.settle();
    await clock.advance(10 * SECOND - 1);
    expect(decidable).toEqual([]);
    await clock.advance(1);
    expect(decidable).toEqual(["critical"]);
  });

  it("ends nobody where another is ending anyway", async () => {
    const { clock, workers, preemption, decidable, metrics, add, end, told } = createRig();
    const going = makePod("going", { isStatic: true });
    for (const pod of [going, makePod("staying")]) add(pod);
    workers.update({ type: "kill", subject: { kind: "pod", pod: going }, kill: { deleted: true } });
    await clock.settle();
    expect(preemption.makeRoom(CRITICAL, missingCpu(1000n))).toBe("undecided");
    await clock.settle();
    await end("going");
    expect([decidable, workers.state("staying")?.phase, told(going)]).toEqual([["critical"], "syncing", []]);
    expect(await metrics.render()).not.toContain("kubelet_preemptions{");
  });

  it("is awaited once, however often it is asked for", async () => {
    const { clock, preemption, decidable, add, end, told } = createRig();
    const [first, second] = [makePod("first"), makePod("second")];
    for (const pod of [first, second]) add(pod);
    await clock.settle();
    preemption.makeRoom(CRITICAL, missingCpu(1n));
    expect(preemption.makeRoom(CRITICAL, missingCpu(1n))).toBe("undecided");
    await clock.settle();
    expect([told(first).length, told(second).length]).toEqual([1, 0]);
    await end("first");
    expect(decidable).toEqual(["critical"]);
    // The node has become smaller meanwhile.
    expect(preemption.makeRoom(CRITICAL, missingCpu(1n))).toBe("undecided");
    await clock.settle();
    await end("second");
    expect(decidable).toEqual(["critical", "critical"]);
  });

  it("is made for several at once, of whom each ends its own", async () => {
    const { clock, workers, preemption, decidable, add, end } = createRig();
    for (const uid of ["a", "b"]) add(makePod(uid));
    await clock.settle();
    const another = makePod("another", { isStatic: true });
    preemption.makeRoom(CRITICAL, missingCpu(1000n));
    preemption.makeRoom(another, missingCpu(2000n));
    await clock.settle();
    expect(["a", "b"].map((uid) => workers.state(uid)?.phase)).toEqual(["terminating", "terminating"]);
    await end("a");
    expect(decidable).toEqual(["critical"]);
    await end("b");
    expect(decidable).toEqual(["critical", "another"]);
  });

  it("is nobody's when the pod is wanted no longer, and who waited for what is left is asked about again", async () => {
    const { clock, preemption, decidable, add, end } = createRig();
    add(makePod("victim"));
    await clock.settle();
    preemption.makeRoom(CRITICAL, missingCpu(1n));
    preemption.queue("waiting");
    await clock.settle();
    preemption.release("critical");
    expect([decidable, preemption.claimants(), preemption.isAwaited("victim")]).toEqual([["waiting"], [], false]);
    await end("victim");
    preemption.release("critical");
    expect(decidable).toEqual(["waiting"]);
  });
});
