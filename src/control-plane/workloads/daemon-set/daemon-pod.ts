import type { Affinity, DaemonSet, Pod, PodSpec, Toleration } from "../../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed } from "../../../api/object.ts";
import { computeNamedNodes } from "../../../api/selectors/node-selector.ts";
import { podFromTemplate } from "../pod-control/pod-from-template.ts";

const GENERATION_LABEL = "pod-template-generation";
const GENERATION_ANNOTATION = "deprecated.daemonset.template.generation";
/** The hash of the template that a pod or a revision is of. */
export const DAEMON_HASH_LABEL = "controller-revision-hash";

const EXECUTED = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const SCHEDULED = ["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"];

/** A new pod of the daemon set, which the scheduler binds to this node and to no other. */
export function podOfDaemonSet(owner: KubeObject, nodeName: string, hash: string): ObjectOf<"Pod"> {
  const set = typed("DaemonSet", owner);
  const pod = podFromTemplate(set.spec?.template ?? {}, owner);
  const generation = generationOf(set);
  const labels = {
    ...pod.metadata.labels,
    ...(generation !== undefined && { [GENERATION_LABEL]: generation }),
    [DAEMON_HASH_LABEL]: hash,
  };
  const spec = pod.spec ?? { containers: [] };
  const affinity = bindToNode(spec.affinity, nodeName);
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: { ...spec, affinity, tolerations: tolerationsOf(spec) },
  };
}

/** The spec with what it tolerates as a daemon, for the question whether it may be on a node. */
export function daemonSpecOf({ spec }: DaemonSet): PodSpec {
  const pod = spec?.template.spec ?? { containers: [] };
  return { ...pod, tolerations: tolerationsOf(pod) };
}

/** True for a pod of the present template. */
export function isUpToDate(set: DaemonSet, { metadata }: Pod, hash: string): boolean {
  const generation = generationOf(set);
  const labels = metadata?.labels ?? {};
  return labels[DAEMON_HASH_LABEL] === hash || (generation !== undefined && labels[GENERATION_LABEL] === generation);
}

/** The node on which the pod is, or for which it was made; undefined for a pod that names none, or several. */
export function targetNodeOf({ spec = { containers: [] } }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const [name, ...others] = computeNamedNodes(spec) ?? [];
  return others.length === 0 ? name : undefined;
}

function generationOf({ metadata }: DaemonSet): string | undefined {
  return metadata?.annotations?.[GENERATION_ANNOTATION];
}

/** A daemon stays where others leave, and is placed where others are not. */
function tolerationsOf({ tolerations = [], hostNetwork }: PodSpec): Toleration[] {
  const own = [
    ...EXECUTED.map((key) => ({ key, operator: "Exists", effect: "NoExecute" })),
    ...[...SCHEDULED, ...(hostNetwork ? ["network-unavailable"] : [])].map((name) => {
      return { key: `node.kubernetes.io/${name}`, operator: "Exists", effect: "NoSchedule" };
    }),
  ];
  const isSame = (a: Toleration, b: Toleration) =>
    a.key === b.key && a.effect === b.effect && a.operator === b.operator;
  return [...tolerations.filter((given) => !own.some((added) => isSame(given, added))), ...own];
}

/** The node takes the place of all terms of the template, which has been matched with the node before. */
function bindToNode(affinity: Affinity | undefined, nodeName: string): Affinity {
  const matchFields = [{ key: "metadata.name", operator: "In", values: [nodeName] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required };
  return { ...affinity, nodeAffinity };
}
