import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../../api/field-error.ts";
import type { Container, Pod, PodSpec, PodStatus } from "../../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../../api/object.ts";
import { podKind } from "./pod.ts";

const { strategy } = podKind;
const MAIN: Container = { name: "main", image: "busybox:1" };

function pod(spec: Partial<PodSpec> = {}, rest: Partial<Pod> = {}): KubeObject {
  const { metadata, status } = rest;
  const made: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", namespace: "default", ...metadata },
    spec: { containers: [MAIN], ...spec },
    ...(status && { status }),
  };
  return strategy.default?.(untyped(made)) ?? untyped(made);
}

const stored = (spec: Partial<PodSpec> = {}, rest: Partial<Pod> = {}) =>
  pod(spec, { ...rest, metadata: { resourceVersion: "5", uid: "u", ...rest.metadata } });

const show = (errors: ReturnType<NonNullable<typeof strategy.validate>> | undefined) =>
  (errors ?? []).map(formatFieldError);
const updateErrors = (next: KubeObject, current: KubeObject) => show(strategy.validateUpdate?.(next, current));

describe("a new pod", () => {
  it("is pending with its QoS class, whatever status it came with", () => {
    const sent = pod({}, { status: { phase: "Running", podIP: "10.0.0.1" } });
    expect(strategy.prepareCreate?.(sent)["status"]).toEqual({ phase: "Pending", qosClass: "BestEffort" });
  });

  it("with scheduling gates says that they hold it back", () => {
    const created = typed("Pod", strategy.prepareCreate?.(pod({ schedulingGates: [{ name: "x.y/z" }] })) ?? pod());
    expect(created.status?.conditions).toMatchObject([
      { type: "PodScheduled", status: "False", reason: "SchedulingGated" },
    ]);
  });

  it("gets the values of its labels into the selectors that name their keys", () => {
    const term = {
      topologyKey: "zone",
      matchLabelKeys: ["app", "missing"],
      mismatchLabelKeys: ["tier"],
      labelSelector: {},
    };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const sent = pod({ affinity }, { metadata: { labels: { app: "x", tier: "y" } } });
    const created = typed("Pod", strategy.prepareCreate?.(sent) ?? sent);
    const [changed] = created.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    expect(changed?.labelSelector?.matchExpressions).toEqual([
      { key: "app", operator: "In", values: ["x"] },
      { key: "tier", operator: "NotIn", values: ["y"] },
    ]);
    expect(typed("Pod", sent).spec?.affinity).toEqual(affinity);
  });

  it.each<[string, Partial<PodSpec>, string[]]>([
    ["is fine as it is", {}, []],
    [
      "has no ephemeral containers yet",
      { ephemeralContainers: [{ name: "debug", image: "busybox", terminationMessagePolicy: "File" }] },
      ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
    ],
    [
      "is not bound while it is gated",
      { nodeName: "n", schedulingGates: [{ name: "a.b/c" }] },
      ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
    ],
    [
      "has known policies",
      { restartPolicy: "Sometimes" },
      ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(show(strategy.validate?.(pod(spec)))).toEqual(errors);
  });

  it("leaves metadata to the registry", () => {
    expect(show(strategy.validate?.(pod({}, { metadata: { name: "Not A Name" } })))).toEqual([]);
  });
});

const ONLY =
  "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n";

const affinityTo = (...keys: string[]): Partial<PodSpec> => {
  const matchExpressions = keys.map((key) => ({ key, operator: "Exists" }));
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
};

describe("an update of a pod", () => {
  const GATED: Partial<PodSpec> = { schedulingGates: [{ name: "a.b/c" }] };
  const TOLERATION = { key: "k", operator: "Exists", effect: "NoExecute" };

  it.each<[string, Partial<PodSpec>, Partial<PodSpec>, string[]]>([
    ["may change nothing", {}, {}, []],
    ["may change an image", {}, { containers: [{ ...MAIN, image: "busybox:2" }] }, []],
    ["must keep an image", {}, { containers: [{ ...MAIN, image: "" }] }, ["spec.containers[0].image: Required value"]],
    [
      "takes no image with spaces",
      {},
      { containers: [{ ...MAIN, image: "busybox:1 " }] },
      ['spec.containers[0].image: Invalid value: "busybox:1 ": must not have leading or trailing whitespace'],
    ],
    [
      "may not add a container",
      {},
      { containers: [MAIN, { ...MAIN, name: "b" }] },
      ["spec.containers: Forbidden: pod updates may not add or remove containers"],
    ],
    [
      "may not remove an init container",
      { initContainers: [{ ...MAIN, name: "i" }] },
      {},
      ["spec.initContainers: Forbidden: pod updates may not add or remove containers"],
    ],
    [
      "names what may not change",
      {},
      { containers: [{ ...MAIN, args: ["x"] }], hostname: "h" },
      [
        `${ONLY}- spec.containers[0].args: null\n+ spec.containers[0].args: ["x"]\n+ spec.hostname: "h"`.replace(
          "- spec.containers[0].args: null\n",
          "",
        ),
      ],
    ],
    [
      "may not move a pod",
      { nodeName: "n1" },
      { nodeName: "n2" },
      [`${ONLY}- spec.nodeName: "n1"\n+ spec.nodeName: "n2"`],
    ],
    [
      "takes Go's zeros for what was left out",
      { hostNetwork: false, containers: [{ ...MAIN, tty: false, env: [] }] },
      {},
      [],
    ],
    ["may set a deadline", {}, { activeDeadlineSeconds: 5 }, []],
    ["may lower a deadline", { activeDeadlineSeconds: 9 }, { activeDeadlineSeconds: 5 }, []],
    [
      "may not raise a deadline",
      { activeDeadlineSeconds: 5 },
      { activeDeadlineSeconds: 9 },
      ["spec.activeDeadlineSeconds: Invalid value: 9: must be less than or equal to previous value"],
    ],
    [
      "may not take a deadline away",
      { activeDeadlineSeconds: 5 },
      {},
      ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"],
    ],
    ["may add a toleration", {}, { tolerations: [TOLERATION] }, []],
    [
      "may change how long one holds",
      { tolerations: [TOLERATION] },
      { tolerations: [{ ...TOLERATION, tolerationSeconds: 3 }] },
      [],
    ],
    [
      "may not change a toleration",
      { tolerations: [TOLERATION] },
      { tolerations: [{ ...TOLERATION, key: "other" }] },
      ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
    ],
    [
      "may mend a negative grace period",
      { terminationGracePeriodSeconds: -4 },
      { terminationGracePeriodSeconds: 1 },
      [],
    ],
    [
      "may not change a grace period",
      { terminationGracePeriodSeconds: 4 },
      { terminationGracePeriodSeconds: 1 },
      [`${ONLY}- spec.terminationGracePeriodSeconds: 4\n+ spec.terminationGracePeriodSeconds: 1`],
    ],
    ["may take a gate away", GATED, {}, []],
    [
      "may not add a gate",
      GATED,
      { schedulingGates: [{ name: "a.b/c" }, { name: "d" }] },
      ["spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'd'"],
    ],
    [
      "may narrow a gated pod",
      { ...GATED, nodeSelector: { a: "1" } },
      { ...GATED, nodeSelector: { a: "1", b: "2" } },
      [],
    ],
    [
      "may not widen a gated pod",
      { ...GATED, nodeSelector: { a: "1" } },
      GATED,
      [
        "spec.nodeSelector: Invalid value: {}: only additions to spec.nodeSelector are allowed (no mutations or deletions)",
      ],
    ],
    ["may not narrow a pod without gates", {}, { nodeSelector: { a: "1" } }, [`${ONLY}+ spec.nodeSelector: {"a":"1"}`]],
    ["may add a node affinity to a gated pod", GATED, { ...GATED, ...affinityTo("a") }, []],
    ["may add conditions to it", { ...GATED, ...affinityTo("a") }, { ...GATED, ...affinityTo("a", "b") }, []],
    [
      "may not drop its conditions",
      { ...GATED, ...affinityTo("a", "b") },
      { ...GATED, ...affinityTo("a") },
      [
        'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]: Invalid value: {"matchExpressions":[{"key":"a","operator":"Exists"}]}: only additions are allowed (no mutations or deletions)',
      ],
    ],
    [
      "may not drop its terms",
      { ...GATED, ...affinityTo("a") },
      GATED,
      [
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Invalid value: []: no additions/deletions to non-empty NodeSelectorTerms list are allowed",
      ],
    ],
  ])("%s", (_name, before, after, errors) => {
    expect(updateErrors(stored(after), stored(before))).toEqual(errors);
  });
});

describe("a pod that is there", () => {
  const DEBUG = { name: "debug", image: "busybox", targetContainerName: "main" };

  it.each<[string, NonNullable<PodSpec["ephemeralContainers"]>, string[]]>([
    ["may have ephemeral containers", [DEBUG], []],
    [
      "names every container differently",
      [{ ...DEBUG, name: "main" }],
      ['spec.ephemeralContainers[0].name: Duplicate value: "main"'],
    ],
    ["has images for all of them", [DEBUG, { name: "b" }], ["spec.ephemeralContainers[1].image: Required value"]],
    [
      "has what they look into",
      [{ ...DEBUG, targetContainerName: "x" }],
      ['spec.ephemeralContainers[0].targetContainerName: Not found: "x"'],
    ],
    [
      "gives them no room",
      [{ ...DEBUG, resources: { requests: { cpu: "1" } } }],
      ["spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container"],
    ],
    [
      "does not ask how they are",
      [{ ...DEBUG, ports: [{ containerPort: 1 }], resources: {} }],
      ["spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container"],
    ],
  ])("%s", (_name, ephemeralContainers, errors) => {
    expect(show(strategy.validate?.(stored({ ephemeralContainers })))).toEqual(errors);
  });
});

describe("deletion of a pod", () => {
  it.each<[string, Partial<PodSpec>, PodStatus, number | undefined, number]>([
    ["waits as long as the pod says", { nodeName: "n" }, {}, undefined, 30],
    ["waits as long as is asked", { nodeName: "n" }, {}, 7, 7],
    ["may be at once", { nodeName: "n" }, {}, 0, 0],
    [
      "takes a negative period for the shortest",
      { nodeName: "n", terminationGracePeriodSeconds: -5 },
      {},
      undefined,
      1,
    ],
    ["waits for nobody before a node has the pod", {}, {}, 7, 0],
    ["waits for nobody when the pod has failed", { nodeName: "n" }, { phase: "Failed" }, 7, 0],
    ["waits for nobody when the pod has succeeded", { nodeName: "n" }, { phase: "Succeeded" }, undefined, 0],
  ])("%s", (_name, spec, status, requested, expected) => {
    expect(strategy.gracePeriodSeconds?.(pod(spec, { status }), requested)).toBe(expected);
  });
});

describe("fields that pods are selected by", () => {
  it("are what the pod says, with Go's zeros", () => {
    const object = stored(
      { nodeName: "n", serviceAccountName: "sa" },
      { status: { phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] } },
    );
    const values = Object.entries(strategy.fields ?? {}).map(([field, read]) => [field, read(object)]);
    expect(Object.fromEntries(values)).toEqual({
      "spec.nodeName": "n",
      "spec.restartPolicy": "Always",
      "spec.schedulerName": "default-scheduler",
      "spec.serviceAccountName": "sa",
      "spec.hostNetwork": "false",
      "status.phase": "Running",
      "status.podIP": "10.0.0.1",
      "status.podIPs": "10.0.0.1,fd00::1",
      "status.nominatedNodeName": "",
    });
  });
});
