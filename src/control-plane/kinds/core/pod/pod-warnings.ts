import type { NodeSelectorTerm, Pod, PodAffinityTerm, PodSpec, Volume } from "../../../../api/gen/types.ts";
import { BETA_NODE_LABELS, NODE_LABELS } from "../../../../api/node-names.ts";
import { isNew, type KubeObject, typed } from "../../../../api/object.ts";
import { checkDnsLabel } from "../../../../api/validation/names.ts";
import { containerWarnings, fractionWarnings, portWarnings } from "./pod-container-warnings.ts";

/**
 * The warnings about a new pod: valid fields that are hardly intended. Updates get none, because users do not update
 * pods and controllers would be warned forever.
 */
export function podWarnings(object: KubeObject): string[] {
  if (!isNew(object)) return [];
  const pod = typed("Pod", object);
  return [...hostnameWarnings(pod), ...podTemplateWarnings(pod, "")];
}

function hostnameWarnings({ metadata }: Pod): string[] {
  const problems = checkDnsLabel(metadata?.name ?? "");
  if (problems.length === 0) return [];
  const advice =
    "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: ${advice}: [${problems.join(" ")}]`];
}

/**
 * The warnings about a template of pods. `prefix` is its path with a dot; "" for a pod. Upstream:
 * pkg/api/pod/warnings.go.
 */
export function podTemplateWarnings(pod: Pod, prefix: string): string[] {
  const { spec } = pod;
  if (spec === undefined) return [];
  return [
    ...nodeLabelWarnings(spec, prefix),
    ...spreadWarnings(spec, prefix),
    ...annotationWarnings(pod, prefix),
    ...(spec.volumes ?? []).flatMap((volume, index) => volumeWarnings(volume, `${prefix}spec.volumes[${index}]`)),
    ...repetitionWarnings(spec, prefix),
    ...fractionWarnings(spec.overhead, `${prefix}spec.overhead`),
    ...containerWarnings(pod, prefix),
    ...portWarnings(spec, prefix),
    ...graceWarnings(spec, prefix),
    ...affinityWarnings(spec, prefix),
  ];
}

/** The labels of nodes that have newer names. */
const DEPRECATED_NODE_LABELS: ReadonlyMap<string, string> = new Map([
  [BETA_NODE_LABELS.architecture, `deprecated since v1.14; use "${NODE_LABELS.architecture}" instead`],
  [BETA_NODE_LABELS.os, `deprecated since v1.14; use "${NODE_LABELS.os}" instead`],
  [BETA_NODE_LABELS.region, `deprecated since v1.17; use "${NODE_LABELS.region}" instead`],
  [BETA_NODE_LABELS.zone, `deprecated since v1.17; use "${NODE_LABELS.zone}" instead`],
  [BETA_NODE_LABELS.instanceType, `deprecated since v1.17; use "${NODE_LABELS.instanceType}" instead`],
]);

function nodeLabelWarnings({ nodeSelector = {}, affinity }: PodSpec, prefix: string): string[] {
  const selectors = Object.keys(nodeSelector).flatMap((label) => {
    const advice = DEPRECATED_NODE_LABELS.get(label);
    return advice === undefined ? [] : [`${prefix}spec.nodeSelector[${label}]: ${advice}`];
  });
  const path = `${prefix}spec.affinity.nodeAffinity`;
  const { requiredDuringSchedulingIgnoredDuringExecution: required, ...wishes } = affinity?.nodeAffinity ?? {};
  const { preferredDuringSchedulingIgnoredDuringExecution: preferred = [] } = wishes;
  return [
    ...selectors,
    ...(required?.nodeSelectorTerms ?? []).flatMap((term, index) =>
      termWarnings(term, `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${index}]`),
    ),
    ...preferred.flatMap(({ preference }, index) =>
      termWarnings(preference, `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}].preference`),
    ),
  ];
}

function termWarnings({ matchExpressions = [] }: NodeSelectorTerm, path: string): string[] {
  return matchExpressions.flatMap(({ key }, index) => {
    const advice = DEPRECATED_NODE_LABELS.get(key);
    return advice === undefined ? [] : [`${path}.matchExpressions[${index}].key: ${key} is ${advice}`];
  });
}

const MATCHES_NOTHING = "a null labelSelector results in matching no pod";

