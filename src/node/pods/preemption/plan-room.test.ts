import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { computeRequests } from "../../../api/pod-requests.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { planRoom, type Requirement } from "./plan-room.ts";

type Amounts = Record<string, string>;

interface Sort {
  readonly requests?: Amounts;
  readonly limits?: Amounts;
  readonly priority?: number;
  readonly isStatic?: boolean;
}

function makePod(uid: string, { requests, limits, priority, isStatic = false }: Sort = {}): Pod {
  const annotations = { [CONFIG_SOURCE_ANNOTATION]: isStatic ? "file" : "api" };
  const resources = { ...(requests && { requests }), ...(limits && { limits }) };
  return {
    metadata: { uid, name: uid, namespace: "ns", annotations },
    spec: { containers: [{ name: "main", resources }], ...(priority !== undefined && { priority }) },
  };
}

const bestEffort = (uid: string) => makePod(uid);
const burstable = (uid: string, cpu: string, memory = "1Mi") => makePod(uid, { requests: { cpu, memory } });
const guaranteed = (uid: string, cpu: string, memory: string) =>
  makePod(uid, { requests: { cpu, memory }, limits: { cpu, memory } });
const CRITICAL = makePod("critical", { isStatic: true });
const need = (...amounts: Array<[string, number]>): Requirement[] =>
  amounts.map(([resource, amount]) => ({ resource, amount: BigInt(amount) }));
const uidsOf = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata?.uid);

interface Case {
  readonly need: readonly Requirement[];
  readonly running?: readonly Pod[];
  readonly leaving?: readonly Pod[];
  readonly preemptor?: Pod;
  readonly victims?: readonly string[];
  readonly awaited?: readonly string[];
  readonly unmet?: readonly Requirement[];
}

