import { describe, expect, test } from "vitest";
import type { Pod, PodCondition, PodStatus } from "../../../api/gen/types.ts";
import { CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import {
  makeContainer,
  makePod,
  makeRuntimeStatus,
  makeSandbox,
  type PodShape,
} from "../../runtime/plan/__fixtures__/runtime-status.ts";
import { makeStatusInput, NOW } from "./__fixtures__/status-input.ts";
import { computePodStatus } from "./compute-pod-status.ts";
import type { PodStatusInput } from "./pod-status-input.ts";

function compute(shape: PodShape, containers: string[], overrides: Partial<PodStatusInput> = {}): PodStatus {
  return computePodStatus(makeStatusInput(makePod(shape), makeRuntimeStatus(containers), overrides));
}

const conditionOf = (status: PodStatus, type: string) => status.conditions?.find((each) => each.type === type);

describe("the phase", () => {
  type Row = [containers: string, always: string, onFailure: string, never: string];
  const two: Row[] = [
    ["", "Pending", "Pending", "Pending"],
    ["a running", "Pending", "Pending", "Pending"],
    ["a running, b created", "Pending", "Pending", "Pending"],
    ["a running, b running", "Running", "Running", "Running"],
    ["a running, b exited:1", "Running", "Running", "Running"],
    ["a exited:0, b exited:0", "Running", "Succeeded", "Succeeded"],
    ["a exited:0, b exited:1", "Running", "Running", "Failed"],
    ["a exited:1, b exited:1", "Running", "Running", "Failed"],
    ["a exited:1", "Pending", "Pending", "Pending"],
  ];
  const cases = two.flatMap(([containers, ...phases]) =>
    ["Always", "OnFailure", "Never"].map((policy, index) => [containers, policy, phases[index]] as const),
  );
  test.each(cases)("of two containers [%s] under %s: %s", (containers, restartPolicy, phase) => {
    const list = containers === "" ? [] : containers.split(", ");
    expect(compute({ restartPolicy, main: ["a", "b"] }, list).phase).toBe(phase);
  });

  test.each<[name: string, policy: string, containers: string[], phase: string]>([
    ["an init container runs", "Always", ["i running"], "Pending"],
    ["an init container failed and will be restarted", "Always", ["i exited:1"], "Pending"],
    ["an init container failed for good", "Never", ["i exited:1"], "Failed"],
    ["the init container is done, the sidecar to come", "Always", ["i exited:0"], "Pending"],
    ["the sidecar runs, main to come", "Always", ["s running", "i exited:0"], "Pending"],
    ["all run", "Always", ["main running", "s running", "i exited:0"], "Running"],
    ["a sidecar restarts", "Always", ["main running", "s exited:1", "i exited:0"], "Running"],
    ["a sidecar was lost, main runs on", "Always", ["main running", "s created", "i exited:0"], "Pending"],
    ["main is done, the sidecar still runs", "Never", ["main exited:0", "s running", "i exited:0"], "Running"],
    ["main and the sidecar are done", "Never", ["main exited:0", "s exited:137", "i exited:0"], "Succeeded"],
    ["main failed, the sidecar is done", "Never", ["main exited:1", "s exited:0", "i exited:0"], "Failed"],
  ])("with an init container and a sidecar: %s", (_name, restartPolicy, containers, phase) => {
    expect(compute({ restartPolicy, init: ["i", "s*"] }, containers).phase).toBe(phase);
  });

  test("an init container that waits for its restart under Never has failed", () => {
    const previous: PodStatus = {
      initContainerStatuses: [
        {
          name: "i",
          image: "i:1",
          imageID: "",
          ready: false,
          restartCount: 0,
          state: { waiting: { reason: "PodInitializing" } },
          lastState: { terminated: { exitCode: 137 } },
        },
      ],
    };
    expect(compute({ restartPolicy: "Never", init: ["i"] }, [], { previous }).phase).toBe("Failed");
  });

  test("becomes terminal with the pod, whatever the policy, but not for a static pod", () => {
    const terminated = { workerPhase: "terminated" } as const;
    expect(compute({}, ["main exited:0"], terminated).phase).toBe("Succeeded");
    expect(compute({}, ["main exited:137"], terminated).phase).toBe("Failed");
    const pod = makePod({});
    const metadata = { ...pod.metadata, annotations: { [CONFIG_SOURCE_ANNOTATION]: "file" } };
    const input = makeStatusInput({ ...pod, metadata }, makeRuntimeStatus(["main exited:137"]), terminated);
    expect(computePodStatus(input).phase).toBe("Running");
  });

  test("never leaves a terminal one, and keeps its reason", () => {
    const previous: PodStatus = {
      phase: "Failed",
      reason: "Evicted",
      message: "The node was low on resource: memory.",
    };
    expect(compute({}, ["main running"], { previous })).toMatchObject(previous);
    const stored: Pod = { ...makePod({}), status: { phase: "Succeeded" } };
    expect(computePodStatus(makeStatusInput(stored, makeRuntimeStatus(["main running"]))).phase).toBe("Succeeded");
  });

  test("an override decides over the containers, but not over an end that was published", () => {
    const override = { phase: "Failed", reason: "DeadlineExceeded", message: "Pod was active too long" } as const;
    expect(compute({}, ["main running"], { override })).toMatchObject(override);
    const done: PodStatus = { phase: "Succeeded" };
    const status = compute({}, ["main exited:0"], { override, previous: done });
    expect([status.phase, status.reason]).toEqual(["Succeeded", undefined]);
  });

  test("an override without a phase gives a reason to the phase there is", () => {
    const status = compute({}, ["main running"], { override: { reason: "NodeAffinity", message: "" } });
    expect([status.phase, status.reason, status.message]).toEqual(["Running", "NodeAffinity", undefined]);
  });

  test("a preempted pod's end is what its containers say, and tells why it ended", () => {
    const override = { reason: "Preempting", message: "Preempted", disruption: "Pod was preempted by Kubelet." };
    const ending = compute({}, ["main running"], { override, workerPhase: "terminating" });
    expect(ending).toMatchObject({ phase: "Running", reason: "Preempting", message: "Preempted" });
    const ended = (exitCode: number) =>
      compute({}, [`main exited:${exitCode}`], { previous: ending, workerPhase: "terminated" });
    expect(ended(0)).toMatchObject({ phase: "Succeeded", reason: "Preempting", message: "Preempted" });
    expect(ended(143)).toMatchObject({ phase: "Failed", reason: "Preempting" });
    expect(conditionOf(ended(0), "DisruptionTarget")).toMatchObject({ status: "True", reason: "TerminationByKubelet" });
  });

  test("a reason goes with its phase", () => {
    const previous: PodStatus = { phase: "Pending", reason: "Waiting", message: "for the volume" };
    expect(compute({}, [], { previous })).toMatchObject(previous);
    expect(compute({}, ["main running"], { previous }).reason).toBeUndefined();
  });
});

describe("conditions", () => {
  const summary = (status: PodStatus) =>
    status.conditions?.map(({ type, status: value, reason = "", message = "" }) => [type, value, reason, message]);

  test("of a pod that waits for its init containers", () => {
    expect(summary(compute({ init: ["i", "s*"], main: ["a", "b"] }, ["i running"]))).toEqual([
      ["PodReadyToStartContainers", "True", "", ""],
      ["Initialized", "False", "ContainersNotInitialized", "containers with incomplete status: [i s]"],
      ["Ready", "False", "ContainersNotReady", "containers with unready status: [s a b]"],
      ["ContainersReady", "False", "ContainersNotReady", "containers with unready status: [s a b]"],
      ["PodScheduled", "True", "", ""],
    ]);
  });

  test("of a pod that runs", () => {
    const status = compute({ init: ["i", "s*"] }, ["main running", "s running", "i exited:0"]);
    expect(summary(status)?.map(([, value]) => value)).toEqual(["True", "True", "True", "True", "True"]);
  });

  test("a sidecar that restarts makes a pod unready and not uninitialised", () => {
    const status = compute({ init: ["s*"] }, ["main running", "s exited:1"]);
    expect(conditionOf(status, "Initialized")?.status).toBe("True");
    expect(conditionOf(status, "Ready")?.message).toBe("containers with unready status: [s]");
  });

  test.each<[container: string, reason: string, initialized: string | undefined]>([
    ["main exited:0", "PodCompleted", "PodCompleted"],
    ["main exited:1", "PodFailed", undefined],
  ])("of a pod that ended: %s", (container, reason, initialized) => {
    const status = compute({ restartPolicy: "Never" }, [container]);
    expect(conditionOf(status, "Ready")).toMatchObject({ status: "False", reason });
    expect(conditionOf(status, "ContainersReady")).toMatchObject({ status: "False", reason });
    expect(conditionOf(status, "Initialized")?.reason).toBe(initialized);
  });

  test("without a sandbox no container can be started", () => {
    const pod = makePod({});
    for (const sandboxes of [[], [makeSandbox({ state: "notready" })], [makeSandbox({ ips: [] })]]) {
      const status = computePodStatus(makeStatusInput(pod, makeRuntimeStatus([], sandboxes)));
      expect(conditionOf(status, "PodReadyToStartContainers")?.status).toBe("False");
    }
  });

  test("readiness gates hold a pod back, and say why", () => {
    const gates = [{ conditionType: "example.com/lb" }, { conditionType: "example.com/dns" }];
    const pod = makePod({});
    const gated = (conditions: PodCondition[]): Pod => ({
      ...pod,
      spec: { containers: [], ...pod.spec, readinessGates: gates },
      status: { conditions },
    });
    const ready = (conditions: PodCondition[]) => {
      const status = computePodStatus(makeStatusInput(gated(conditions), makeRuntimeStatus(["main running"])));
      expect(conditionOf(status, "ContainersReady")?.status).toBe("True");
      return conditionOf(status, "Ready");
    };
    expect(ready([{ type: "example.com/lb", status: "False" }])).toMatchObject({
      status: "False",
      reason: "ReadinessGatesNotReady",
      message:
        'the status of pod readiness gate "example.com/lb" is not "True", but False, corresponding condition of pod readiness gate "example.com/dns" does not exist.',
    });
    expect(ready(gates.map(({ conditionType }) => ({ type: conditionType, status: "True" })))?.status).toBe("True");
  });

  test("time moves with the status only", () => {
    const before = compute({}, [], { now: NOW - 60_000 });
    const crashing = compute({}, ["main exited:1"], { previous: before });
    expect(conditionOf(crashing, "Ready")?.lastTransitionTime).toBe("2025-12-31T23:59:30Z");
    const running = compute({}, ["main running"], { previous: before });
    expect(conditionOf(running, "Ready")?.lastTransitionTime).toBe("2026-01-01T00:00:30Z");
    expect(conditionOf(running, "PodScheduled")?.lastTransitionTime).toBe("2025-12-31T23:59:30Z");
  });

  test("others' conditions are kept as they are", () => {
    const theirs: PodCondition = { type: "example.com/lb", status: "True", lastTransitionTime: "2025-01-01T00:00:00Z" };
    const stale: PodCondition = { type: "Ready", status: "True" };
    const pod: Pod = { ...makePod({}), status: { conditions: [theirs, stale] } };
    const evicted: PodCondition = { type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet" };
    const previous: PodStatus = { conditions: [evicted] };
    const { conditions = [] } = computePodStatus(makeStatusInput(pod, makeRuntimeStatus([]), { previous }));
    expect(conditions.slice(0, 2)).toEqual([theirs, evicted]);
    expect(conditions.filter(({ type }) => type === "Ready")).toHaveLength(1);
  });
});

describe("addresses", () => {
  const addresses = ({ hostIP, hostIPs, podIP, podIPs }: PodStatus) => ({
    host: [hostIP, hostIPs?.map(({ ip }) => ip)],
    pod: [podIP, podIPs?.map(({ ip }) => ip)],
  });
  const withIps = (ips: string[], hostIps: string[]) => {
    const runtime = { ...makeRuntimeStatus(["main running"]), ips };
    return addresses(computePodStatus(makeStatusInput(makePod({}), runtime, { hostIps })));
  };

  test("are in the order of the node's families, one of each", () => {
    const ips = ["fd00::7", "10.0.0.7", "10.0.0.8"];
    expect(withIps(ips, ["192.0.2.2", "2001:db8::2"])).toEqual({
      host: ["192.0.2.2", ["192.0.2.2", "2001:db8::2"]],
      pod: ["10.0.0.7", ["10.0.0.7", "fd00::7"]],
    });
    expect(withIps(ips, ["2001:db8::2"]).pod).toEqual(["fd00::7", ["fd00::7", "10.0.0.7"]]);
  });

  test("are absent while they are not known", () => {
    expect(withIps([], [])).toEqual({ host: [undefined, undefined], pod: [undefined, undefined] });
  });

  test("of a pod that ended stay, those of one that got a new sandbox do not", () => {
    const previous: PodStatus = { podIP: "10.0.0.7", podIPs: [{ ip: "10.0.0.7" }] };
    const ended = makeRuntimeStatus(["main exited:0"], [makeSandbox({ state: "notready" })]);
    expect(computePodStatus(makeStatusInput(makePod({}), ended, { previous })).podIP).toBe("10.0.0.7");
    const anew = makeRuntimeStatus([], [makeSandbox({ ips: [] })]);
    expect(computePodStatus(makeStatusInput(makePod({}), anew, { previous })).podIP).toBeUndefined();
  });

  test("of a pod on the host's network are the node's", () => {
    const pod = makePod({});
    const onHost: Pod = { ...pod, spec: { containers: [], ...pod.spec, hostNetwork: true } };
    const runtime = makeRuntimeStatus([], [makeSandbox({ hostNetwork: true, ips: [] })]);
    const hostIps = ["192.0.2.2", "2001:db8::2"];
    expect(addresses(computePodStatus(makeStatusInput(onHost, runtime, { hostIps }))).pod).toEqual([
      hostIps[0],
      hostIps,
    ]);
  });
});

describe("the rest", () => {
  test("the start time is set once", () => {
    expect(compute({}, []).startTime).toBe("2026-01-01T00:00:30Z");
    const previous: PodStatus = { startTime: "2025-01-01T00:00:00Z" };
    expect(compute({}, [], { previous }).startTime).toBe(previous.startTime);
  });

  test("the QoS class is the pod's", () => {
    expect(compute({}, []).qosClass).toBe("BestEffort");
  });

  test("containers come in the order of the spec", () => {
    const status = compute({ main: ["z", "a"], init: ["y", "b"] }, ["a running", "z running"]);
    expect(status.containerStatuses?.map(({ name }) => name)).toEqual(["z", "a"]);
    expect(status.initContainerStatuses?.map(({ name }) => name)).toEqual(["y", "b"]);
  });

  test("a status that is fed back does not change", () => {
    const runtime = makeRuntimeStatus(["main exited:1", makeContainer("s unknown"), "i exited:0"]);
    const input = makeStatusInput(makePod({ init: ["i", "s*"] }), runtime);
    const first = computePodStatus(input);
    expect(computePodStatus({ ...input, previous: first, now: NOW + 60_000 })).toEqual(first);
  });
});
