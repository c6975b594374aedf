import { describe, expect, test } from "vitest";
import type { Node, Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createTasks } from "../../../base/tasks.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { openResourceRecords } from "../../resources/records/resource-records.ts";
import { createPodResizes, rankResizes } from "./pod-resizes.ts";
import { createResizeConditions } from "./resize-conditions.ts";
import { createResizeMetrics } from "./resize-metrics.ts";

interface Shape {
  cpu: string;
  limit?: string;
  priority?: number;
  generation?: number;
}

function makePod(uid: string, { cpu, limit, priority, generation = 1 }: Shape): Pod {
  const requests = { cpu, memory: "1Mi" };
  const limits = limit === undefined ? undefined : { cpu: limit, memory: "1Mi" };
  return {
    metadata: { uid, name: uid, namespace: "default", generation },
    spec: {
      nodeName: "n",
      ...(priority !== undefined && { priority }),
      containers: [{ name: "main", resources: { requests, ...(limits && { limits }) } }],
    },
  };
}

async function createRig() {
  const { files, clock } = createFakeHost();
  await files.makeDirectory("/r", 0o755);
  const tasks = createTasks((_name, error) => {
    throw error;
  });
  const timeline = createTimeline(clock);
  const records = await openResourceRecords({ files, log: silentLog, tasks }, "/r/allocated_pods_state");
  const conditions = createResizeConditions({ clock, timeline, metrics: createMetrics() });
  const node: Node = {
    metadata: { name: "n" },
    status: { allocatable: { cpu: "4", memory: "1Gi", pods: "110" } },
  };
  const synced: string[] = [];
  const sync = (pod: Pod) => void synced.push(podUid(pod));
  const shown = createMetrics();
  const metrics = createResizeMetrics(shown);
  const given = { admit: () => undefined, node: () => node, isNamed: () => true, metrics };
  const resizes = createPodResizes({ records, conditions, sync, ...given });
  /** The pods that are synced after a look at all of them. */
  const review = (pods: readonly Pod[]) => {
    synced.length = 0;
    resizes.review(pods);
    return [...synced];
  };
  const conditionsOf = (uid: string) => conditions.of(uid).map(({ type, reason = "" }) => `${type} ${reason}`.trim());
  const cpuOf = (pod: Pod) => resizes.allocated(pod).spec?.containers[0]?.resources?.requests?.["cpu"];
  const events = (uid: string) =>
    timeline.read(uid).map(({ reason, message }) => `${reason}: ${message}`.replace(/: \{.*/, ""));
  return { clock, resizes, review, conditions, node, conditionsOf, cpuOf, events, shown };
}

describe("a resize", () => {
  test("is granted where there is room, and is in progress then", async () => {
    const { resizes, review, conditionsOf, cpuOf, events } = await createRig();
    resizes.admit(makePod("a", { cpu: "1" }));
    const asked = makePod("a", { cpu: "3", generation: 2 });
    expect(cpuOf(asked)).toBe("1");
    expect(review([asked])).toEqual(["a"]);
    expect(cpuOf(asked)).toBe("3");
    expect(conditionsOf("a")).toEqual(["PodResizeInProgress"]);
    expect(events("a")).toEqual(["ResizeStarted: Pod resize started"]);
    expect(review([asked])).toEqual([]);
  });

  test("waits where others hold what it asks for, told once, until they give it back", async () => {
    const { resizes, review, conditions, conditionsOf, cpuOf, events, shown } = await createRig();
    const other = makePod("b", { cpu: "3" });
    for (const pod of [makePod("a", { cpu: "1" }), other]) resizes.admit(pod);
    const asked = makePod("a", { cpu: "2", generation: 2 });
    expect(review([asked, other])).toEqual(["a"]);
    expect(conditions.of("a")).toMatchObject([
      {
        reason: "Deferred",
        message: "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000",
        observedGeneration: 2,
      },
    ]);
    expect(conditions.pendingUids()).toEqual(["a"]);
    expect(review([asked, other])).toEqual([]);
    expect(events("a")).toEqual(["ResizeDeferred: Pod resize OutOfcpu"]);
    const smaller = makePod("b", { cpu: "1", generation: 2 });
    expect(review([asked, smaller])).toEqual(["b", "a"]);
    expect([cpuOf(asked), cpuOf(smaller)]).toEqual(["2", "1"]);
    expect(conditionsOf("a")).toEqual(["PodResizeInProgress"]);
    const series = 'kubelet_pod_deferred_accepted_resizes_total{retry_trigger="pod_updated"} 1';
    expect(await shown.render()).toContain(series);
  });

  test("that is taken back is pending no longer", async () => {
    const { resizes, review, conditionsOf } = await createRig();
    const pod = makePod("a", { cpu: "1" });
    resizes.admit(pod);
    resizes.review([makePod("a", { cpu: "9", generation: 2 })]);
    expect(conditionsOf("a")).toEqual(["PodResizePending Deferred"]);
    expect(review([pod])).toEqual(["a"]);
    expect(conditionsOf("a")).toEqual([]);
  });

  test("is not granted to a pod only because the agent starts anew", async () => {
    const { resizes, cpuOf } = await createRig();
    resizes.admit(makePod("a", { cpu: "1" }));
    const asked = makePod("a", { cpu: "9", generation: 2 });
    resizes.admit(asked);
    expect(cpuOf(asked)).toBe("1");
    resizes.forget("a");
    expect(cpuOf(asked)).toBe("9");
  });
});

test("resizes are granted in order: what gives back, priority, guaranteed pods, the longest wait", () => {
  const granted = (pod: Pod) => makePod(podUid(pod), { cpu: "1" });
  const since = new Map([
    ["late", 2],
    ["early", 1],
  ]);
  const pods = [
    makePod("new", { cpu: "2" }),
    makePod("late", { cpu: "2" }),
    makePod("early", { cpu: "2" }),
    makePod("guaranteed", { cpu: "2", limit: "2" }),
    makePod("important", { cpu: "2", priority: 5 }),
    makePod("shrinking", { cpu: "500m" }),
  ];
  const ranked = rankResizes(pods, { allocated: granted, pendingSince: (uid) => since.get(uid) });
  expect(ranked.map(podUid)).toEqual(["shrinking", "important", "guaranteed", "early", "late", "new"]);
});

describe("the conditions of a resize", () => {
  test("tell an error once, and its end", async () => {
    const { conditions, conditionsOf, events } = await createRig();
    const pod = makePod("a", { cpu: "1" });
    conditions.start(pod);
    for (let round = 0; round < 2; round++) {
      conditions.observe(pod, true);
      conditions.fail(pod, "no");
    }
    expect(conditionsOf("a")).toEqual(["PodResizeInProgress Error"]);
    conditions.observe(pod, false);
    expect(conditionsOf("a")).toEqual([]);
    expect(events("a")).toEqual([
      "ResizeStarted: Pod resize started",
      "ResizeError: Pod resize error",
      "ResizeCompleted: Pod resize completed",
    ]);
  });

  test("are taken over from the API server by an agent that comes after", async () => {
    const { conditions, conditionsOf } = await createRig();
    const shown = { type: "PodResizePending", status: "True", reason: "Deferred", message: "m" };
    conditions.adopt({ ...makePod("a", { cpu: "1" }), status: { conditions: [shown] } });
    expect(conditionsOf("a")).toEqual(["PodResizePending Deferred"]);
  });

  test("the event has the resources that are asked for, in upstream's form", async () => {
    const { clock, conditions } = await createRig();
    const timeline = createTimeline(clock);
    const told = createResizeConditions({ clock, timeline, metrics: createMetrics() });
    told.pend(makePod("a", { cpu: "5", generation: 2 }), { reason: "OutOfcpu", message: "why" });
    expect(timeline.read("a")[0]?.message).toBe(
      'Pod resize OutOfcpu: {"containers":[{"name":"main","resources":{"requests":{"cpu":"5","memory":"1Mi"}}}],"generation":2,"error":"why"}',
    );
    expect(conditions.of("a")).toEqual([]);
  });
});
