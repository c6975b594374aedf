import { describe, expect, test } from "vitest";
import type { Node, Taint } from "../../api/gen/types.ts";
import { computeNodeTaints, type EvictionState } from "./node-taints.ts";

const NOW = "2026-01-01T00:00:00Z";

function node(conditions: Record<string, string>, taints: string[] = [], unschedulable = false): Node {
  return {
    metadata: { name: "n1" },
    spec: { taints: taints.map(taintOf), ...(unschedulable && { unschedulable }) },
    status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
  };
}

/** A taint written as `not-ready:NoSchedule`. A key with a dot is somebody else's. */
function taintOf(text: string): Taint {
  const [key = "", effect = ""] = text.split(":");
  return { key: key.includes(".") ? key : `node.kubernetes.io/${key}`, effect };
}

function computed(of: Node, eviction: EvictionState): string[] | undefined {
  return computeNodeTaints(of, eviction, NOW)?.map(
    ({ key, effect }) => `${key.replace("node.kubernetes.io/", "")}:${effect}`,
  );
}

describe("a node's taints", () => {
  const READY = { Ready: "True" };
  test.each<[string, Node, EvictionState, string[] | undefined]>([
    ["ready", node(READY), "allowed", undefined],
    ["ready again", node(READY, ["not-ready:NoSchedule", "not-ready:NoExecute"]), "allowed", []],
    ["reachable again", node(READY, ["unreachable:NoSchedule", "unreachable:NoExecute"]), "allowed", []],
    ["not ready", node({ Ready: "False" }), "allowed", ["not-ready:NoSchedule", "not-ready:NoExecute"]],
    ["silent", node({ Ready: "Unknown" }), "allowed", ["unreachable:NoSchedule", "unreachable:NoExecute"]],
    ["not ready, while nothing is given up", node({ Ready: "False" }), "held", ["not-ready:NoSchedule"]],
    [
      "silent, and given up before as not ready",
      node({ Ready: "Unknown" }, ["not-ready:NoSchedule", "not-ready:NoExecute"]),
      "held",
      ["unreachable:NoSchedule", "unreachable:NoExecute"],
    ],
    [
      "given up, while all nodes are",
      node({ Ready: "Unknown" }, ["unreachable:NoSchedule", "unreachable:NoExecute"]),
      "withdrawn",
      ["unreachable:NoSchedule"],
    ],
    ["new", node({}, ["not-ready:NoSchedule"]), "allowed", undefined],
    ["new, and nobody tainted it", node({}), "allowed", undefined],
    ["short of memory", node({ ...READY, MemoryPressure: "True" }), "allowed", ["memory-pressure:NoSchedule"]],
    ["short of disk", node({ ...READY, DiskPressure: "True" }), "allowed", ["disk-pressure:NoSchedule"]],
    ["short of processes", node({ ...READY, PIDPressure: "True" }), "allowed", ["pid-pressure:NoSchedule"]],
    [
      "without a network",
      node({ ...READY, NetworkUnavailable: "True" }),
      "allowed",
      ["network-unavailable:NoSchedule"],
    ],
    ["of unknown memory", node({ ...READY, MemoryPressure: "Unknown" }), "allowed", undefined],
    [
      "no longer short of memory",
      node({ ...READY, MemoryPressure: "False" }, ["memory-pressure:NoSchedule"]),
      "allowed",
      [],
    ],
    ["cordoned", node(READY, [], true), "allowed", ["unschedulable:NoSchedule"]],
    ["uncordoned", node(READY, ["unschedulable:NoSchedule"]), "allowed", []],
    [
      "with taints of others",
      node({ Ready: "False" }, ["a.b:NoSchedule"]),
      "held",
      ["a.b:NoSchedule", "not-ready:NoSchedule"],
    ],
    [
      "with taints of ours and another effect",
      node(READY, ["memory-pressure:NoExecute", "unschedulable:NoExecute"]),
      "allowed",
      undefined,
    ],
  ])("%s", (_case, of, eviction, expected) => {
    expect(computed(of, eviction)).toEqual(expected);
  });

  test("say since when, and keep saying it", () => {
    const [added] = computeNodeTaints(node({ Ready: "False" }), "held", NOW) ?? [];
    expect(added?.timeAdded).toBe(NOW);
    const before: Taint = {
      key: "node.kubernetes.io/not-ready",
      effect: "NoSchedule",
      timeAdded: "2025-01-01T00:00:00Z",
    };
    const tainted = { ...node({ Ready: "False", PIDPressure: "True" }), spec: { taints: [before] } };
    expect(computeNodeTaints(tainted, "held", NOW)?.[0]).toEqual(before);
  });
});
