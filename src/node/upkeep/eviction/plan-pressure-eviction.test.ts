import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isCriticalPod } from "../../../api/pods.ts";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import { candidateOf, type Sort } from "./__fixtures__/candidates.ts";
import { type EvictionQuestion, planPressureEviction } from "./plan-pressure-eviction.ts";
import type { Candidate } from "./rank-pods.ts";

const MIB = 1024 ** 2;
const HARD: EvictionThreshold = {
  signal: "memory.available",
  value: { kind: "quantity", quantity: "100Mi" },
  gracePeriodMs: 0,
  minReclaim: undefined,
};
const SOFT: EvictionThreshold = { ...HARD, gracePeriodMs: 60_000 };

const ask = (candidates: readonly Candidate[], more: Partial<EvictionQuestion> = {}) => {
  const threshold = more.threshold ?? HARD;
  return planPressureEviction({
    threshold,
    due: [threshold],
    observations: new Map([[threshold.signal, { available: 48 * 1024, capacity: 8 * 1024 * MIB, at: 0 }]]),
    layout: { isDedicated: false, isSplit: false },
    candidates,
    maxPodGracePeriodSeconds: 0,
    ...more,
  });
};

describe("an eviction", () => {
  it("is told in upstream's words, with who took more than it asked for", () => {
    const plan = ask([candidateOf("greedy", { memory: 1024 * MIB, memoryRequest: "0.25Gi" })]);
    expect(plan?.message).toBe(
      "The node was low on resource: memory. Threshold quantity: 100Mi, available: 48Ki. " +
        "Container main was using 1Gi, request is 256Mi, has larger consumption of memory. ",
    );
    expect(plan?.annotations).toEqual({
      offending_containers: "main",
      offending_containers_usage: "1Gi",
      starved_resource: "memory",
    });
    expect(plan?.gracePeriodSeconds).toBe(1);
  });

  it("blames nobody who is within his request, and no container where nothing is known of any", () => {
    const start = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 48Ki. ";
    const within = ask([candidateOf("modest", { memory: MIB, memoryRequest: "1Mi" })]);
    expect([within?.message, within?.annotations["offending_containers"]]).toEqual([start, ""]);
    const unmeasured = ask([candidateOf("unknown", { isUnmeasured: true }), candidateOf("known", { memory: MIB })]);
    expect([unmeasured?.victim.metadata?.name, unmeasured?.message, unmeasured?.annotations]).toEqual([
      "unknown",
      start,
      {},
    ]);
  });

  it("names the pod as a whole where it has a request of its own", () => {
    const { pod, usage } = candidateOf("whole", { memory: 3 * MIB, memoryRequest: "4Mi" });
    const whole = {
      ...pod,
      spec: { ...pod.spec, containers: pod.spec?.containers ?? [], resources: { requests: { memory: "2Mi" } } },
    };
    const plan = ask([{ pod: whole, usage }]);
    expect(plan?.message).toContain("Pod whole was using 3Mi, request is 2Mi, has larger consumption of memory. ");
    expect(plan?.annotations).toMatchObject({ offending_pod: "whole", offending_pod_usage: "3Mi" });
  });

  it("for the disk counts layers and logs together, and blames only where both are known", () => {
    const threshold: EvictionThreshold = { ...HARD, signal: "nodefs.available", value: { kind: "share", share: 0.5 } };
    const known = ask([candidateOf("both", { layer: 2 * MIB, logs: MIB })], { threshold });
    expect(known?.message).toBe(
      "The node was low on resource: ephemeral-storage. Threshold quantity: 4Gi, available: 48Ki. " +
        "Container main was using 3Mi, request is 0, has larger consumption of ephemeral-storage. ",
    );
    const half = ask([candidateOf("half", { layer: 2 * MIB })], { threshold });
    expect(half?.message).not.toContain("Container");
  });

  it.each<[string, EvictionThreshold, number, number | undefined, number]>([
    ["hard: a second, whatever is allowed", HARD, 90, 30, 1],
    ["soft: what is allowed", SOFT, 20, 30, 20],
    ["soft: the pod's own, where that is less", SOFT, 90, 30, 30],
    ["soft: what is allowed, of a pod that says nothing", SOFT, 20, undefined, 20],
    ["soft: the pod's own, where any is allowed", SOFT, -1, 45, 45],
    ["soft: none by default", SOFT, 0, 30, 0],
  ])("gives time: %s", (_what, threshold, maxPodGracePeriodSeconds, graceSeconds, expected) => {
    const candidate = candidateOf("pod", { memory: MIB, ...(graceSeconds && { graceSeconds }) });
    expect(ask([candidate], { threshold, maxPodGracePeriodSeconds })?.gracePeriodSeconds).toBe(expected);
  });

  it("is explained: the signal, the threshold, what was seen, the place and against whom", () => {
    const sorts: Array<[string, Sort]> = [
      ["static", { isStatic: true, memory: 900 * MIB }],
      ["greedy", { memory: 500 * MIB, memoryRequest: "100Mi", priority: 3 }],
      ["modest", { memory: 5 * MIB, memoryRequest: "10Mi" }],
    ];
    const plan = ask(sorts.map(([name, sort]) => candidateOf(name, sort)));
    expect(plan?.explanation).toBe(
      "memory.available: 48Ki is left, below the hard threshold of 100Mi. " +
        "Place 2 of 3; 1 before it critical: uses 500Mi, more than its request of 100Mi, priority 3. " +
        "After it: ns/modest (uses 5Mi, within its request of 10Mi, priority 0).",
    );
    expect(plan?.spared.map(({ metadata }) => metadata?.name)).toEqual(["static"]);
  });

  it("is of one pod, never a critical one, and of none that another comes before in the order", () => {
    const sort = fc.record({
      priority: fc.constantFrom(-5, 0, 5, 1_000_000_000, 2_000_000_000, 2_000_001_000),
      isStatic: fc.boolean(),
      memory: fc.integer({ min: 0, max: 100 }),
      memoryRequest: fc.constantFrom("0", "20", "60"),
      isUnmeasured: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(sort, { maxLength: 12 }), (sorts) => {
        const candidates = sorts.map((each, index) => candidateOf(`p${index}`, each));
        const plan = ask(candidates);
        const mayGo = candidates.filter(({ pod }) => !isCriticalPod(pod));
        expect(plan === undefined).toBe(mayGo.length === 0);
        if (plan === undefined) return;
        const chosen = mayGo.find(({ pod }) => pod === plan.victim);
        expect(chosen).toBeDefined();
        const isOver = ({ pod, usage }: Candidate) =>
          (usage?.memory?.workingSetBytes ?? 0) > Number(pod.spec?.containers[0]?.resources?.requests?.["memory"] ?? 0);
        if (chosen?.usage === undefined) return;
        expect(mayGo.every(({ usage }) => usage !== undefined)).toBe(true);
        if (!isOver(chosen)) expect(mayGo.some(isOver)).toBe(false);
        const peers = mayGo.filter((each) => isOver(each) === isOver(chosen));
        const least = Math.min(...peers.map(({ pod }) => pod.spec?.priority ?? 0));
        expect(plan.victim.spec?.priority ?? 0).toBe(least);
      }),
    );
  });
});
