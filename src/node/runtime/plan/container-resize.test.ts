import { describe, expect, test } from "vitest";
import type { Container, Pod, ResourceRequirements } from "../../../api/gen/types.ts";
import { describeActions, makePod, makeRuntimeStatus } from "./__fixtures__/runtime-status.ts";
import { computePodActions } from "./compute-pod-actions.ts";
import { byGrowth, type ContainerResize } from "./container-resize.ts";

const sized = (cpu: string, memory: string): ResourceRequirements => ({
  requests: { cpu, memory },
  limits: { cpu, memory },
});

function makeSized(fields: Partial<Container>): Pod {
  const pod = makePod({ init: ["s*"] });
  const { spec } = pod;
  return {
    ...pod,
    spec: {
      containers: [{ name: "main", image: "main:1", ...fields }],
      ...(spec?.initContainers && {
        initContainers: spec.initContainers.map((each) => ({ ...each, resources: sized("1", "1Mi") })),
      }),
    },
  };
}

function plan(
  fields: Partial<Container>,
  had: Record<string, ResourceRequirements> | undefined,
  main = "main running",
) {
  return computePodActions({
    pod: makeSized(fields),
    status: makeRuntimeStatus([main, "s running"]),
    now: 10_000,
    waitUntil: () => undefined,
    isSameContainer: () => true,
    actuated: had && { containers: had },
    verdictOf: () => ({ started: true, failed: undefined }),
  });
}

const resized = (actions: ReturnType<typeof plan>) => actions.resize?.containers.map(({ container }) => container.name);

describe("a running container", () => {
  const resources = sized("2", "2Mi");
  const same = { main: sized("2000m", "2Mi"), s: sized("1", "1Mi") };
  const other = { main: sized("1", "2Mi"), s: sized("1", "1Mi") };

  test("that has what it was granted, or of which nothing is recorded, is left alone", () => {
    expect(plan({ resources }, same).resize).toBeUndefined();
    expect(plan({ resources }, {}).resize).toBeUndefined();
    expect(plan({ resources }, undefined).resize).toBeUndefined();
  });

  test("that has other resources is resized and runs on, sidecars too", () => {
    expect(resized(plan({ resources }, other))).toEqual(["main"]);
    expect(describeActions(plan({ resources }, other))).toBe("");
    expect(resized(plan({ resources }, { ...same, s: sized("1", "2Mi") }))).toEqual(["s"]);
  });

  test("that initializes its pod, and is no sidecar, is resized while it runs", () => {
    const pod = makePod({ init: ["i"] });
    const { initContainers: [init] = [], containers = [] } = pod.spec ?? {};
    const actions = computePodActions({
      pod: { ...pod, spec: { containers, ...(init && { initContainers: [{ ...init, resources }] }) } },
      status: makeRuntimeStatus(["i running"]),
      now: 10_000,
      waitUntil: () => undefined,
      isSameContainer: () => true,
      actuated: { containers: { i: sized("1", "1Mi") } },
      verdictOf: () => ({ started: true, failed: undefined }),
    });
    expect(resized(actions)).toEqual(["i"]);
    expect(describeActions(actions)).toBe("");
  });

  test.each([
    ["cpu", "stop main-0; start main#1"],
    ["memory", ""],
  ])("starts anew where the policy of the resource that changed says so: %s", (resourceName, expected) => {
    const resizePolicy = [{ resourceName, restartPolicy: "RestartContainer" }];
    const actions = plan({ resources, resizePolicy }, other);
    expect(describeActions(actions)).toBe(expected);
    expect(actions.resize).toEqual(expected === "" ? expect.anything() : { containers: [] });
  });

  test("that has ended is started, not resized", () => {
    const actions = plan({ resources }, other, "main exited:1");
    expect(actions.resize).toBeUndefined();
    expect(describeActions(actions)).toBe("start main#1");
  });
});

test("a container without a limit of its own follows its pod's", () => {
  const pod = makeSized({});
  const input = {
    pod: { ...pod, spec: { containers: [{ name: "main" }], resources: sized("2", "2Mi") } },
    status: makeRuntimeStatus(["main running"]),
    now: 10_000,
    waitUntil: () => undefined,
    isSameContainer: () => true,
    actuated: { containers: { main: {} }, pod: sized("1", "2Mi") },
    verdictOf: () => ({ started: true, failed: undefined }),
  };
  expect(computePodActions(input).resize?.containers).toMatchObject([
    { from: { cpuLimit: 1_000n }, to: { cpuLimit: 2_000n } },
  ]);
});

test.each([
  ["was granted resources as a whole for the first time", { main: {} }, true],
  ["is not known to have got any", undefined, false],
])("a pod that %s is resized (%s)", (_what, containers, isDue) => {
  const limits = { requests: { cpu: "1" }, limits: { cpu: "1", memory: "1Mi" } };
  const pod = makeSized({ resources: limits });
  const own = pod.spec?.containers ?? [];
  const input = {
    pod: { ...pod, spec: { containers: own, resources: sized("2", "2Mi") } },
    status: makeRuntimeStatus(["main running"]),
    now: 10_000,
    waitUntil: () => undefined,
    isSameContainer: () => true,
    actuated: containers && { containers: { main: limits } },
    verdictOf: () => ({ started: true, failed: undefined }),
  };
  expect(computePodActions(input).resize).toEqual(isDue ? { containers: [] } : undefined);
});

test("of several resizes those that give back come first", () => {
  const make = (id: string, before: bigint, after: bigint): ContainerResize => {
    const amounts = (cpuLimit: bigint) => ({ cpuRequest: 0n, cpuLimit, memoryRequest: 0n, memoryLimit: 0n });
    return { id, container: { name: id }, from: amounts(before), to: amounts(after) };
  };
  const all = [make("grows", 1n, 3n), make("shrinks", 3n, 1n), make("grows-less", 1n, 2n)];
  expect(all.sort(byGrowth("cpu")).map(({ id }) => id)).toEqual(["shrinks", "grows-less", "grows"]);
});
