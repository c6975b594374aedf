import { describe, expect, it } from "vitest";
import type { ContainerState, ContainerStatus, Pod, PodCondition, PodStatus } from "../../../../api/gen/types.ts";
import { computeApiStatus } from "./api-status.ts";

const NOW = Date.parse("2026-01-01T00:01:00Z");
const EARLIER = "2026-01-01T00:00:00Z";

function makePod(more: { restartPolicy?: string; generation?: number; status?: PodStatus } = {}): Pod {
  const { restartPolicy = "Always", generation, status = {} } = more;
  return {
    metadata: { name: "a", namespace: "default", uid: "u", ...(generation === undefined ? {} : { generation }) },
    spec: { restartPolicy, containers: [{ name: "main" }] },
    status,
  };
}

function condition(type: string, status: string, more: Partial<PodCondition> = {}): PodCondition {
  return { type, status, lastTransitionTime: EARLIER, ...more };
}

function main(state: ContainerState, more: Partial<ContainerStatus> = {}): PodStatus {
  return {
    containerStatuses: [{ name: "main", image: "", imageID: "", ready: false, restartCount: 0, state, ...more }],
  };
}

const merged = (own: PodStatus, api: PodStatus, pod: Pod = makePod()) =>
  computeApiStatus({ pod, status: own }, { ...pod, status: api }, NOW);

describe("conditions", () => {
  it("that others own stay as the API has them, whatever copy of them the node has", () => {
    const own = { conditions: [condition("example.com/gate", "False"), condition("PodScheduled", "True")] };
    const api = { conditions: [condition("example.com/gate", "True"), condition("other", "False")] };
    expect(merged(own, api).conditions).toEqual([...api.conditions, condition("PodScheduled", "True")]);
  });

  it("of the node replace the API's where they stand", () => {
    const api = { conditions: [condition("Ready", "False"), condition("other", "True")] };
    const own = { conditions: [condition("PodScheduled", "True"), condition("Ready", "False", { reason: "R" })] };
    expect(merged(own, api).conditions).toMatchObject([
      { type: "Ready", status: "False" },
      { type: "other" },
      { type: "PodScheduled" },
    ]);
  });

  it("that the node does not say any more go", () => {
    expect(merged({ conditions: [] }, { conditions: [condition("Initialized", "True")] }).conditions).toEqual([]);
  });

  it("keep the API's time where they say the same, so that a restart of the agent changes nothing", () => {
    const own = { conditions: [condition("PodScheduled", "True", { lastTransitionTime: "2026-01-01T00:00:59Z" })] };
    expect(merged(own, { conditions: [condition("PodScheduled", "True")] }).conditions).toEqual([
      condition("PodScheduled", "True"),
    ]);
  });

  describe("of a disruption", () => {
    const ours = condition("DisruptionTarget", "True", { reason: "TerminationByKubelet" });
    const others = condition("DisruptionTarget", "False", { reason: "PreemptionByScheduler" });
    it.each<[string, PodStatus, PodStatus, unknown]>([
      ["is not told before the end", { phase: "Running", conditions: [ours] }, { phase: "Running" }, []],
      [
        "is told with the end, as of then",
        { phase: "Failed", conditions: [ours] },
        { phase: "Running" },
        [{ ...ours, lastTransitionTime: "2026-01-01T00:01:00Z" }],
      ],
      [
        "replaces what others said",
        { phase: "Failed", conditions: [ours] },
        { phase: "Running", conditions: [others] },
        [{ ...ours, lastTransitionTime: "2026-01-01T00:01:00Z" }],
      ],
      [
        "by others is not repeated by the node",
        { phase: "Failed", conditions: [{ ...others, status: "True" }] },
        { phase: "Running", conditions: [others] },
        [others],
      ],
      ["that was told stays", { phase: "Failed" }, { phase: "Failed", conditions: [ours] }, [ours]],
    ])("%s", (_, own, api, conditions) => {
      expect(merged(own, api).conditions).toEqual(conditions);
    });
  });
});

