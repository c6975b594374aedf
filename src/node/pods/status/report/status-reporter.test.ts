import { describe, expect, it } from "vitest";
import { ApiError, forbiddenError, invalidError } from "../../../../api/api-error.ts";
import type { Pod, PodStatus } from "../../../../api/gen/types.ts";
import { createMetrics } from "../../../../base/metrics.ts";
import { apiPod, createReporterRig, mirrorPod, staticPod } from "./__fixtures__/reporter-rig.ts";

type Rig = ReturnType<typeof createReporterRig>;

async function setUp(pods: Pod[] = [apiPod("a")], options?: Parameters<typeof createReporterRig>[0]): Promise<Rig> {
  const rig = createReporterRig(options);
  await rig.add(...pods);
  void rig.start();
  return rig;
}

const phaseOf = (rig: Rig, name = "a") => rig.api.get(name)?.status?.phase;
const withStatus = (change: (status: PodStatus) => PodStatus) => (pod: Pod) => ({
  ...pod,
  status: change(pod.status ?? {}),
});

describe("a change", () => {
  it("is one patch of what is different, without a read before it", async () => {
    const rig = await setUp([apiPod("a", { status: { phase: "Pending", qosClass: "BestEffort" } })]);
    rig.statuses.set(apiPod("a"), { phase: "Running", startTime: "2026-01-01T00:00:00Z" });
    await rig.clock.advance(100);
    expect(rig.api.requests).toEqual(["patch a"]);
    expect(rig.api.patches).toEqual([
      {
        metadata: { uid: "uid-a", resourceVersion: "101" },
        status: { phase: "Running", startTime: "2026-01-01T00:00:00Z" },
      },
    ]);
    expect(rig.api.get("a")?.status).toMatchObject({ phase: "Running", qosClass: "BestEffort" });
  });

  it("that the API knows already is not sent", async () => {
    const status = { phase: "Running", startTime: "2026-01-01T00:00:00Z", conditions: [] };
    const rig = await setUp([apiPod("a", { status })]);
    rig.statuses.set(apiPod("a", { status }), { phase: "Running" });
    await rig.clock.advance(100);
    expect(rig.api.requests).toEqual([]);
  });

  it("is sent at once, on top of an answer that the watch has not brought yet", async () => {
    const rig = await setUp();
    rig.api.watchDelayMs = 60_000;
    rig.statuses.set(apiPod("a"), { phase: "Pending", reason: "R" });
    await rig.clock.advance(100);
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(100);
    expect(rig.api.patches).toHaveLength(2);
    expect(rig.api.requests).toEqual(["patch a", "patch a"]);
    expect(rig.api.get("a")?.status).not.toHaveProperty("reason");
  });

  it("while a request is under way waits for it, and only the newest is sent", async () => {
    const rig = await setUp();
    rig.statuses.set(apiPod("a"), { phase: "Pending", message: "1" });
    await rig.clock.advance(1);
    for (const message of ["2", "3", "4"]) rig.statuses.set(apiPod("a"), { phase: "Pending", message });
    await rig.clock.advance(100);
    expect(rig.api.patches).toHaveLength(2);
    expect(rig.api.get("a")?.status?.message).toBe("4");
    expect(rig.api.violations).toEqual([]);
  });

  it("of many pods is sent for many at once, but not for all", async () => {
    const names = Array.from({ length: 50 }, (_, index) => `p${index}`);
    const rig = await setUp(
      names.map((name) => apiPod(name)),
      { maxConcurrent: 16 },
    );
    for (const name of names) rig.statuses.set(apiPod(name), { phase: "Running" });
    await rig.clock.advance(40);
    expect(rig.api.mostAtOnce).toBe(16);
    expect(names.filter((name) => phaseOf(rig, name) === "Running")).toHaveLength(50);
  });

  it("from before the sender ran is sent when it runs", async () => {
    const rig = createReporterRig();
    await rig.add(apiPod("a"));
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    void rig.start();
    await rig.clock.advance(100);
    expect(phaseOf(rig)).toBe("Running");
  });

  it("is measured from when it came about", async () => {
    const metrics = createMetrics();
    const rig = await setUp([apiPod("a")], { metrics });
    rig.api.fault = () => (rig.api.requests.length === 1 ? "lost" : undefined);
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(2_000);
    const text = await metrics.render();
    expect(text).toContain("kubelet_pod_status_sync_duration_seconds_count 1");
    expect(text).toContain('kubelet_pod_status_sync_duration_seconds_bucket{le="1"} 0');
    expect(text).toContain('kubelet_pod_status_sync_duration_seconds_bucket{le="5"} 1');
  });
});

