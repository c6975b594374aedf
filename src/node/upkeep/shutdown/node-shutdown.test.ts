import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { untilAborted } from "../../../base/abort.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createTimeline, type Timeline } from "../../../base/timeline.ts";
import { createFakeHost, type FakeHost } from "../../../host/fake/create-fake-host.ts";
import { initialState, nextState, type PodState, type WorkerUpdate } from "../../pods/workers/pod-state.ts";
import { createNodeShutdown } from "./node-shutdown.ts";
import { createShutdownNotice, type ShutdownNotice } from "./shutdown-notice.ts";
import { createShutdownRecord } from "./shutdown-record.ts";

const PERIODS = [
  { priority: 0, seconds: 20 },
  { priority: 2_000_000_000, seconds: 10 },
];
const LOGIND_CONF = "/etc/systemd/logind.conf.d/99-kubelet.conf";
const STATE = "/var/lib/kubelet/graceful_node_shutdown_state";
const MESSAGE = "Pod was terminated in response to imminent node shutdown.";

let host: FakeHost;
let notice: ShutdownNotice;
let states: Map<string, PodState>;
/** The kills that the workers were asked for, each as `uid grace period`. */
let kills: string[];
let told: string[];
let timeline: Timeline;
/** Whether the agent has taken up the pods that run. */
let isTakenUp: boolean;
let waits: Set<() => void>;
let stopping: AbortController;
let running: Promise<void>;

const podOf = (uid: string, spec: Partial<NonNullable<Pod["spec"]>> = {}): Pod => ({
  metadata: { uid, name: uid, namespace: "shop" },
  spec: { containers: [{ name: "main" }], terminationGracePeriodSeconds: 30, ...spec },
});
const add = (pod: Pod) => {
  const uid = pod.metadata?.uid ?? "";
  states.set(uid, initialState({ type: "create", subject: { kind: "pod", pod } }, uid));
};
const update = (change: WorkerUpdate) => {
  if (change.subject.kind !== "pod") throw new TypeError("only pods are ended");
  const uid = change.subject.pod.metadata?.uid ?? "";
  kills.push(`${uid} ${change.kill?.gracePeriodSeconds}`);
  const state = states.get(uid);
  if (state !== undefined) states.set(uid, nextState(state, change).state);
};
const finish = (...uids: string[]) => {
  for (const uid of uids) states.delete(uid);
  for (const check of waits) check();
};
const untilFinished = async (uids: readonly string[], signal: AbortSignal) => {
  let check = () => {};
  const done = new Promise<void>((resolve) => {
    check = () => void (uids.every((uid) => !states.has(uid)) && resolve());
  });
  waits.add(check);
  check();
  await untilAborted(done, signal).finally(() => waits.delete(check));
};
const start = () => {
  const { clock, files, logind } = host;
  const record = createShutdownRecord({ files, log: silentLog, metrics: createMetrics() }, "/var/lib/kubelet");
  const workers = { update, state: (uid: string) => states.get(uid), states: () => states, untilFinished };
  const shutdown = createNodeShutdown(
    {
      clock,
      files,
      logind,
      timeline,
      log: silentLog,
      workers,
      notice,
      record,
      isEveryPodTakenUp: () => isTakenUp,
      recordNodeEvent: ({ reason, message }) => void told.push(`${reason}: ${message}`),
      flush: async () => void told.push(`flushed while ${logind.held} delay is held`),
    },
    PERIODS,
  );
  running = shutdown.run(stopping.signal);
};
const readState = async (): Promise<unknown> => JSON.parse((await host.files.read(STATE, 1_000)).toString());

beforeEach(async () => {
  host = createFakeHost();
  timeline = createTimeline(host.clock);
  host.logind.fail(undefined);
  host.logind.inhibitDelayMs = 30_000;
  await host.files.makeDirectory("/var/lib/kubelet", 0o755);
  notice = createShutdownNotice();
  states = new Map();
  kills = [];
  told = [];
  isTakenUp = true;
  waits = new Set();
  stopping = new AbortController();
});
afterEach(async () => {
  stopping.abort();
  await running;
  expect([host.logind.held, host.clock.pendingTimers, waits.size]).toEqual([0, 0, 0]);
});