describe("what never goes back", () => {
  it.each(["Failed", "Succeeded"])("the phase %s, with its reason", (phase) => {
    const api = { phase, reason: "Evicted", message: "no room" };
    const own = { phase: "Running", conditions: [condition("Ready", "True"), condition("ContainersReady", "True")] };
    expect(merged(own, api)).toMatchObject({
      ...api,
      conditions: [
        { type: "Ready", status: "False" },
        { type: "ContainersReady", status: "False" },
      ],
    });
  });

  it("the end of a container that is not restarted", () => {
    const pod = makePod({ restartPolicy: "Never" });
    const ended = { terminated: { exitCode: 0 } };
    expect(merged(main({ waiting: {} }), main(ended), pod)).toMatchObject(main(ended));
    expect(merged(main({ waiting: {} }), main(ended))).toMatchObject(main({ waiting: {} }));
  });

  it("a restart count, and the start time", () => {
    const api = { ...main({ running: {} }, { restartCount: 3 }), startTime: EARLIER };
    expect(merged({ ...main({ running: {} }), startTime: "2026-01-01T00:00:30Z" }, api)).toMatchObject(api);
  });
});

describe("the end of a pod", () => {
  const EVICTED = { phase: "Failed", reason: "Evicted", message: "too much" } as const;
  const told = (own: PodStatus, api: PodStatus, mayRun: boolean) => {
    const pod = makePod();
    const { phase, reason, message } = computeApiStatus({ pod, status: own, mayRun }, { ...pod, status: api }, NOW);
    return { phase, reason, message };
  };
  const NO_WORDS = { reason: undefined, message: undefined };

  it.each<[string, PodStatus, PodStatus, boolean, object]>([
    [
      "is not told while something of it may run",
      EVICTED,
      { phase: "Running" },
      true,
      { phase: "Running", ...NO_WORDS },
    ],
    [
      "leaves the reason before it as it is",
      EVICTED,
      { phase: "Pending", reason: "R" },
      true,
      { phase: "Pending", reason: "R" },
    ],
    ["is told with its reason when nothing does", EVICTED, { phase: "Running" }, false, EVICTED],
    ["is not taken back where it was told", EVICTED, EVICTED, true, EVICTED],
    ["holds nothing else up", { phase: "Running" }, { phase: "Pending" }, true, { phase: "Running", ...NO_WORDS }],
  ])("%s", (_what, own, api, mayRun, expected) => {
    expect(told(own, api, mayRun)).toMatchObject(expected);
  });

  it("comes with what is said of the disruption, and not after it", () => {
    const disrupted = {
      ...EVICTED,
      conditions: [condition("DisruptionTarget", "True", { reason: "TerminationByKubelet" })],
    };
    const pod = makePod();
    const typesOf = (mayRun: boolean) =>
      computeApiStatus(
        { pod, status: disrupted, mayRun },
        { ...pod, status: { phase: "Running" } },
        NOW,
      ).conditions?.map(({ type }) => type);
    expect([typesOf(true), typesOf(false)]).toEqual([[], ["DisruptionTarget"]]);
  });
});

describe("others' fields", () => {
  it("stay, and are not the node's to set", () => {
    const api = { nominatedNodeName: "n", resourceClaimStatuses: [{ name: "c", resourceClaimName: "c-1" }] };
    expect(merged({ phase: "Running" }, api)).toMatchObject(api);
    expect(merged({ phase: "Running", nominatedNodeName: "old", resourceClaimStatuses: [{ name: "x" }] }, {})).toEqual({
      phase: "Running",
      startTime: "2026-01-01T00:01:00Z",
      conditions: [],
    });
  });

  it("the QoS class is the one that the API fixed", () => {
    expect(merged({ qosClass: "BestEffort" }, { qosClass: "Guaranteed" }).qosClass).toBe("Guaranteed");
    expect(merged({ qosClass: "BestEffort" }, {}).qosClass).toBe("BestEffort");
  });
});

describe("the observed generation", () => {
  it("is the pod's, on the status and on the node's own conditions", () => {
    const api = { conditions: [condition("other", "True"), condition("Ready", "False", { observedGeneration: 1 })] };
    const own = { conditions: [condition("Ready", "False")] };
    expect(merged(own, api, makePod({ generation: 2 }))).toMatchObject({
      observedGeneration: 2,
      conditions: [condition("other", "True"), { type: "Ready", observedGeneration: 2 }],
    });
  });

  it("does not go back, and is absent where the pod has none", () => {
    expect(merged({}, { observedGeneration: 3 }, makePod({ generation: 2 })).observedGeneration).toBe(3);
    expect(merged({}, {})).not.toHaveProperty("observedGeneration");
  });
});
