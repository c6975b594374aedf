import { describe, expect, test } from "vitest";
import type { Affinity, Taint, Toleration } from "../../../api/gen/types.ts";
import { cluster, type NodeOptions, nodeInfo, type PodOptions, pending, placed } from "../__fixtures__/objects.ts";
import type { NodeInfo } from "../cluster.ts";
import type { PodInfo } from "../pod-info.ts";
import { createNodeFilter } from "./all-filters.ts";

/** The reasons against a node. A leading `!` marks reasons that preemption cannot remove. */
function judge(pod: PodOptions, node: NodeInfo, others: readonly NodeInfo[] = []): string {
  const rejection = createNodeFilter(pending(pod), cluster([node, ...others]))(node);
  return rejection === undefined ? "" : `${rejection.isFinal ? "!" : ""}${rejection.reasons.join(", ")}`;
}

describe("the state of the node", () => {
  const tainted = (...taints: Taint[]): NodeOptions => ({ spec: { taints } });
  const PRESSURE: Taint = { key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" };
  const NOT_READY: Taint = { key: "node.kubernetes.io/not-ready", effect: "NoExecute" };
  const anything: Toleration = { operator: "Exists" };
  const affinity: Affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["n2"] }] }],
      },
    },
  };
  test.each<[string, PodOptions, NodeOptions, string]>([
    ["fine", {}, {}, ""],
    ["cordoned", {}, { spec: { unschedulable: true } }, "!node(s) were unschedulable"],
    ["cordoned, tolerated", { tolerations: [anything] }, { spec: { unschedulable: true } }, ""],
    ["tainted", {}, tainted({ key: "a", effect: "NoSchedule" }), "!node(s) had untolerated taint(s)"],
    ["to be left", {}, tainted(NOT_READY), "!node(s) had untolerated taint(s)"],
    ["tainted, tolerated", { tolerations: [anything] }, tainted(NOT_READY), ""],
    ["not liked", {}, tainted({ key: "a", effect: "PreferNoSchedule" }), ""],
    ["short of memory, best effort", {}, tainted(PRESSURE), "!node(s) had untolerated taint(s)"],
    ["short of memory, burstable", { requests: { cpu: "1m" } }, tainted(PRESSURE), ""],
    ["selected", { nodeSelector: { zone: "a" } }, { labels: { zone: "a" } }, ""],
    ["not selected", { nodeSelector: { zone: "a" } }, {}, "!node(s) didn't match Pod's node affinity/selector"],
    ["not named", { affinity }, {}, "!node(s) didn't satisfy plugin(s) [NodeAffinity]"],
    ["named", { affinity }, { name: "n2" }, ""],
  ])("%s", (_case, pod, options, expected) => {
    expect(judge(pod, nodeInfo(options))).toBe(expected);
  });
});

describe("features that the node declares", () => {
  const wanting: PodOptions = { hostNetwork: true, hostUsers: false };
  const UNDECLARED = "!node(s) didn't match Pod's required features";
  test.each<[string, PodOptions, string[] | undefined, string]>([
    ["none wanted, none there", {}, undefined, ""],
    ["wanted by a node that declares nothing", wanting, undefined, UNDECLARED],
    ["wanted and not there", wanting, ["RestartAllContainersOnContainerExits"], UNDECLARED],
    ["wanted and there, with others", wanting, ["A", "UserNamespacesHostNetworkSupport"], ""],
  ])("%s", (_case, pod, declaredFeatures, expected) => {
    expect(judge(pod, nodeInfo({ status: { ...(declaredFeatures && { declaredFeatures }) } }))).toBe(expected);
  });
});

describe("ports of the node", () => {
  const TAKEN = "node(s) didn't have free ports for the requested pod ports";
  const using = (port: { hostPort: number; hostIP?: string; protocol?: string }): PodOptions => ({
    containers: [{ name: "main", ports: [{ containerPort: 1, ...port }] }],
  });
  test.each<[string, PodOptions, PodOptions, string]>([
    ["none wanted", {}, using({ hostPort: 80 }), ""],
    ["another", using({ hostPort: 81 }), using({ hostPort: 80 }), ""],
    ["the same", using({ hostPort: 80 }), using({ hostPort: 80 }), TAKEN],
    ["of another protocol", using({ hostPort: 80, protocol: "UDP" }), using({ hostPort: 80 }), ""],
    [
      "on another address",
      using({ hostPort: 80, hostIP: "10.0.0.1" }),
      using({ hostPort: 80, hostIP: "10.0.0.2" }),
      "",
    ],
    ["on all addresses", using({ hostPort: 80, hostIP: "10.0.0.1" }), using({ hostPort: 80 }), TAKEN],
  ])("%s", (_case, pod, other, expected) => {
    expect(judge(pod, nodeInfo({}, [placed("other", other)]))).toBe(expected);
  });

  test("a sidecar's counts, an init container's does not", () => {
    const init = { name: "side", ports: [{ containerPort: 1, hostPort: 80 }] };
    const other = placed("other", { initContainers: [{ ...init, restartPolicy: "Always" }] });
    expect(judge(using({ hostPort: 80 }), nodeInfo({}, [other]))).toBe(TAKEN);
    expect(judge(using({ hostPort: 80 }), nodeInfo({}, [placed("other", { initContainers: [init] })]))).toBe("");
  });
});

