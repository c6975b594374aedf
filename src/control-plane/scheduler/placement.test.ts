import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cluster, nodeInfo, type PodOptions, pending, placed } from "./__fixtures__/objects.ts";
import type { NodeInfo } from "./cluster.ts";
import { createFitCheck } from "./fit.ts";
import { type Placement, planPlacement } from "./placement.ts";
import type { PodInfo } from "./pod-info.ts";
import type { Budget } from "./preemption.ts";

interface Situation {
  nodes: readonly NodeInfo[];
  nominated?: readonly PodInfo[];
  budgets?: readonly Budget[];
}

function place(pod: PodOptions, { nodes, nominated = [], budgets = [] }: Situation): Placement {
  return planPlacement({ pod: pending(pod), cluster: cluster(nodes), nominated, readBudgets: () => budgets });
}

function messageOf(placement: Placement): string {
  return placement.kind === "wait" ? placement.message : `on ${placement.nodeName}`;
}

const important = { priority: 1_000, requests: { cpu: "2" } };
const NOT_READY = { spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] } };

describe("what is said of a pod that fits nowhere", () => {
  test.each<[string, PodOptions, NodeInfo[], string]>([
    ["no nodes", {}, [], "no nodes available to schedule pods"],
    [
      "too large",
      { requests: { cpu: "9" } },
      [nodeInfo()],
      "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    ],
    [
      "no room, and nobody less important",
      { requests: { cpu: "2" } },
      [nodeInfo({}, [placed("a", { requests: { cpu: "3" } })])],
      "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    ],
    [
      "several nodes, each with its reasons",
      { requests: { cpu: "5", memory: "16Gi" } },
      [nodeInfo(), nodeInfo({ name: "n2" }), nodeInfo({ name: "n3", ...NOT_READY })],
      "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu, 2 Insufficient memory. " +
        "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
    ],
    [
      "not allowed to send others away",
      { ...important, preemptionPolicy: "Never" },
      [nodeInfo({}, [placed("a", { requests: { cpu: "3" } })])],
      "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.",
    ],
    [
      "a missing claim",
      { volumes: [{ name: "d", persistentVolumeClaim: { claimName: "data" } }] },
      [nodeInfo()],
      '0/1 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    ],
    [
      "sending others away is not enough",
      { ...important, requests: { cpu: "4" } },
      [
        nodeInfo({}, [
          placed("a", { requests: { cpu: "1" } }),
          placed("b", { requests: { cpu: "1" }, priority: 2_000 }),
        ]),
      ],
      "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Insufficient cpu.",
    ],
  ])("%s", (_case, pod, nodes, expected) => {
    expect(messageOf(place(pod, { nodes }))).toBe(expected);
  });

  test("what may help it is what its filters name", () => {
    const waiting = place(
      { requests: { cpu: "9" } },
      { nodes: [nodeInfo({ name: "n1" }), nodeInfo({ name: "n2", ...NOT_READY })] },
    );
    expect(waiting.kind === "wait" && [...waiting.helpedBy].sort()).toEqual(["node", "pod-gone"]);
  });
});

describe("of several nodes that fit", () => {
  const full = placed("a", { requests: { cpu: "3", memory: "4Gi" } });
  const soft = { spec: { taints: [{ key: "a", effect: "PreferNoSchedule" }] } };
  const preferring = (topologyKey: string, kind: "podAffinity" | "podAntiAffinity"): PodOptions => ({
    affinity: {
      [kind]: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 10, podAffinityTerm: { topologyKey, labelSelector: { matchLabels: { app: "web" } } } },
        ],
      },
    },
  });
  const web = placed("web", { labels: { app: "web" } });
  test.each<[string, PodOptions, NodeInfo[], string]>([
    ["the first, where all are alike", {}, [nodeInfo({ name: "a" }), nodeInfo({ name: "b" })], "a"],
    ["the emptier", {}, [nodeInfo({ name: "a" }, [full]), nodeInfo({ name: "b" })], "b"],
    ["the more welcoming", {}, [nodeInfo({ name: "a", ...soft }), nodeInfo({ name: "b" }, [full])], "b"],
    [
      "the preferred",
      {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }] } },
            ],
          },
        },
      },
      [nodeInfo({ name: "a" }), nodeInfo({ name: "b", labels: { disk: "ssd" } }, [full])],
      "b",
    ],
    [
      "near its friends",
      preferring("kubernetes.io/hostname", "podAffinity"),
      [nodeInfo({ name: "a" }), nodeInfo({ name: "b" }, [web])],
      "b",
    ],
    [
      "away from others",
      preferring("kubernetes.io/hostname", "podAntiAffinity"),
      [nodeInfo({ name: "a" }, [web]), nodeInfo({ name: "b" })],
      "b",
    ],
    [
      "where room was made for it",
      { status: { nominatedNodeName: "b" } },
      [nodeInfo({ name: "a" }), nodeInfo({ name: "b" }, [full])],
      "b",
    ],
  ])("%s", (_case, pod, nodes, expected) => {
    expect(messageOf(place(pod, { nodes }))).toBe(`on ${expected}`);
  });
});

