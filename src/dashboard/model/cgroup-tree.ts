import type { Container, Pod } from "../../api/gen/types.ts";
import { isTerminalPhase, nodeUidOf, podReference } from "../../api/pods.ts";
import { computeQosClass } from "../../api/qos.ts";
import { parseQuantity } from "../../api/quantity.ts";
import { computePodLimits, computePodRequests } from "../../api/resources.ts";
import type { NamedUse, NodeUse } from "./node-use.ts";

/** A cgroup, with what is beneath it. Processor time is in nanocores, memory in bytes; what is not known or not set is undefined. */
export interface CgroupNode {
  readonly key: string;
  readonly name: string;
  readonly kind: "root" | "class" | "pod" | "container" | "daemon";
  readonly cpu: CgroupAmounts;
  readonly memory: CgroupAmounts;
  readonly children: readonly CgroupNode[];
}

/** What was asked for, what is allowed, what is used. */
interface CgroupAmounts {
  readonly request: number | undefined;
  readonly limit: number | undefined;
  readonly use: number | undefined;
}

/** Computes the tree of cgroups of one node's pods, as the node agent makes it: one for each class but the guaranteed. */
export function computeCgroupTree(pods: readonly Pod[], usage: NodeUse): CgroupNode[] {
  const uses = new Map(usage.pods.map((pod) => [pod.uid, pod]));
  const live = pods.filter(({ status, spec }) => spec?.nodeName === usage.node && !isTerminalPhase(status?.phase));
  const nodes = live.map((pod) => {
    const { namespace, name, uid } = podReference(pod);
    const use = uses.get(nodeUidOf(pod));
    const containers = (pod.spec?.containers ?? []).map((container) => {
      return describeContainer(
        uid,
        container,
        use?.containers.find((one) => one.name === container.name),
      );
    });
    const limits = computePodLimits(pod);
    // A pod without a limit of one container has none as a whole.
    const hasAll = (resource: string) =>
      containers.every((one) => (resource === "cpu" ? one.cpu : one.memory).limit !== undefined);
    const node: CgroupNode = {
      ...{ key: uid, name: `${namespace}/${name}`, kind: "pod", children: containers },
      cpu: amounts(computePodRequests(pod)["cpu"], hasAll("cpu") ? limits["cpu"] : undefined, use?.cpuNanoCores, 1e9),
      memory: amounts(
        computePodRequests(pod)["memory"],
        hasAll("memory") ? limits["memory"] : undefined,
        use?.memoryBytes,
      ),
    };
    return { node, qos: computeQosClass(pod) };
  });
  const ofClass = (wanted: string) => {
    const found = nodes.filter(({ qos }) => qos === wanted).map(({ node }) => node);
    return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  };
  const whole = usage.system.find(({ name }) => name === "pods");
  const children = [
    ...ofClass("Guaranteed"),
    groupOf("burstable", ofClass("Burstable")),
    groupOf("besteffort", ofClass("BestEffort")),
  ];
  const kubepods = { ...groupOf("kubepods", children), kind: "root" as const };
  const daemons = usage.system.filter(({ name }) => name !== "pods");
  return [
    {
      ...kubepods,
      cpu: { ...kubepods.cpu, use: whole?.cpuNanoCores ?? kubepods.cpu.use },
      memory: { ...kubepods.memory, use: whole?.memoryBytes ?? kubepods.memory.use },
    },
    ...daemons.map(describeDaemon),
  ];
}

function describeContainer(uid: string, { name, resources }: Container, use: NamedUse | undefined): CgroupNode {
  const { requests = {}, limits = {} } = resources ?? {};
  return {
    ...{ key: `${uid}/${name}`, name, kind: "container", children: [] },
    cpu: amounts(requests["cpu"] ?? limits["cpu"], limits["cpu"], use?.cpuNanoCores, 1e9),
    memory: amounts(requests["memory"] ?? limits["memory"], limits["memory"], use?.memoryBytes),
  };
}

function describeDaemon({ name, cpuNanoCores, memoryBytes }: NamedUse): CgroupNode {
  const amountsOf = (use: number | undefined) => ({ request: undefined, limit: undefined, use });
  return {
    key: name,
    name,
    kind: "daemon",
    children: [],
    cpu: amountsOf(cpuNanoCores),
    memory: amountsOf(memoryBytes),
  };
}

function groupOf(name: string, children: readonly CgroupNode[]): CgroupNode {
  const total = (pick: (node: CgroupNode) => CgroupAmounts): CgroupAmounts => ({
    request: children.reduce((sum, child) => sum + (pick(child).request ?? 0), 0),
    limit: undefined,
    use: children.reduce((sum, child) => sum + (pick(child).use ?? 0), 0),
  });
  return {
    key: name,
    name,
    kind: "class",
    children,
    cpu: total(({ cpu }) => cpu),
    memory: total(({ memory }) => memory),
  };
}

function amounts(
  request: string | undefined,
  limit: string | undefined,
  use: number | undefined,
  scale = 1,
): CgroupAmounts {
  return { request: amountOf(request, scale), limit: amountOf(limit, scale), use };
}

function amountOf(text: string | undefined, scale: number): number | undefined {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity === undefined ? undefined : (Number(quantity.nanos) / 1e9) * scale;
}