describe("what others write", () => {
  it("over the node's status is written back", async () => {
    const rig = await setUp();
    rig.statuses.set(apiPod("a"), { phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }] });
    await rig.clock.advance(100);
    rig.api.change(
      "a",
      withStatus(() => ({ phase: "Unknown", reason: "NodeLost" })),
    );
    await rig.clock.advance(100);
    expect(rig.api.get("a")?.status).toMatchObject({ phase: "Running", podIPs: [{ ip: "10.0.0.1" }] });
    expect(rig.api.get("a")?.status).not.toHaveProperty("reason");
    // Nothing is left to be said: the echo of our own patch is no change.
    const sent = rig.api.requests.length;
    await rig.clock.advance(60_000);
    expect(rig.api.requests).toHaveLength(sent);
  });

  it("of a phase, that is final, in the moment of a patch is seen and stays", async () => {
    const rig = await setUp();
    rig.api.watchDelayMs = 60_000;
    rig.api.change(
      "a",
      withStatus((status) => ({ ...status, phase: "Failed", reason: "PodGC" })),
    );
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(100);
    expect(rig.api.requests.slice(0, 2)).toEqual(["patch a", "get a"]);
    expect(rig.api.get("a")?.status).toMatchObject({ phase: "Failed", reason: "PodGC" });
    expect(rig.api.violations).toEqual([]);
  });

  it.each<[string, (rig: Rig) => void]>([
    [
      "by a webhook",
      (rig) => {
        let messages = 0;
        rig.api.decode = (status) => (messages++ % 2 === 0 ? { ...status, message: "x" } : { ...status, reason: "y" });
      },
    ],
    [
      "by a controller",
      (rig) => {
        const { onWatch } = rig.api;
        rig.api.onWatch = (name) => {
          if (phaseOf(rig) === "Running")
            rig.api.change(
              name,
              withStatus((status) => ({ ...status, phase: "Pending" })),
            );
          onWatch(name);
        };
      },
    ],
  ])("each time we write, %s, is answered ever more slowly", async (_, contest) => {
    const rig = await setUp();
    contest(rig);
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(300_000);
    const patches = () => rig.api.patches.length;
    expect(patches()).toBeGreaterThan(7);
    expect(patches()).toBeLessThan(20);
    // What is new is sent at once all the same.
    const before = patches();
    rig.statuses.set(apiPod("a"), { phase: "Running", podIP: "10.0.0.1" });
    await rig.clock.advance(100);
    expect(patches()).toBeGreaterThan(before);
    expect(rig.api.get("a")?.status?.podIP).toBe("10.0.0.1");
  });

  it("keeps nothing of a pod that is forgotten meanwhile", async () => {
    const rig = await setUp();
    let messages = 0;
    rig.api.decode = (status) => (messages++ % 2 === 0 ? { ...status, message: "x" } : { ...status, reason: "y" });
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(1_500);
    expect(rig.reporter.podUids()).toEqual(["uid-a"]);
    rig.reporter.forget("uid-a");
    await rig.clock.advance(60_000);
    expect(rig.reporter.podUids()).toEqual([]);
  });

  it("now and then is written back at once", async () => {
    const rig = await setUp();
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    for (let time = 0; time < 5; time++) {
      await rig.clock.advance(120_000);
      rig.api.change(
        "a",
        withStatus((status) => ({ ...status, phase: "Unknown" })),
      );
      await rig.clock.advance(20);
      expect(phaseOf(rig)).toBe("Running");
    }
  });
});