describe("the shutdown of the machine", () => {
  it("is held up from the start on", async () => {
    start();
    await host.clock.settle();
    expect(host.logind.held).toBe(1);
    expect(notice.errors()).toEqual([]);
  });

  it("ends the pods group by group, tells of it, and lets the machine go", async () => {
    add(podOf("web"));
    add(podOf("quick", { terminationGracePeriodSeconds: 5 }));
    add(podOf("proxy", { priority: 2_000_001_000 }));
    start();
    await host.clock.settle();
    host.logind.announce(true);
    await host.clock.settle();
    expect(notice.errors()).toEqual(["node is shutting down"]);
    expect(notice.admit(podOf("late"))).toMatchObject({ reason: "NodeShutdown" });
    expect(kills).toEqual(["web 20", "quick 5"]);
    finish("web");
    await host.clock.advance(1_000);
    expect(kills).toHaveLength(2);
    finish("quick");
    await host.clock.settle();
    expect(kills.slice(2)).toEqual(["proxy 10"]);
    expect(timeline.read("quick")).toMatchObject([
      {
        reason: "NodeShutdown",
        message: "The machine shuts down: the pods of priority 0 and above have 20 s to end",
        causes: [{ reason: "ShutdownAnnounced", at: Date.parse("2026-01-01T00:00:00.000Z") }],
      },
    ]);
    expect(await readState()).toEqual({ startTime: "2026-01-01T00:00:00.000Z", endTime: "0001-01-01T00:00:00Z" });
    finish("proxy");
    await host.clock.settle();
    expect(told).toEqual(["NodeShutdown: Shutdown manager detected shutdown event", "flushed while 1 delay is held"]);
    expect(host.logind.held).toBe(0);
    expect(await readState()).toMatchObject({ endTime: "2026-01-01T00:00:01.000Z" });
  });

  it("takes up the pods of before first, and refuses none of them", async () => {
    isTakenUp = false;
    start();
    await host.clock.settle();
    host.logind.announce(true);
    await host.clock.advance(2_000);
    expect(notice.admit(podOf("web"))).toBeUndefined();
    expect(host.logind.held).toBe(1);
    add(podOf("web"));
    add(podOf("proxy", { priority: 2_000_001_000 }));
    isTakenUp = true;
    await host.clock.advance(100);
    expect(kills).toEqual(["web 20"]);
    expect(notice.isSet()).toBe(true);
    finish("web", "proxy");
    await host.clock.settle();
    expect(host.logind.held).toBe(0);
  });

  it("goes on without pods that nobody tells of in time", async () => {
    isTakenUp = false;
    add(podOf("web"));
    start();
    await host.clock.settle();
    host.logind.announce(true);
    await host.clock.advance(9_900);
    expect(kills).toEqual([]);
    await host.clock.advance(100);
    expect(kills).toEqual(["web 20"]);
    finish("web");
  });

  it("says of each pod why it ended", async () => {
    add(podOf("web"));
    start();
    await host.clock.settle();
    host.logind.announce(true);
    await host.clock.settle();
    const statusOverride = { phase: "Failed", reason: "Terminated", message: MESSAGE, disruption: MESSAGE };
    expect(states.get("web")).toMatchObject({ phase: "terminating", statusOverride });
    finish("web");
  });

  it("leaves to what is being evicted what is said of it", async () => {
    const pod = podOf("greedy");
    add(pod);
    const statusOverride = { phase: "Failed", reason: "Evicted", message: "too much" } as const;
    update({ type: "kill", subject: { kind: "pod", pod }, kill: { evicted: true, statusOverride } });
    start();
    await host.clock.settle();
    host.logind.announce(true);
    await host.clock.settle();
    expect(states.get("greedy")).toMatchObject({ gracePeriodSeconds: 20, statusOverride });
    finish("greedy");
  });

  it("waits for no group longer than its time", async () => {
    add(podOf("stuck"));
    add(podOf("proxy", { priority: 2_000_001_000 }));
    start();
    await host.clock.settle();
    host.logind.announce(true);
    await host.clock.advance(19_999);
    expect(kills).toEqual(["stuck 20"]);
    await host.clock.advance(1);
    expect(kills).toEqual(["stuck 20", "proxy 10"]);
    expect(timeline.read("stuck").map(({ reason }) => reason)).toEqual(["NodeShutdown", "ShutdownTimeOut"]);
    await host.clock.advance(10_000);
    expect(host.logind.held).toBe(0);
  });

  it("that is called off ends no further pods, and the next one is held up again", async () => {
    add(podOf("web"));
    add(podOf("proxy", { priority: 2_000_001_000 }));
    start();
    await host.clock.settle();
    host.logind.announce(true);
    await host.clock.settle();
    host.logind.announce(false);
    await host.clock.settle();
    finish("web");
    await host.clock.advance(60_000);
    expect(kills).toEqual(["web 20"]);
    expect([notice.errors(), host.logind.held]).toEqual([[], 1]);
    host.logind.announce(true);
    await host.clock.settle();
    expect(kills).toEqual(["web 20", "proxy 10"]);
    finish("proxy");
  });

  it("that is called off after all pods had ended is held up again", async () => {
    start();
    await host.clock.settle();
    host.logind.announce(true);
    await host.clock.settle();
    expect(host.logind.held).toBe(0);
    host.logind.announce(false);
    await host.clock.settle();
    expect(host.logind.held).toBe(1);
    expect(told.at(-1)).toBe("NodeShutdown: Shutdown manager detected shutdown cancellation");
  });

  it("is not missed by an agent that starts during it", async () => {
    add(podOf("web"));
    host.logind.announce(true);
    start();
    await host.clock.settle();
    expect(kills).toEqual(["web 20"]);
    finish("web");
  });

  it("is announced once, however often it is said", async () => {
    start();
    await host.clock.settle();
    for (const value of [true, true, true]) host.logind.announce(value);
    await host.clock.settle();
    expect(told.filter((line) => line.startsWith("NodeShutdown"))).toHaveLength(1);
  });
});

