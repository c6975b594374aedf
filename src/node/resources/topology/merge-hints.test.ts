import { describe, expect, it } from "vitest";
import { type MergePolicy, mergeHints, type NumaHint } from "./merge-hints.ts";
import { countNumaNodes, isNarrower, listNumaMasks, listNumaNodes, numaMaskOf } from "./numa-mask.ts";

const on = (...nodes: number[]): NumaHint => ({ nodes: numaMaskOf(nodes), isPreferred: true });
const alsoOn = (...nodes: number[]): NumaHint => ({ nodes: numaMaskOf(nodes), isPreferred: false });

interface Case {
  readonly resources: ReadonlyArray<readonly NumaHint[] | undefined>;
  /** The nodes of the best hint; undefined where any will do. */
  readonly nodes: readonly number[] | undefined;
  readonly isPreferred: boolean;
  readonly machine?: number;
}

function policyOf(policy: MergePolicy["policy"], machine = 2): MergePolicy {
  return { policy, nodes: Array.from({ length: machine }, (_, node) => node), distances: undefined };
}

/** The cases are those of upstream's tables (pkg/kubelet/cm/topologymanager/policy_test.go). */
const COMMON: ReadonlyArray<readonly [string, Case]> = [
  ["no resource", { resources: [], nodes: [0, 1], isPreferred: true }],
  ["a resource that does not care", { resources: [undefined], nodes: [0, 1], isPreferred: true }],
  ["a resource that is nowhere", { resources: [[]], nodes: [0, 1], isPreferred: false }],
  ["one hint", { resources: [[on(0)]], nodes: [0], isPreferred: true }],
  ["two hints of one resource", { resources: [[on(0), on(1)]], nodes: [0], isPreferred: true }],
  ["two resources that agree", { resources: [[on(1)], [on(1)]], nodes: [1], isPreferred: true }],
  ["a common one of two", { resources: [[on(0)], [on(0), on(1)]], nodes: [0], isPreferred: true }],
  ["two resources that contradict", { resources: [[on(0)], [on(1)]], nodes: [0, 1], isPreferred: false }],
  [
    "a preferred one before a narrower one",
    { resources: [[on(0, 1), alsoOn(0)], [on(0, 1)]], nodes: [0, 1], isPreferred: true },
  ],
  ["one that does not care beside one that does", { resources: [[on(1)], undefined], nodes: [1], isPreferred: true }],
];

describe.each(["best-effort", "restricted"] as const)("%s", (policy) => {
  it.each(COMMON)("finds the best hint with %s", (_what, { resources, nodes, isPreferred }) => {
    const { hint, isAdmitted } = mergeHints(resources, policyOf(policy));
    const found = hint.nodes === undefined ? undefined : listNumaNodes(hint.nodes);
    expect({ nodes: found, isPreferred: hint.isPreferred }).toEqual({ nodes, isPreferred });
    expect(isAdmitted).toBe(policy === "best-effort" || isPreferred);
  });

  it("takes as many nodes as the most demanding resource needs, where nothing is preferred", () => {
    const resources = [
      [alsoOn(0, 1), alsoOn(0, 1, 2, 3)],
      [alsoOn(0), alsoOn(0, 1), alsoOn(0, 1, 2, 3)],
    ];
    const { hint } = mergeHints(resources, policyOf(policy, 4));
    expect(listNumaNodes(hint.nodes ?? 0n)).toEqual([0, 1]);
  });

  it("takes the closer ones of two sets of nodes, where distances matter", () => {
    const far = (from: number, to: number) => (from === to ? 10 : Math.abs(from - to) === 2 ? 12 : 30);
    const nodes = [0, 1, 2, 3];
    const distances = new Map(nodes.map((from) => [from, new Map(nodes.map((to) => [to, far(from, to)]))]));
    const resources = [[on(0, 1), on(0, 2), on(1, 3)]];
    const best = (merge: MergePolicy) => listNumaNodes(mergeHints(resources, merge).hint.nodes ?? 0n);
    expect(best({ policy, nodes, distances })).toEqual([0, 2]);
    expect(best({ policy, nodes, distances: undefined })).toEqual([0, 1]);
  });
});

describe("single-numa-node", () => {
  it.each<[string, Case & { readonly isAdmitted: boolean }]>([
    ["no resource", { resources: [], nodes: undefined, isPreferred: true, isAdmitted: true }],
    ["one node", { resources: [[on(0), on(1)]], nodes: [0], isPreferred: true, isAdmitted: true }],
    ["a wider one", { resources: [[on(0, 1)]], nodes: undefined, isPreferred: false, isAdmitted: false }],
    [
      "one that is not preferred",
      { resources: [[alsoOn(0)]], nodes: undefined, isPreferred: false, isAdmitted: false },
    ],
    ["a contradiction", { resources: [[on(0)], [on(1)]], nodes: undefined, isPreferred: false, isAdmitted: false }],
    ["nowhere", { resources: [[]], nodes: undefined, isPreferred: false, isAdmitted: false }],
    ["agreement", { resources: [[on(1)], [on(0), on(1)]], nodes: [1], isPreferred: true, isAdmitted: true }],
    [
      "a machine of one node",
      { resources: [[on(0)]], nodes: undefined, isPreferred: true, isAdmitted: true, machine: 1 },
    ],
  ])("judges %s", (_what, { resources, nodes, isPreferred, isAdmitted, machine }) => {
    expect(mergeHints(resources, policyOf("single-numa-node", machine))).toEqual({
      hint: { nodes: nodes && numaMaskOf(nodes), isPreferred },
      isAdmitted,
    });
  });
});

describe("sets of NUMA nodes", () => {
  it("are all sets but the empty one", () => {
    expect(listNumaMasks([0, 2]).map(listNumaNodes)).toEqual([[0], [2], [0, 2]]);
    expect(listNumaMasks([])).toEqual([]);
  });

  it("are narrower with fewer nodes, or with lower ones", () => {
    expect(countNumaNodes(numaMaskOf([1, 63]))).toBe(2);
    expect(isNarrower(numaMaskOf([5]), numaMaskOf([0, 1]))).toBe(true);
    expect(isNarrower(numaMaskOf([0, 1]), numaMaskOf([0, 2]))).toBe(true);
    expect(isNarrower(numaMaskOf([1]), numaMaskOf([1]))).toBe(false);
  });
});