describe("resources of the node", () => {
  const used = [placed("a", { requests: { cpu: "3", memory: "1Gi" } })];
  test.each<[string, Record<string, string>, NodeOptions["allocatable"], string]>([
    ["exactly what is left", { cpu: "1", memory: "7Gi" }, {}, ""],
    ["more than is left", { cpu: "1001m" }, {}, "Insufficient cpu"],
    ["more than there is", { cpu: "5" }, {}, "!Insufficient cpu"],
    ["several", { cpu: "2", memory: "8Gi" }, {}, "Insufficient cpu, Insufficient memory"],
    ["something that is not there", { "example.com/gpu": "1" }, {}, "!Insufficient example.com/gpu"],
    ["huge pages", { "hugepages-2Mi": "4Mi" }, { "hugepages-2Mi": "2Mi" }, "!Insufficient hugepages-2Mi"],
    ["disk", { "ephemeral-storage": "1Gi" }, { "ephemeral-storage": "2Gi" }, ""],
    ["nothing, on a full node", {}, { pods: "1" }, "Too many pods"],
    ["nothing, on an overcommitted node", {}, { cpu: "1" }, ""],
  ])("%s", (_case, requests, allocatable, expected) => {
    expect(judge({ requests }, nodeInfo({ allocatable: allocatable ?? {} }, used))).toBe(expected);
  });

  test("a node that says nothing of itself takes no pod", () => {
    const bare = { ...nodeInfo(), allocatable: new Map() };
    expect(judge({}, bare)).toBe("Too many pods");
  });
});

describe("other pods", () => {
  const HOST = "kubernetes.io/hostname";
  const term = (labels: Record<string, string>, topologyKey = HOST) => ({
    topologyKey,
    labelSelector: { matchLabels: labels },
  });
  const near = (...terms: ReturnType<typeof term>[]): Affinity => ({
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms },
  });
  const apart = (...terms: ReturnType<typeof term>[]): Affinity => ({
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms },
  });
  const WEB = { labels: { app: "web" } };
  const web = placed("web", WEB);
  const NOT_NEAR = "!node(s) didn't match pod affinity rules";
  const NOT_APART = "node(s) didn't match pod anti-affinity rules";
  const zone = { labels: { zone: "a" } };

  test.each<[string, PodOptions, NodeInfo, NodeInfo[], string]>([
    ["wanted and there", { affinity: near(term({ app: "web" })) }, nodeInfo({}, [web]), [], ""],
    [
      "wanted and elsewhere",
      { affinity: near(term({ app: "web" })) },
      nodeInfo(),
      [nodeInfo({ name: "n2" }, [web])],
      NOT_NEAR,
    ],
    [
      "wanted and in the zone",
      { affinity: near(term({ app: "web" }, "zone")) },
      nodeInfo(zone),
      [nodeInfo({ name: "n2", ...zone }, [web])],
      "",
    ],
    [
      "wanted, and the node has no zone",
      { affinity: near(term({ app: "web" }, "zone")) },
      nodeInfo({}, [web]),
      [],
      NOT_NEAR,
    ],
    ["wanted and nowhere", { affinity: near(term({ app: "web" })) }, nodeInfo(), [], NOT_NEAR],
    [
      "wanted are its own kind, and it is the first",
      { ...WEB, affinity: near(term({ app: "web" })) },
      nodeInfo(),
      [],
      "",
    ],
    [
      "wanted are two, which no pod is",
      { affinity: near(term({ app: "web" }), term({ tier: "x" })) },
      nodeInfo({}, [web]),
      [],
      NOT_NEAR,
    ],
    [
      "wanted and of another namespace",
      { namespace: "other", affinity: near(term({ app: "web" })) },
      nodeInfo({}, [web]),
      [],
      NOT_NEAR,
    ],
    ["unwanted and there", { affinity: apart(term({ app: "web" })) }, nodeInfo({}, [web]), [], NOT_APART],
    [
      "unwanted and elsewhere",
      { affinity: apart(term({ app: "web" })) },
      nodeInfo(),
      [nodeInfo({ name: "n2" }, [web])],
      "",
    ],
    [
      "unwanted, and the node has no zone",
      { affinity: apart(term({ app: "web" }, "zone")) },
      nodeInfo({}, [web]),
      [],
      "",
    ],
  ])("that are %s", (_case, pod, node, others, expected) => {
    expect(judge(pod, node, others)).toBe(expected);
  });

  test.each<[string, object, string]>([
    ["by name", { namespaces: ["default"] }, ""],
    ["by labels", { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "default" } } }, ""],
    ["all", { namespaceSelector: {} }, ""],
    ["others", { namespaces: ["third"] }, NOT_NEAR],
  ])("of namespaces that are selected %s", (_case, namespaces, expected) => {
    const affinity = near({ ...term({ app: "web" }), ...namespaces });
    expect(judge({ namespace: "other", affinity }, nodeInfo({}, [web]))).toBe(expected);
  });

  test("that do not want it", () => {
    const shy = placed("shy", { affinity: apart(term({ app: "web" })) });
    const reason = "node(s) didn't satisfy existing pods anti-affinity rules";
    expect(judge(WEB, nodeInfo({}, [shy]))).toBe(reason);
    expect(judge({}, nodeInfo({}, [shy]))).toBe("");
    expect(judge({ ...WEB, namespace: "other" }, nodeInfo({}, [shy]))).toBe("");
    expect(judge(WEB, nodeInfo({ name: "n2" }), [nodeInfo({}, [shy])])).toBe("");
  });
});

