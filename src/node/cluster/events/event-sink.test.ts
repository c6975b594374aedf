import { describe, expect, it } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { Pod } from "../../../api/gen/types.ts";
import { silentLog } from "../../../base/log.ts";
import { createSeededRandom } from "../../../base/random.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { KubeUnreachableError } from "../../../kube/port.ts";
import { createFakeEventsApi } from "./__fixtures__/fake-events-api.ts";
import { createEventSink } from "./event-sink.ts";

const SECOND = 1_000;
const away = async () => {
  throw new KubeUnreachableError("unreachable", "connect ECONNREFUSED");
};

function createRig(options: { qps?: number; burst?: number } = {}) {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  const api = createFakeEventsApi();
  const logged: string[] = [];
  const note = (message: string) => void logged.push(message);
  const pods = new Map<string, Pod>();
  const sink = createEventSink(
    {
      client: api.client,
      clock,
      random: createSeededRandom(1),
      log: { ...silentLog, error: note, warn: note },
      timeline,
      apiPodOf: (uid) => pods.get(uid),
    },
    { nodeName: "node-1", qps: 0, burst: 0, ...options },
  );
  const stopping = new AbortController();
  let ended = false;
  return {
    clock,
    api,
    sink,
    pods,
    logged,
    record: (message: string, { pod = "web", reason = "Pulled" } = {}) =>
      timeline.record({ uid: `uid-${pod}`, name: pod, namespace: "shop" }, { type: "Normal", reason, message }),
    async start() {
      const run = sink.run(stopping.signal).then(() => {
        ended = true;
      });
      await clock.settle();
      return run;
    },
    stop: () => stopping.abort(),
    hasEnded: () => ended,
  };
}

/** Creates a rig and starts it. */
async function startRig(options?: { qps?: number; burst?: number }) {
  const rig = createRig(options);
  void rig.start();
  await rig.clock.settle();
  return rig;
}

describe("what is recorded", () => {
  it("is created once and patched when it is repeated", async () => {
    const { record, clock, api } = await startRig();
    record("a");
    await clock.settle();
    record("a");
    await clock.settle();
    expect(api.told()).toEqual(["Pulled ×2 a"]);
    expect(api.calls().map((call) => call.split(" ")[0])).toEqual(["create", "patch(strategic)"]);
  });

  it("before the sink runs is sent when it does", async () => {
    const rig = createRig();
    rig.record("early");
    rig.sink.recordNode({ type: "Normal", reason: "Starting", message: "Starting kubelet." });
    void rig.start();
    await rig.clock.settle();
    expect(rig.api.told()).toEqual(["Pulled ×1 early", "Starting ×1 Starting kubelet."]);
  });

  it("names the container's field of the pod that is known", async () => {
    const rig = await startRig();
    rig.pods.set("uid-web", {
      metadata: { uid: "uid-web", resourceVersion: "5" },
      spec: { containers: [], initContainers: [{ name: "setup" }] },
    });
    rig.record("a");
    await rig.clock.settle();
    const [event] = rig.api.stored.values();
    expect(event?.["involvedObject"]).toMatchObject({ uid: "uid-web", resourceVersion: "5" });
  });

  it("of our own inner affairs is not told", async () => {
    const { record, clock, api } = await startRig();
    record("could not remove an old sandbox", { reason: "FailedRemoval" });
    record("Error syncing pod", { reason: "FailedSync" });
    await clock.settle();
    expect(api.calls()).toEqual([]);
  });
});

it.each([
  ["FailedPreStopHook", "PreStopHook failed"],
  ["FailedPostStartHook", "PostStartHook failed"],
])("%s says nothing of what the hook printed: it may be secret", async (reason, message) => {
  const { record, clock, api } = await startRig();
  record(`${message}: exit 1, stderr: password=hunter2`, { reason });
  await clock.settle();
  expect(api.told()).toEqual([`${reason} ×1 ${message}`]);
});

describe("a repeated event that the server has forgotten", () => {
  it("is created again with its count", async () => {
    const { record, clock, api } = await startRig();
    record("a");
    await clock.settle();
    const [name] = api.stored.keys();
    api.stored.clear();
    record("a");
    await clock.settle();
    expect(api.told()).toEqual(["Pulled ×2 a"]);
    expect([...api.stored.keys()]).toEqual([name]);
  });
});

describe("a server that refuses", () => {
  const refusals: Array<[string, ApiError, number]> = [
    ["an invalid event", new ApiError("Invalid", "Event is invalid"), 1],
    ["for want of a role", new ApiError("Forbidden", "not allowed"), 1],
    [
      "because the namespace goes",
      new ApiError("Forbidden", "being terminated", {
        causes: [{ reason: "NamespaceTerminating", message: "x", field: "metadata.namespace" }],
      }),
      0,
    ],
    ["an event that exists", new ApiError("AlreadyExists", "exists"), 0],
  ];
  it.each(refusals)("%s is asked once, and the next event is sent", async (_what, refusal, warnings) => {
    const { record, clock, api, logged } = await startRig();
    api.hooks.before = async () => {
      api.hooks.before = async () => {};
      throw refusal;
    };
    record("a");
    record("b");
    await clock.settle();
    expect(api.told()).toEqual(["Pulled ×1 b"]);
    expect(logged).toEqual(Array.from({ length: warnings }, () => "Server rejected event (will not retry!)"));
  });

  it("for now is asked again when it said", async () => {
    const { record, clock, api } = await startRig();
    api.hooks.before = async () => {
      throw new ApiError("TooManyRequests", "slow down", { retryAfterSeconds: 30 });
    };
    record("a");
    await clock.settle();
    api.hooks.before = async () => {};
    await clock.advance(29 * SECOND);
    expect(api.told()).toEqual([]);
    await clock.advance(SECOND);
    expect(api.told()).toEqual(["Pulled ×1 a"]);
  });
});

