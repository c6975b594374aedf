import { inlineDriverVolumes } from "../../api/cloud-volumes.ts";
import { type CsiVolumeReference, csiVolumeReference } from "../../api/csi-volumes.ts";
import type { Pod, PodAffinityTerm, PodSpec, WeightedPodAffinityTerm } from "../../api/gen/types.ts";
import { type HostPort, hostPortsOf } from "../../api/host-ports.ts";
import { type Amounts, computeRequests } from "../../api/pod-requests.ts";
import { isTerminalPhase } from "../../api/pods.ts";
import type { LabelSelector } from "../../api/selectors/label-selector.ts";
import { parseTime } from "../../base/clock.ts";
import { podClaimsOf } from "../claims/pod-claims.ts";
import { lenientSelectorOf } from "../control-loop/lenient-selector.ts";
import { computeAssumedUse } from "./assumed-use.ts";
import { type PodDisk, podDisksOf } from "./pod-disks.ts";

export type Labels = Readonly<Record<string, string>>;

/** The part of a pod on which the placement of other pods depends. */
export interface PodInfo {
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Labels;
  /** The name of its node; "" for a pod without one. */
  readonly nodeName: string;
  /** The node on which room is being made for it; "" for none. */
  readonly nominatedNode: string;
  readonly priority: number;
  readonly requests: Amounts;
  /** The same where it asks for something; scores take a container that does not to use a little. */
  readonly assumed: Amounts;
  readonly hostPorts: readonly HostPort[];
  /** The pods that it does not want near it. */
  readonly antiAffinity: readonly AffinityTerm[];
  /** The pods that it prefers near it, or not near it. */
  readonly preferences: readonly WeighedTerm[];
  /** The same and the pods that it needs near it: where it is, such pods are welcome. */
  readonly attractions: readonly WeighedTerm[];
  /** The names of its claims, in its namespace. */
  readonly claims: readonly string[];
  /** The volumes that it names itself and that are attached to its node; claims lead to others. */
  readonly inlineVolumes: readonly CsiVolumeReference[];
  /** The disks that it names itself and does not share with every other pod. */
  readonly disks: readonly PodDisk[];
  readonly isTerminating: boolean;
  /** True when its containers have ended for good: it takes nothing of its node then. */
  readonly isTerminal: boolean;
  /** True when it is deleted because this scheduler needs its place. */
  readonly isPreempted: boolean;
  /** When it started, in milliseconds since the epoch; for a pod that has not started, when it was created. */
  readonly startedAt: number;
}

/** A term of pod affinity, prepared for matching. */
export interface AffinityTerm {
  readonly topologyKey: string;
  readonly namespaces: ReadonlySet<string>;
  /** Undefined when only the listed namespaces count. */
  readonly namespaceSelector: LabelSelector | undefined;
  readonly selector: LabelSelector;
}

/** A term with how much it matters, less than 0 for pods that are better far away. */
export interface WeighedTerm {
  readonly term: AffinityTerm;
  readonly weight: number;
}

/** Returns the labels of a namespace. */
export type NamespaceLabels = (name: string) => Labels;

/** The condition that says why a pod is being deleted. */
export const DISRUPTION_TARGET = "DisruptionTarget";
/** The reason of that condition when the scheduler needs the pod's place. */
export const PREEMPTION_REASON = "PreemptionByScheduler";

/** The pod as the placement of other pods sees it. */
export function podInfoOf(pod: Pod): PodInfo {
  const { metadata = {}, spec, status } = pod;
  const { namespace = "", name = "", uid = "", labels = {} } = metadata;
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  const preferences = preferencesOf(spec, namespace);
  const needed = termsOf(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution, namespace);
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    uid,
    labels,
    nodeName: spec?.nodeName ?? "",
    nominatedNode: status?.nominatedNodeName ?? "",
    priority: spec?.priority ?? 0,
    requests: computeRequests(pod),
    assumed: computeAssumedUse(pod),
    preferences,
    attractions: [...preferences, ...needed.map((term) => ({ term, weight: 1 }))],
    hostPorts: hostPortsOf(pod),
    antiAffinity: termsOf(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution, namespace),
    claims: podClaimsOf(pod).map(({ claim }) => claim),
    inlineVolumes: inlineDriverVolumes(pod).flatMap((volume) => csiVolumeReference(volume) ?? []),
    disks: podDisksOf(spec?.volumes ?? []),
    isTerminating: metadata.deletionTimestamp !== undefined,
    isTerminal: isTerminalPhase(status?.phase),
    isPreempted: isPreempted(pod),
    startedAt: parseTime(status?.startTime) ?? parseTime(metadata.creationTimestamp) ?? 0,
  };
}

function isPreempted({ status }: Pod): boolean {
  return (status?.conditions ?? []).some(({ type, status: value, reason }) => {
    return type === DISRUPTION_TARGET && value === "True" && reason === PREEMPTION_REASON;
  });
}

function preferencesOf(spec: PodSpec | undefined, namespace: string): WeighedTerm[] {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  const weigh = (sign: 1 | -1, preferred: readonly WeightedPodAffinityTerm[] = []) =>
    preferred.flatMap(({ podAffinityTerm, weight }) => {
      return termsOf([podAffinityTerm], namespace).map((term) => ({ term, weight: sign * weight }));
    });
  return [
    ...weigh(1, podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    ...weigh(-1, podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  ];
}

/** The affinity terms of a pod in this namespace. */
export function termsOf(terms: readonly PodAffinityTerm[] | undefined, namespace: string): AffinityTerm[] {
  return (terms ?? []).map(({ topologyKey, labelSelector, namespaces = [], namespaceSelector }) => {
    const isOwn = namespaces.length === 0 && namespaceSelector === undefined;
    return {
      topologyKey,
      namespaces: new Set(isOwn ? [namespace] : namespaces),
      namespaceSelector: namespaceSelector && lenientSelectorOf(namespaceSelector),
      selector: lenientSelectorOf(labelSelector),
    };
  });
}

/** True when the term matches the pod. */
export function isTermAbout(
  term: AffinityTerm,
  { namespace, labels }: Pick<PodInfo, "namespace" | "labels">,
  namespaceLabels: NamespaceLabels,
): boolean {
  const isInNamespace =
    term.namespaces.has(namespace) || (term.namespaceSelector?.matches(namespaceLabels(namespace)) ?? false);
  return isInNamespace && term.selector.matches(labels);
}