describe("room that was promised to others", () => {
  const promised = (priority: number) => [
    placed("other", { nodeName: "", requests: { cpu: "3" }, priority, status: { nominatedNodeName: "n1" } }),
  ];
  test.each([
    [
      "is kept from the less important",
      2_000,
      "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    ],
    ["is not kept from the more important", 0, "on n1"],
  ])("%s", (_case, priority, expected) => {
    expect(messageOf(place(important, { nodes: [nodeInfo()], nominated: promised(priority) }))).toBe(expected);
  });
});

describe("who makes room", () => {
  const victimsOf = (placement: Placement) => {
    if (placement.kind !== "wait" || placement.preemption === undefined) return messageOf(placement);
    return [placement.nominatedNode, ...placement.preemption.victims.map(({ name }) => name)].join(" ");
  };
  const small = (name: string, options: PodOptions = {}) => placed(name, { requests: { cpu: "1" }, ...options });
  const started = (time: string): PodOptions => ({ status: { startTime: time } });

  test.each<[string, NodeInfo[], string]>([
    [
      "as few as will do, the least important first",
      [nodeInfo({}, [small("a", { priority: 5 }), small("b"), small("c"), small("d", { priority: 5 })])],
      "n1 b c",
    ],
    [
      "of equals, who runs shortest",
      [
        nodeInfo({ allocatable: { cpu: "3" } }, [
          small("a", started("2026-01-01T02:00:00Z")),
          small("b", started("2026-01-01T01:00:00Z")),
          small("c", started("2026-01-01T00:00:00Z")),
        ]),
      ],
      "n1 b a",
    ],
    [
      "on the node with less important pods",
      [
        nodeInfo({ name: "n1", allocatable: { cpu: "2" } }, [small("a", { priority: 5 })]),
        nodeInfo({ name: "n2", allocatable: { cpu: "2" } }, [small("b")]),
      ],
      "n2 b",
    ],
    [
      "on the node with fewer",
      [
        nodeInfo({ name: "n1", allocatable: { cpu: "2" } }, [small("a"), small("b")]),
        nodeInfo({ name: "n2", allocatable: { cpu: "2" } }, [small("c")]),
      ],
      "n2 c",
    ],
    [
      "nobody on a node that is not ready",
      [
        nodeInfo({ ...NOT_READY, allocatable: { cpu: "2" } }, [small("a")]),
        nodeInfo({ name: "n2", allocatable: { cpu: "2" } }, [small("b")]),
      ],
      "n2 b",
    ],
  ])("%s", (_case, nodes, expected) => {
    expect(victimsOf(place(important, { nodes }))).toBe(expected);
  });

  const budget = (allowed: number, disrupted: string[] = []): Budget => ({
    namespace: "default",
    allowed,
    disrupted: new Set(disrupted),
    protects: ({ app }) => app === "db",
  });
  const nodes = [
    nodeInfo({ allocatable: { cpu: "3" } }, [small("db", { labels: { app: "db" } }), small("web", { priority: 1 })]),
  ];
  test.each<[string, Budget[], string]>([
    ["nobody whom a budget keeps, where another will do", [budget(0)], "n1 web"],
    ["whom a budget can spare", [budget(1)], "n1 db"],
    ["whose disruption is counted already", [budget(0, ["db"])], "n1 db"],
    ["whom a budget of another namespace keeps", [{ ...budget(0), namespace: "other" }], "n1 db"],
  ])("%s", (_case, budgets, expected) => {
    expect(victimsOf(place(important, { nodes, budgets }))).toBe(expected);
  });

  test("also whom a budget keeps, where nobody else will do", () => {
    const pods = [small("db", { labels: { app: "db" } })];
    const situation = { nodes: [nodeInfo({ allocatable: { cpu: "2" } }, pods)], budgets: [budget(0)] };
    expect(victimsOf(place(important, situation))).toBe("n1 db");
  });

  test("waits for those who are on their way already", () => {
    const conditions = [{ type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" }];
    const leaving = small("a", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, status: { conditions } });
    const waiting = place(
      { ...important, status: { nominatedNodeName: "n1" } },
      { nodes: [nodeInfo({ allocatable: { cpu: "2" } }, [leaving])] },
    );
    expect(waiting).toMatchObject({
      nominatedNode: "n1",
      preemption: undefined,
      message:
        "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to a terminating pod on the nominated node.",
    });
  });

  test("a promise that cannot be kept is taken back", () => {
    const waiting = place({ ...important, status: { nominatedNodeName: "n1" } }, { nodes: [nodeInfo(NOT_READY)] });
    expect(waiting).toMatchObject({ nominatedNode: "", preemption: undefined });
  });

  test("whoever it is, the pod fits without them, and without any one of them it would not", () => {
    const pods = fc.array(
      fc.record({ cpu: fc.integer({ min: 1, max: 4 }), priority: fc.integer({ min: 0, max: 12 }) }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(pods, fc.integer({ min: 1, max: 8 }), (others, cpu) => {
        const infos = others.map((other, index) =>
          placed(`p${index}`, { priority: other.priority, requests: { cpu: String(other.cpu) } }),
        );
        const node = nodeInfo({ allocatable: { cpu: "8" } }, infos);
        const wanting = { priority: 10, requests: { cpu: String(cpu) } };
        const placement = place(wanting, { nodes: [node] });
        if (placement.kind !== "wait" || placement.preemption === undefined) return;
        const { victims } = placement.preemption;
        const fitsWithout = (gone: readonly PodInfo[]) => {
          const rest = nodeInfo(
            { allocatable: { cpu: "8" } },
            infos.filter((info) => !gone.includes(info)),
          );
          return createFitCheck(pending(wanting), cluster([rest]), [])(rest) === undefined;
        };
        expect(victims.every(({ priority }) => priority < 10)).toBe(true);
        expect(fitsWithout(victims)).toBe(true);
        for (const spared of victims) expect(fitsWithout(victims.filter((victim) => victim !== spared))).toBe(false);
      }),
    );
  });
});
