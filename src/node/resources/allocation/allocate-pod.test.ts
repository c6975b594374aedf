import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../api/gen/types.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import type { MergePolicy, NumaHint } from "../topology/merge-hints.ts";
import { declareTopologyMetrics } from "../topology/metrics.ts";
import { numaMaskOf } from "../topology/numa-mask.ts";
import type { TopologyPolicy } from "../topology/topology-policy.ts";
import { allocatePod } from "./allocate-pod.ts";

const POD: Pod = {
  metadata: { uid: "uid-1", name: "web", namespace: "default" },
  spec: {
    initContainers: [{ name: "init" }, { name: "sidecar", restartPolicy: "Always" }],
    containers: [{ name: "main" }],
  },
};
const on = (...nodes: number[]): NumaHint => ({ nodes: numaMaskOf(nodes), isPreferred: true });

interface World {
  readonly policy?: MergePolicy["policy"];
  readonly scope?: TopologyPolicy["scope"];
  readonly hints?: Readonly<Record<string, readonly NumaHint[]>>;
  readonly error?: string;
}

async function allocate({ policy, scope = "container", hints = {}, error }: World) {
  const given: string[] = [];
  const metrics = createMetrics();
  const merge = policy && { policy, nodes: [0, 1], distances: undefined };
  const topology = { merge, scope, metrics: declareTopologyMetrics(metrics, createFakeClock()) };
  const devices = {
    hintsOfContainer: ({ container }: { container: Container }) => [hints[container.name]],
    hintsOfPod: () => [hints["pod"]],
    async allocate(
      { container }: { container: Container },
      place: { predecessors: readonly string[]; numaNodes: ReadonlySet<number> | undefined },
    ) {
      const nodes = place.numaNodes === undefined ? "anywhere" : `on ${[...place.numaNodes].join(",")}`;
      given.push([container.name, nodes, ...place.predecessors.map((name) => `after ${name}`)].join(" "));
      return container.name === "main" ? error : undefined;
    },
  };
  const refusal = await allocatePod({ providers: [devices], topology }, POD, new AbortController().signal);
  const lines = (await metrics.render()).split("\n").filter((line) => line.startsWith("kubelet_"));
  const counted = lines.filter((line) => !line.includes("duration") && !line.endsWith(" 0"));
  return { refusal, given, counted: counted.map((line) => line.slice("kubelet_".length)) };
}

describe("the allocation of a pod", () => {
  it("gives to one container after the other, anywhere where nothing is aligned", async () => {
    const { refusal, given } = await allocate({});
    expect(refusal).toBeUndefined();
    expect(given).toEqual(["init anywhere", "sidecar anywhere after init", "main anywhere after init"]);
  });

  it("aligns each container for itself", async () => {
    const { given, counted } = await allocate({
      policy: "single-numa-node",
      hints: { init: [on(1)], main: [on(0), on(1)] },
    });
    expect(given).toEqual(["init on 1", "sidecar anywhere after init", "main on 0 after init"]);
    expect(counted).toEqual([
      "topology_manager_admission_requests_total 1",
      'container_aligned_compute_resources_count{scope="container",boundary="numa_node"} 3',
    ]);
  });

  it("aligns the pod as a whole", async () => {
    const { given } = await allocate({ policy: "restricted", scope: "pod", hints: { pod: [on(1)], main: [on(0)] } });
    expect(given).toEqual(["init on 1", "sidecar on 1 after init", "main on 1 after init"]);
  });

  it.each(["container", "pod"] as const)("refuses a pod that cannot be aligned in the scope %s", async (scope) => {
    const hints = { main: [on(0, 1)], pod: [on(0, 1)] };
    const { refusal, counted } = await allocate({ policy: "single-numa-node", scope, hints });
    const message = "Resources cannot be allocated with Topology locality";
    expect(refusal).toEqual({ reason: "TopologyAffinityError", message });
    expect(counted).toContain("topology_manager_admission_errors_total 1");
    const labels = `{scope="${scope}",boundary="numa_node"}`;
    expect(counted).toContain(`container_aligned_compute_resources_failure_count${labels} 1`);
  });

  it("lets a pod in that is not aligned, where the policy only tries", async () => {
    const { refusal, given } = await allocate({ policy: "best-effort", hints: { main: [] } });
    expect(refusal).toBeUndefined();
    expect(given.at(-1)).toBe("main on 0,1 after init");
  });

  it("refuses a pod whose devices are not there, in upstream's words", async () => {
    const { refusal } = await allocate({ error: "no healthy devices present" });
    expect(refusal).toEqual({
      reason: "UnexpectedAdmissionError",
      message: "Allocate failed due to no healthy devices present, which is unexpected",
    });
  });
});