describe("failures", () => {
  it("are retried ever more slowly, for each pod on its own, up to half a minute", async () => {
    const rig = await setUp([apiPod("a"), apiPod("b")]);
    const refusal = forbiddenError({ group: "", resource: "pods" }, "a", "not now");
    const times: number[] = [];
    rig.api.fault = (request) => {
      if (request !== "patch a") return undefined;
      times.push(rig.clock.monotonic());
      return refusal;
    };
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    rig.statuses.set(apiPod("b"), { phase: "Running" });
    await rig.clock.advance(200_000);
    expect(phaseOf(rig, "b")).toBe("Running");
    const gaps = times.slice(1).map((time, index) => Math.floor((time - (times[index] ?? 0)) / 1_000));
    for (const [index, least] of [1, 2, 4, 8, 16, 30, 30].entries()) {
      expect(gaps[index]).toBeGreaterThanOrEqual(least);
      expect(gaps[index]).toBeLessThanOrEqual(least * 1.3);
    }
    rig.api.fault = () => undefined;
    await rig.clock.advance(40_000);
    expect(phaseOf(rig)).toBe("Running");
  });

  it("of an outage end for all pods soon after the API is back", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
    const rig = await setUp(names.map((name) => apiPod(name)));
    rig.api.fault = () => "lost";
    for (const name of names) rig.statuses.set(apiPod(name), { phase: "Running" });
    await rig.clock.advance(600_000);
    const during = rig.api.requests.length;
    // About four requests a second, however many pods wait.
    expect(during).toBeLessThan(600 * 6);
    rig.api.fault = () => undefined;
    await rig.clock.advance(2_000);
    expect(names.filter((name) => phaseOf(rig, name) === "Running")).toHaveLength(30);
  });

  it("of one pod's requests do not end its wait whenever another pod's succeed", async () => {
    const rig = await setUp([apiPod("a"), apiPod("b")]);
    rig.api.fault = (request) => (request === "patch a" ? "lost" : undefined);
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    for (let message = 0; message < 100; message++) {
      rig.statuses.set(apiPod("b"), { phase: "Running", message: String(message) });
      await rig.clock.advance(500);
    }
    expect(rig.api.requests.filter((request) => request === "patch a").length).toBeLessThan(40);
    expect(rig.api.get("b")?.status?.message).toBe("99");
  });

  it("whose request was done all the same are found out", async () => {
    const rig = await setUp();
    rig.api.fault = () => (rig.api.requests.length === 1 ? "unheard" : undefined);
    rig.statuses.set(apiPod("a"), { phase: "Running", reason: "R" });
    await rig.clock.advance(8);
    // Back to what the API had before the answer was lost.
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(3_000);
    expect(phaseOf(rig)).toBe("Running");
    expect(rig.api.get("a")?.status).not.toHaveProperty("reason");
  });

  it("by a conflict make the pod be read once", async () => {
    const rig = await setUp();
    rig.api.fault = () =>
      rig.api.requests.length === 1 ? new ApiError("Conflict", "the object has been modified") : undefined;
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(100);
    expect(rig.api.requests).toEqual(["patch a", "get a", "patch a"]);
    expect(phaseOf(rig)).toBe("Running");
  });
});

