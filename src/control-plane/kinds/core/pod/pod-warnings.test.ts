import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../api/gen/types.ts";
import { untyped } from "../../../../api/object.ts";
import { podTemplateWarnings, podWarnings } from "./pod-warnings.ts";

const container = (fields: Partial<Container>): Partial<PodSpec> => ({ containers: [{ name: "main", ...fields }] });

describe("warnings of a pod", () => {
  it.each<[string, Partial<PodSpec>, string[]]>([
    ["none for a plain one", {}, []],
    [
      "an old node label",
      { nodeSelector: { "beta.kubernetes.io/os": "linux" } },
      ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ],
    [
      "a hidden variable",
      container({
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      }),
      ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      "none for a variable that builds on itself",
      container({
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "$(A)2" },
        ],
      }),
      [],
    ],
    [
      "a variable that is itself",
      container({
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "$(A)" },
        ],
      }),
      ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      "a part of a byte",
      container({ resources: { limits: { memory: "100m" } } }),
      ['spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer'],
    ],
    [
      "a port twice",
      container({
        ports: [
          { containerPort: 1, protocol: "TCP" },
          { containerPort: 1, protocol: "TCP" },
        ],
      }),
      ["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"],
    ],
    [
      "ports that overlap",
      container({
        ports: [
          { containerPort: 1, protocol: "TCP" },
          { containerPort: 1, protocol: "TCP", hostPort: 5 },
        ],
      }),
      ["spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]"],
    ],
    [
      "ports that are ambiguous",
      container({
        ports: [
          { containerPort: 1, protocol: "TCP", hostPort: 5 },
          { containerPort: 1, protocol: "TCP", hostPort: 5, hostIP: "10.0.0.1" },
        ],
      }),
      ["spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]"],
    ],
    [
      "a volume of the past",
      { volumes: [{ name: "v", gitRepo: { repository: "r" } }] },
      ["spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"],
    ],
    [
      "an alias twice",
      { hostAliases: [{ ip: "10.0.0.1" }, { ip: "10.0.0.1" }] },
      ['spec.hostAliases[1].ip: duplicate ip "10.0.0.1"'],
    ],
    ["a secret without a name", { imagePullSecrets: [{}] }, ['spec.imagePullSecrets[0].name: invalid empty name ""']],
    [
      "a negative grace period",
      { terminationGracePeriodSeconds: -1 },
      ["spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"],
    ],
    [
      "a selector that selects nothing",
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "z" }] } } },
      [
        "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod",
      ],
    ],
  ])("%s", (_name, spec, warnings) => {
    expect(podTemplateWarnings({ spec: { containers: [{ name: "main" }], ...spec } }, "")).toEqual(warnings);
  });

  it("name the template that they are about", () => {
    const annotations = { "scheduler.alpha.kubernetes.io/critical-pod": "" };
    expect(podTemplateWarnings({ metadata: { annotations }, spec: { containers: [] } }, "spec.template.")).toEqual([
      'spec.template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
    ]);
  });

  it("are for new pods only", () => {
    const spec = { containers: [], terminationGracePeriodSeconds: -1 };
    const made = { apiVersion: "v1", kind: "Pod", spec };
    expect(podWarnings(untyped({ ...made, metadata: { name: "a.b" } }))).toHaveLength(2);
    expect(podWarnings(untyped({ ...made, metadata: { name: "a.b", resourceVersion: "1" } }))).toEqual([]);
  });
});