describe("a server that is away", () => {
  it("is asked 12 times, ten seconds apart, for one event, which is then given up", async () => {
    const { record, clock, api, logged } = await startRig();
    api.hooks.before = away;
    record("a");
    await clock.advance(109 * SECOND + 999);
    expect(api.calls().length).toBeGreaterThanOrEqual(11);
    await clock.advance(11 * SECOND);
    expect(logged.at(-1)).toBe("Unable to write event (retry limit exceeded!)");
    expect(logged).toHaveLength(12);
    api.hooks.before = async () => {};
    record("a");
    await clock.settle();
    expect(api.told()).toEqual(["Pulled ×2 a"]);
  });

  it("leaves one write for an event however often it happened meanwhile", async () => {
    const { record, clock, api } = await startRig();
    api.hooks.before = away;
    record("first");
    await clock.settle();
    for (let time = 0; time < 5; time++) record("again");
    api.calls();
    api.hooks.before = async () => {};
    await clock.advance(10 * SECOND);
    expect(api.told()).toEqual(["Pulled ×1 first", "Pulled ×5 again"]);
    expect(api.calls()).toHaveLength(2);
  });

  it("gets the first thousand events; what comes then is dropped and counted, and said once", async () => {
    const { record, clock, api, sink, logged } = await startRig();
    api.hooks.before = away;
    record("head", { pod: "head" });
    await clock.settle();
    for (let pod = 0; pod < 1_010; pod++) record("a", { pod: `pod-${pod}` });
    expect(sink.dropped).toBe(10);
    expect(logged.filter((message) => message.includes("too many queued events"))).toHaveLength(1);
    api.hooks.before = async () => {};
    await clock.advance(10 * SECOND);
    expect(api.stored.size).toBe(1_001);
  });

  it("that did the write and lost its answer has the event once", async () => {
    const { record, clock, api, logged } = await startRig();
    api.hooks.after = away;
    record("a");
    await clock.settle();
    api.hooks.after = async () => {};
    record("b");
    await clock.advance(10 * SECOND);
    expect(api.told()).toEqual(["Pulled ×1 a", "Pulled ×1 b"]);
    expect(logged).toEqual(["Unable to write event (may retry after sleeping)"]);
  });
});

describe("the rate of calls", () => {
  it("is limited by itself", async () => {
    const { record, clock, api } = await startRig({ qps: 2, burst: 3 });
    for (let pod = 0; pod < 7; pod++) record("a", { pod: `pod-${pod}` });
    await clock.settle();
    expect(api.stored.size).toBe(3);
    await clock.advance(SECOND);
    expect(api.stored.size).toBe(5);
    await clock.advance(SECOND);
    expect(api.stored.size).toBe(7);
  });
});

describe("flush", () => {
  it("waits for what is queued", async () => {
    const { record, clock, api, sink } = await startRig({ qps: 1, burst: 1 });
    record("a");
    record("b");
    let flushed = false;
    void sink.flush(60 * SECOND).then(() => {
      flushed = true;
    });
    await clock.settle();
    expect(flushed).toBe(false);
    await clock.advance(SECOND);
    expect([flushed, api.stored.size, clock.pendingTimers]).toEqual([true, 2, 0]);
  });

  it("gives up in time when the server is away", async () => {
    const { record, clock, api, sink } = await startRig();
    api.hooks.before = away;
    record("a");
    let flushed = false;
    void sink.flush(2 * SECOND).then(() => {
      flushed = true;
    });
    await clock.advance(2 * SECOND - 1);
    expect(flushed).toBe(false);
    await clock.advance(1);
    expect(flushed).toBe(true);
  });

  it("ends with the sink, and at once when it does not run", async () => {
    const rig = createRig();
    rig.record("a");
    await rig.sink.flush(60 * SECOND);
    void rig.start();
    rig.api.hooks.before = away;
    await rig.clock.settle();
    const flushed = rig.sink.flush(60 * SECOND);
    rig.stop();
    await flushed;
    await rig.clock.settle();
    expect(rig.clock.pendingTimers).toBe(0);
  });
});

describe("the end", () => {
  it.each([
    ["while it waits", async () => {}],
    ["while it is told that the server is away", away],
  ])("comes %s, and nothing is left", async (_when, before) => {
    const rig = await startRig();
    rig.api.hooks.before = before;
    rig.record("a");
    await rig.clock.settle();
    rig.stop();
    await rig.clock.settle();
    expect([rig.hasEnded(), rig.clock.pendingTimers]).toEqual([true, 0]);
    rig.api.calls();
    rig.record("late");
    await rig.clock.advance(60 * SECOND);
    expect(rig.api.calls()).toEqual([]);
  });
});