describe("spreading", () => {
  const UNEVEN = "node(s) didn't match pod topology spread constraints";
  const spread = (rest: object = {}): PodOptions => ({
    labels: { app: "web", version: "2" },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { app: "web" } },
        ...rest,
      },
    ],
  });
  const webs = (count: number, options: PodOptions = {}): PodInfo[] => {
    return Array.from({ length: count }, (_, index) => placed(`web-${index}`, { labels: { app: "web" }, ...options }));
  };
  const inZone = (zone: string, pods: readonly PodInfo[], spec?: object) => {
    return nodeInfo({ name: `n-${zone}`, labels: { zone }, ...(spec && { spec }) }, pods);
  };
  const deleted = { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } };
  test.each<[string, PodOptions, NodeInfo, NodeInfo[], string]>([
    ["even", spread(), inZone("a", webs(1)), [inZone("b", webs(1))], ""],
    ["ahead", spread(), inZone("a", webs(1)), [inZone("b", [])], UNEVEN],
    ["behind", spread(), inZone("a", []), [inZone("b", webs(3))], ""],
    ["ahead by what is allowed", spread({ maxSkew: 2 }), inZone("a", webs(1)), [inZone("b", [])], ""],
    [
      "ahead, and only a wish",
      spread({ whenUnsatisfiable: "ScheduleAnyway" }),
      inZone("a", webs(5)),
      [inZone("b", [])],
      "",
    ],
    ["no zone", spread(), nodeInfo(), [inZone("b", [])], `!${UNEVEN} (missing required label)`],
    ["too few zones", spread({ minDomains: 3 }), inZone("a", webs(1)), [inZone("b", webs(1))], UNEVEN],
    ["others of another namespace", spread(), inZone("a", webs(3, { namespace: "x" })), [inZone("b", [])], ""],
    ["others on their way out", spread(), inZone("a", webs(1, deleted)), [inZone("b", [])], ""],
    ["others of another version", spread({ matchLabelKeys: ["version"] }), inZone("a", webs(1)), [inZone("b", [])], ""],
    [
      "emptier nodes that are not selected",
      { ...spread(), nodeSelector: { zone: "a" } },
      inZone("a", webs(1)),
      [inZone("b", [])],
      "",
    ],
    [
      "emptier nodes that are not selected, to be counted",
      { ...spread({ nodeAffinityPolicy: "Ignore" }), nodeSelector: { zone: "a" } },
      inZone("a", webs(1)),
      [inZone("b", [])],
      UNEVEN,
    ],
    [
      "emptier nodes that are tainted",
      spread({ nodeTaintsPolicy: "Honor" }),
      inZone("a", webs(1)),
      [inZone("b", [], { taints: [{ key: "x", effect: "NoSchedule" }] })],
      "",
    ],
  ])("%s", (_case, pod, node, others, expected) => {
    expect(judge(pod, node, others)).toBe(expected);
  });
});