describe("another pod of the same name", () => {
  it("is never told of", async () => {
    const rig = await setUp();
    rig.api.watchDelayMs = 60_000;
    rig.api.remove("a");
    rig.api.put(apiPod("a", { uid: "uid-other" }));
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(30_000);
    expect(rig.api.requests).toEqual(["patch a", "get a"]);
    expect(phaseOf(rig)).toBe("Pending");
    // Nor when the watch shows it.
    await rig.clock.advance(60_000);
    rig.statuses.set(apiPod("a"), { phase: "Failed" });
    await rig.clock.advance(1_000);
    expect(rig.api.requests).toHaveLength(2);
  });

  it("is not looked for when the pod is gone", async () => {
    const rig = await setUp();
    rig.api.watchDelayMs = 60_000;
    rig.api.remove("a");
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(1_000);
    rig.statuses.set(apiPod("a"), { phase: "Failed" });
    await rig.clock.advance(1_000);
    expect(rig.api.requests).toEqual(["patch a"]);
  });
});

describe("a finished pod", () => {
  const finish = (rig: Rig, pod: Pod) => {
    rig.statuses.set(pod, { phase: "Running" });
    rig.statuses.terminate(pod);
    rig.reporter.finished(pod);
    rig.statuses.remove(pod.metadata?.uid ?? "");
  };

  it("that is to be deleted goes after its last status", async () => {
    const pod = apiPod("a", { deleted: true });
    const rig = await setUp([pod]);
    finish(rig, pod);
    await rig.clock.advance(100);
    expect(rig.api.requests).toEqual(["patch a", "delete a"]);
    expect(rig.api.get("a")).toBeUndefined();
    expect(rig.api.violations).toEqual([]);
  });

  it("stays where nobody deletes it, until somebody does", async () => {
    const rig = await setUp();
    finish(rig, apiPod("a"));
    await rig.clock.advance(1_000);
    expect(rig.api.requests).toEqual(["patch a"]);
    rig.api.change("a", (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:01Z" },
    }));
    await rig.clock.advance(1_000);
    expect(rig.api.get("a")).toBeUndefined();
  });

  it.each(["lost", "unheard", "timed-out"] as const)(
    "is deleted until it is gone, also when a request is %s",
    async (fault) => {
      const pod = apiPod("a", { deleted: true });
      const rig = await setUp([pod]);
      rig.api.fault = () => (rig.api.requests.length < 5 ? fault : undefined);
      finish(rig, pod);
      await rig.clock.advance(120_000);
      expect(rig.api.get("a")).toBeUndefined();
      expect(rig.api.violations).toEqual([]);
    },
  );

  it("does not take another of its name with it", async () => {
    const pod = apiPod("a", { deleted: true, status: { phase: "Failed" } });
    const rig = await setUp([pod]);
    rig.api.watchDelayMs = 60_000;
    rig.api.remove("a");
    rig.api.put(apiPod("a", { uid: "uid-other" }));
    rig.reporter.finished(pod);
    await rig.clock.advance(120_000);
    expect(rig.api.get("a")?.metadata?.uid).toBe("uid-other");
    expect(rig.api.requests).toEqual(["delete a", "get a"]);
  });

  it("goes although its status is not valid", async () => {
    const pod = apiPod("a", { deleted: true, status: { phase: "Succeeded" } });
    const rig = await setUp([pod]);
    const invalid = invalidError({ group: "", kind: "Pod" }, "a", [{ path: "status", message: "no" }]);
    rig.api.fault = (request) => (request === "patch a" ? invalid : undefined);
    rig.statuses.set(pod, { phase: "Succeeded", message: "x", podIP: "bad" });
    rig.reporter.finished(pod);
    await rig.clock.advance(5_000);
    expect(rig.api.requests).toEqual(["patch a", "get a", "patch a", "delete a"]);
  });
});