function spreadWarnings({ topologySpreadConstraints = [] }: PodSpec, prefix: string): string[] {
  return topologySpreadConstraints.flatMap(({ topologyKey, labelSelector }, index) => {
    const path = `${prefix}spec.topologySpreadConstraints[${index}]`;
    const advice = DEPRECATED_NODE_LABELS.get(topologyKey);
    return [
      ...(advice === undefined ? [] : [`${path}.topologyKey: ${topologyKey} is ${advice}`]),
      ...(labelSelector ? [] : [`${path}.labelSelector: ${MATCHES_NOTHING}`]),
    ];
  });
}

/** The annotations that fields have replaced. */
const DEPRECATED_ANNOTATIONS: ReadonlyMap<string, string> = new Map([
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
]);

const SECCOMP_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod";

function annotationWarnings({ metadata, spec }: Pod, prefix: string): string[] {
  const { annotations = {} } = metadata ?? {};
  const path = (annotation: string) => `${prefix}metadata.annotations[${annotation}]`;
  const warnings = [...DEPRECATED_ANNOTATIONS].flatMap(([annotation, advice]) => {
    return annotations[annotation] === undefined ? [] : [`${path(annotation)}: ${advice}`];
  });
  if (annotations[SECCOMP_ANNOTATION] !== undefined && !spec?.securityContext?.seccompProfile) {
    warnings.push(`${path(SECCOMP_ANNOTATION)}: non-functional in v1.27+; use the "seccompProfile" field instead`);
  }
  return warnings;
}

/** The volume plugins that are deprecated or removed. */
const DEPRECATED_VOLUMES: ReadonlyArray<readonly [keyof Volume, string]> = [
  ["photonPersistentDisk", "photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "gitRepo: deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "scaleIO: deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "flocker: deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "storageOS: deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "quobyte: deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs: deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "cephfs: deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "rbd: deprecated in v1.28, non-functional in v1.31+"],
];

function volumeWarnings(volume: Volume, path: string): string[] {
  const deprecated = DEPRECATED_VOLUMES.filter(([source]) => volume[source] !== undefined);
  const claim = volume.ephemeral?.volumeClaimTemplate?.spec.resources?.requests;
  return [
    ...deprecated.map(([, advice]) => `${path}.${advice}`),
    ...fractionWarnings(claim, `${path}.ephemeral.volumeClaimTemplate.spec.resources.requests`),
  ];
}

/** The warnings about repeated entries, which an apply merges. */
function repetitionWarnings({ hostAliases = [], imagePullSecrets = [] }: PodSpec, prefix: string): string[] {
  const secrets = imagePullSecrets.map(({ name = "" }) => name);
  return [
    ...repeated(
      hostAliases.map(({ ip }) => ip),
      (index, ip) => `${prefix}spec.hostAliases[${index}].ip: duplicate ip "${ip}"`,
    ),
    ...repeated(secrets, (index, name) => `${prefix}spec.imagePullSecrets[${index}].name: duplicate name "${name}"`),
    ...secrets.flatMap((name, index) => {
      return name === "" ? [`${prefix}spec.imagePullSecrets[${index}].name: invalid empty name ""`] : [];
    }),
  ];
}

function repeated(values: readonly string[], describe: (index: number, value: string) => string): string[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [describe(index, value)] : []));
}

function graceWarnings({ terminationGracePeriodSeconds: seconds }: PodSpec, prefix: string): string[] {
  if (seconds === undefined || seconds >= 0) return [];
  return [
    `${prefix}spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
  ];
}

function affinityWarnings({ affinity }: PodSpec, prefix: string): string[] {
  return (["podAffinity", "podAntiAffinity"] as const).flatMap((field) => {
    const path = `${prefix}spec.affinity.${field}`;
    const terms = affinity?.[field]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const wishes = affinity?.[field]?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    return [
      ...terms.flatMap((term, index) =>
        selectorWarnings(term, `${path}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`),
      ),
      ...wishes.flatMap(({ podAffinityTerm }, index) =>
        selectorWarnings(
          podAffinityTerm,
          `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm`,
        ),
      ),
    ];
  });
}

function selectorWarnings({ labelSelector }: PodAffinityTerm, path: string): string[] {
  return labelSelector ? [] : [`${path}.labelSelector: ${MATCHES_NOTHING}`];
}
