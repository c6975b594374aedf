import { describe, expect, it } from "vitest";
import type { Container, Pod, PodSpec } from "../../../api/gen/types.ts";
import { computeOomScoreAdjust } from "./oom-score-adjust.ts";

const CAPACITY = 1000n * 1024n * 1024n;

function container(name: string, memory?: string, more: Partial<Container> = {}): Container {
  return { name, resources: memory === undefined ? {} : { requests: { memory } }, ...more };
}

function score(spec: PodSpec, of: Container = spec.containers[0] ?? container("none")): bigint {
  const pod: Pod = { spec };
  return computeOomScoreAdjust(pod, of, CAPACITY);
}

const limits = { cpu: "1", memory: "1Gi" };
const sidecar = (memory?: string) => container("side", memory, { restartPolicy: "Always" });

describe("computeOomScoreAdjust", () => {
  it.each<{ why: string; spec: PodSpec; of?: Container; expected: bigint }>([
    { why: "best effort goes first", spec: { containers: [container("a")] }, expected: 1000n },
    {
      why: "guaranteed goes last",
      spec: { containers: [{ name: "a", resources: { limits, requests: limits } }] },
      expected: -997n,
    },
    {
      why: "node-critical pods go last whatever they ask for",
      spec: { containers: [container("a")], priority: 2_000_001_000, priorityClassName: "system-node-critical" },
      expected: -997n,
    },
    {
      why: "cluster-critical pods are not protected from this node's memory",
      spec: { containers: [container("a")], priority: 2_000_000_000, priorityClassName: "system-cluster-critical" },
      expected: 1000n,
    },
    { why: "a tenth of memory takes a tenth off", spec: { containers: [container("a", "100Mi")] }, expected: 900n },
    { why: "burstable stays below best effort", spec: { containers: [container("a", "1Ki")] }, expected: 999n },
    { why: "burstable stays above guaranteed", spec: { containers: [container("a", "2Gi")] }, expected: 3n },
    {
      why: "a container without a request in a burstable pod",
      spec: { containers: [container("a"), container("b", "100Mi")] },
      expected: 999n,
    },
    {
      why: "a sidecar is as protected as the least protected main container",
      spec: { initContainers: [sidecar()], containers: [container("a", "100Mi"), container("b", "300Mi")] },
      of: sidecar(),
      expected: 900n,
    },
    {
      why: "a sidecar that asks for more keeps its better score",
      spec: { initContainers: [sidecar("500Mi")], containers: [container("a", "100Mi")] },
      of: sidecar("500Mi"),
      expected: 500n,
    },
    {
      why: "what the pod asks for beyond its containers counts evenly for each",
      spec: {
        resources: { requests: { memory: "400Mi" } },
        containers: [container("a", "100Mi"), container("b", "100Mi")],
      },
      expected: 800n,
    },
  ])("$why", ({ spec, of, expected }) => {
    expect(score(spec, of)).toBe(expected);
  });
});