describe("logind", () => {
  it("that would not wait long enough is made to", async () => {
    host.logind.inhibitDelayMs = 5_000;
    host.logind.onReload = () => {
      host.clock.setTimer(250, () => {
        host.logind.inhibitDelayMs = 30_000;
      });
    };
    start();
    await host.clock.advance(1_000);
    const text = (await host.files.read(LOGIND_CONF, 1_000)).toString();
    expect(text).toBe("# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=30\n");
    expect(host.logind.held).toBe(1);
  });

  it("that keeps its limit is asked again later", async () => {
    host.logind.inhibitDelayMs = 5_000;
    start();
    await host.clock.advance(1_500);
    expect(host.logind.held).toBe(0);
    host.logind.inhibitDelayMs = 30_000;
    await host.clock.advance(1_500);
    expect(host.logind.held).toBe(1);
  });

  it("that is not there is looked for again, ever more rarely, and found when it comes", async () => {
    host.logind.fail("no bus");
    start();
    await host.clock.advance(1_000 + 2_000 + 4_000);
    host.logind.fail(undefined);
    await host.clock.advance(7_999);
    expect(host.logind.held).toBe(0);
    await host.clock.advance(1);
    expect(host.logind.held).toBe(1);
  });

  it("whose bus goes away is watched again", async () => {
    start();
    await host.clock.settle();
    host.logind.loseBus();
    await host.clock.settle();
    expect(host.logind.held).toBe(0);
    await host.clock.advance(1_000);
    expect(host.logind.held).toBe(1);
    host.logind.announce(true);
    await host.clock.settle();
    expect(notice.errors()).toHaveLength(1);
  });

  it("whose bus goes away during a shutdown is asked what became of it: pods go on ending", async () => {
    add(podOf("web"));
    add(podOf("proxy", { priority: 2_000_001_000 }));
    start();
    await host.clock.settle();
    host.logind.announce(true);
    await host.clock.settle();
    host.logind.loseBus();
    await host.clock.advance(1_000);
    finish("web");
    await host.clock.settle();
    expect(kills).toEqual(["web 20", "web 20", "proxy 10"]);
    finish("proxy");
    expect(told.filter((line) => line.startsWith("NodeShutdown"))).toHaveLength(1);
  });

  it("whose bus goes away during a shutdown that is called off meanwhile takes pods again", async () => {
    add(podOf("web"));
    start();
    await host.clock.settle();
    host.logind.announce(true);
    await host.clock.settle();
    host.logind.loseBus();
    host.logind.announce(false);
    await host.clock.advance(1_000);
    expect([notice.errors(), host.logind.held]).toEqual([[], 1]);
    finish("web");
  });
});