describe("room for a critical pod", () => {
  it.each<[string, Case]>([
    [
      "the one that asks for just enough ends, and not the larger one",
      {
        need: need(["cpu", 200]),
        running: [burstable("large", "900m"), burstable("small", "250m")],
        victims: ["small"],
      },
    ],
    [
      "one that suffices rather than two that are smaller",
      {
        need: need(["cpu", 200]),
        running: [burstable("a", "100m"), burstable("b", "100m"), burstable("c", "300m")],
        victims: ["c"],
      },
    ],
    [
      "burstable before guaranteed, however large",
      {
        need: need(["cpu", 100]),
        running: [guaranteed("precious", "100m", "1Mi"), burstable("cheap", "4", "4Gi")],
        victims: ["cheap"],
      },
    ],
    [
      "a guaranteed one only for what the others lack",
      {
        need: need(["cpu", 300]),
        running: [burstable("cheap", "200m"), guaranteed("a", "100m", "1Mi"), guaranteed("b", "2", "1Mi")],
        victims: ["cheap", "a"],
      },
    ],
    [
      "for a place, the best effort first",
      {
        need: need(["pods", 1]),
        running: [burstable("b", "1m"), bestEffort("nothing"), guaranteed("g", "1m", "1Mi")],
        victims: ["nothing"],
      },
    ],
    [
      "for a place and memory, the one that gives both",
      {
        need: need(["pods", 1], ["memory", 1024]),
        running: [bestEffort("nothing"), burstable("b", "1m", "2Ki")],
        victims: ["b"],
      },
    ],
    [
      "nobody whom the others make superfluous: neither alone was nearest",
      {
        need: need(["cpu", 10], ["memory", 10]),
        running: [burstable("both", "9m", "9"), burstable("cpu", "10m", "0"), burstable("memory", "0", "10")],
        victims: ["memory", "cpu"],
      },
    ],
    [
      "a device",
      {
        need: need(["example.com/gpu", 1]),
        running: [burstable("b", "1"), makePod("g", { requests: { "example.com/gpu": "1" } })],
        victims: ["g"],
      },
    ],
    [
      "among equals, the least priority",
      {
        need: need(["pods", 1]),
        running: [makePod("a", { priority: 7 }), makePod("b", { priority: 3 }), makePod("c", { priority: 5 })],
        victims: ["b"],
      },
    ],
    [
      "who is as critical stays, and nobody ends in vain",
      {
        need: need(["cpu", 500]),
        running: [makePod("static", { isStatic: true, requests: { cpu: "1" } }), burstable("b", "300m")],
        unmet: need(["cpu", 200]),
      },
    ],
    [
      "a critical one of less priority goes",
      {
        need: need(["cpu", 500]),
        preemptor: makePod("node", { priority: 2_000_001_000 }),
        running: [makePod("cluster", { priority: 2_000_000_000, requests: { cpu: "1" } })],
        victims: ["cluster"],
      },
    ],
    [
      "who is not critical preempts by priority only",
      {
        need: need(["pods", 1]),
        preemptor: makePod("p", { priority: 5 }),
        running: [makePod("a", { priority: 5 }), makePod("b"), makePod("c", { priority: 4 })],
        victims: ["c"],
      },
    ],
    [
      "what ends anyway is waited for, and nobody else ends",
      {
        need: need(["cpu", 200]),
        running: [burstable("b", "200m")],
        leaving: [makePod("going", { isStatic: true, requests: { cpu: "2" } }), bestEffort("gone soon")],
        awaited: ["going"],
      },
    ],
    [
      "what ends anyway and does not suffice",
      {
        need: need(["cpu", 200], ["pods", 1]),
        running: [burstable("a", "200m"), burstable("b", "100m")],
        leaving: [burstable("going", "100m")],
        awaited: ["going"],
        victims: ["b"],
      },
    ],
    [
      "what ends anyway counts in what is unmet too",
      { need: need(["cpu", 200]), leaving: [burstable("going", "100m")], unmet: need(["cpu", 100]) },
    ],
  ])("%s", (_what, { need: missing, running = [], leaving = [], preemptor = CRITICAL, ...expected }) => {
    const plan = planRoom(preemptor, missing, { running, leaving });
    expect({ victims: uidsOf(plan.victims), awaited: uidsOf(plan.awaited), unmet: plan.unmet }).toEqual({
      victims: expected.victims ?? [],
      awaited: expected.awaited ?? [],
      unmet: expected.unmet ?? [],
    });
  });

  const amount = fc.integer({ min: 0, max: 8 }).map(String);
  const sorts = fc.array(
    fc.record({
      cpu: amount,
      memory: amount,
      isGuaranteed: fc.boolean(),
      isStatic: fc.boolean(),
      leaves: fc.boolean(),
    }),
    { maxLength: 9 },
  );
  const needs = fc.tuple(
    fc.integer({ min: 0, max: 9_000 }),
    fc.integer({ min: 0, max: 9 }),
    fc.integer({ min: 0, max: 3 }),
  );
  const give = (pod: Pod, resource: string) => (resource === "pods" ? 1n : (computeRequests(pod).get(resource) ?? 0n));
  const suffices = (pods: readonly Pod[], missing: readonly Requirement[]) =>
    missing.every((each) => pods.reduce((sum, pod) => sum + give(pod, each.resource), 0n) >= each.amount);

  it("is made wherever it can be, by nobody who is needless, and by no class that a lesser one can spare", () => {
    fc.assert(
      fc.property(sorts, needs, (all, [cpu, memory, pods]) => {
        const missing = need(["cpu", cpu], ["memory", memory], ["pods", pods]).filter((each) => each.amount > 0n);
        const made = all.map(({ leaves, isGuaranteed, isStatic, ...requests }, index) => ({
          leaves,
          pod: makePod(`p${index}`, { requests, isStatic, ...(isGuaranteed && { limits: requests }) }),
        }));
        const leaving = made.filter(({ leaves }) => leaves).map(({ pod }) => pod);
        const running = made.filter(({ leaves }) => !leaves).map(({ pod }) => pod);
        const plan = planRoom(CRITICAL, missing, { running, leaving });
        const mayGo = running.filter((_pod, index) => all.filter(({ leaves }) => !leaves)[index]?.isStatic === false);
        const { victims, awaited } = plan;
        expect(plan.unmet.length === 0).toBe(suffices([...leaving, ...mayGo], missing));
        if (plan.unmet.length > 0) {
          expect([victims, awaited]).toEqual([[], []]);
          return;
        }
        expect(suffices([...victims, ...awaited], missing)).toBe(true);
        for (const victim of victims) {
          expect(mayGo).toContain(victim);
          const others = victims.filter((other) => other !== victim);
          expect(suffices([...others, ...leaving], missing)).toBe(false);
        }
        for (const qos of ["Guaranteed", "Burstable"]) {
          const isLess = (pod: Pod) => computeQosClass(pod) !== "Guaranteed" && computeQosClass(pod) !== qos;
          const isSpared = suffices([...leaving, ...mayGo.filter(isLess)], missing);
          if (isSpared) expect(victims.every(isLess)).toBe(true);
        }
      }),
    );
  });
});