describe("a static pod", () => {
  const pod = staticPod("a");

  it("is told of to its mirror, whenever that comes, and to each that follows", async () => {
    const rig = await setUp([]);
    rig.statuses.set(pod, { phase: "Running" });
    await rig.clock.advance(1_000);
    expect(rig.api.requests).toEqual([]);
    await rig.add(mirrorPod("a", "m1"));
    await rig.clock.advance(100);
    expect(phaseOf(rig)).toBe("Running");
    rig.api.remove("a");
    await rig.add(mirrorPod("a", "m2"));
    await rig.clock.advance(100);
    expect(rig.api.get("a")).toMatchObject({ metadata: { uid: "m2" }, status: { phase: "Running" } });
    expect(rig.api.requests).toEqual(["patch a", "patch a"]);
  });

  it("is not told of to a pod that is no mirror", async () => {
    const rig = await setUp([apiPod("a")]);
    rig.statuses.set(pod, { phase: "Running" });
    await rig.clock.advance(1_000);
    expect(rig.api.requests).toEqual([]);
  });

  it("that has finished does not delete its mirror", async () => {
    const mirror = mirrorPod("a", "m1");
    const rig = await setUp([
      { ...mirror, metadata: { ...mirror.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
    ]);
    rig.statuses.set(pod, { phase: "Running", message: "last words" });
    rig.reporter.finished(pod);
    await rig.clock.advance(1_000);
    expect(rig.api.requests).toEqual(["patch a"]);
    expect(rig.api.get("a")?.status?.message).toBe("last words");
  });
});

describe("a static pod that comes back under its UID", () => {
  it.each([0, 3, 8, 100])("is told of again, also %i ms after its end", async (afterMs) => {
    const pod = staticPod("a");
    const rig = await setUp([mirrorPod("a", "m1")]);
    rig.statuses.set(pod, { phase: "Running", message: "last words" });
    rig.reporter.finished(pod);
    rig.statuses.remove("uid-a");
    await rig.clock.advance(afterMs);
    rig.statuses.set(pod, { phase: "Running", message: "anew" });
    await rig.clock.advance(100);
    expect(rig.api.get("a")?.status?.message).toBe("anew");
    rig.api.change(
      "a",
      withStatus((status) => ({ ...status, message: "overwritten" })),
    );
    await rig.clock.advance(100);
    expect(rig.api.get("a")?.status?.message).toBe("anew");
  });
});

describe("a pod that is forgotten", () => {
  it("is not sent any more, also while it is retried", async () => {
    const rig = await setUp();
    rig.api.fault = () => "lost";
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(5_000);
    rig.statuses.remove("uid-a");
    rig.reporter.forget("uid-a");
    rig.api.fault = () => undefined;
    await rig.clock.advance(120_000);
    expect(phaseOf(rig)).toBe("Pending");
    rig.statuses.set(apiPod("a"), { phase: "Failed" });
    await rig.clock.advance(100);
    expect(phaseOf(rig)).toBe("Failed");
  });
});

describe("shutdown", () => {
  it("waits for what is to be sent, retries included, and no longer than it may", async () => {
    const rig = await setUp([apiPod("a"), apiPod("b")]);
    rig.api.fault = () => "lost";
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(20_000);
    rig.api.fault = (request) => (request === "patch b" ? "lost" : undefined);
    rig.statuses.set(apiPod("b"), { phase: "Running" });
    let isFlushed = false;
    void rig.reporter.flush(5_000).then(() => {
      isFlushed = true;
    });
    await rig.clock.advance(100);
    expect(phaseOf(rig)).toBe("Running");
    expect(isFlushed).toBe(false);
    await rig.clock.advance(5_000);
    expect(isFlushed).toBe(true);
  });

  it("is over at once when nothing waits", async () => {
    const rig = await setUp();
    await rig.reporter.flush(5_000);
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it("leaves nothing behind, and what it interrupted can still be flushed", async () => {
    const rig = createReporterRig();
    await rig.add(apiPod("a"));
    const run = rig.start();
    rig.statuses.set(apiPod("a"), { phase: "Running" });
    await rig.clock.advance(1);
    rig.stop();
    await run;
    expect(rig.clock.pendingTimers).toBe(0);
    expect(phaseOf(rig)).toBe("Pending");
    const flush = rig.reporter.flush(5_000);
    await rig.clock.advance(100);
    await flush;
    expect(phaseOf(rig)).toBe("Running");
    expect(rig.clock.pendingTimers).toBe(0);
  });
});
