import { cloneJson } from "../../../../api/clone-json.ts";
import type { FieldError } from "../../../../api/field-error.ts";
import type { ContainerStatus, Pod, PodCondition, PodStatus } from "../../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../../api/object.ts";
import { isRestartableInitContainer } from "../../../../api/pods.ts";
import { checkDnsSubdomain, checkQualifiedName, isIpAddress } from "../../../../api/validation/names.ts";
import { duplicate, each, forbidden, invalid, invalidEach } from "../../../../api/validation/problems.ts";
import type { Subresource } from "../../../ports/resource-kind.ts";
import { immutable } from "../../rules/immutable.ts";
import { coreSubresource, PART_VERBS, takeAllButSpec } from "../../subresource.ts";
import { validateMirrorAnnotation } from "./pod-mirror-annotation.ts";

/** The subresource by which a pod's agent reports its state. */
export const POD_STATUS: Subresource = {
  ...coreSubresource("status", "Pod", PART_VERBS),
  take: takeStatus,
  validateUpdate: validateStatusUpdate,
};

/**
 * The current pod with everything of the next one but the spec and the owners, which old kubelets would drop. Fields
 * that a kubelet may leave out stay: the QoS class, and the generation at which a status or condition was seen.
 */
function takeStatus(next: KubeObject, current: KubeObject): KubeObject {
  const taken = cloneJson(typed("Pod", takeAllButSpec(next, current)));
  const old = typed("Pod", current);
  const { ownerReferences: _refused, ...metadata } = taken.metadata ?? {};
  const owners = old.metadata?.ownerReferences;
  const status = taken.status ?? {};
  const { qosClass, observedGeneration, conditions = [] } = old.status ?? {};
  if (!status.qosClass && qosClass !== undefined) status.qosClass = qosClass;
  if (!status.observedGeneration && observedGeneration !== undefined) status.observedGeneration = observedGeneration;
  if (status.conditions) keepObservedGenerations(status.conditions, conditions);
  return untyped({ ...taken, metadata: { ...metadata, ...(owners && { ownerReferences: owners }) }, status });
}

/**
 * Keeps the observed generations of the conditions. Where several conditions have one type, the first takes over from
 * the first, and so on.
 */
function keepObservedGenerations(conditions: PodCondition[], before: readonly PodCondition[]): void {
  const known = new Map<string, Array<number | undefined>>();
  for (const { type, observedGeneration } of before) known.set(type, [...(known.get(type) ?? []), observedGeneration]);
  for (const condition of conditions) {
    const generation = known.get(condition.type)?.shift();
    if (!condition.observedGeneration && generation !== undefined) condition.observedGeneration = generation;
  }
}

function validateStatusUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  const pod = typed("Pod", next);
  const old = typed("Pod", current);
  const { status = {} } = pod;
  return [
    ...validateMirrorAnnotation(next, current),
    ...validateConditions(status.conditions),
    ...validateNominatedNode(status, old.status ?? {}),
    ...immutable("status.qosClass", status.qosClass, old.status?.qosClass),
    ...validateTransitions(pod, old),
    ...validateClaimStatuses(pod),
    ...validateAddresses(status),
  ];
}

const SYSTEM_CONDITIONS = ["PodScheduled", "Ready", "Initialized"];

function validateConditions(conditions: PodCondition[] | undefined): FieldError[] {
  // Upstream looks for conditions in the metadata as well, and users may have seen this path.
  return each("metadata.conditions", conditions, ({ type }, path) => {
    return SYSTEM_CONDITIONS.includes(type) ? [] : invalidEach(`${path}.Type`, type, checkQualifiedName(type));
  });
}

function validateNominatedNode({ nominatedNodeName = "" }: PodStatus, old: PodStatus): FieldError[] {
  if (nominatedNodeName === "" || nominatedNodeName === old.nominatedNodeName) return [];
  return invalidEach("status.nominatedNodeName", nominatedNodeName, checkDnsSubdomain(nominatedNodeName));
}

/**
 * The problems of state changes. By the restart policies of the pod and the container, one that ended for good stays
 * ended.
 */
function validateTransitions(pod: Pod, old: Pod): FieldError[] {
  const { restartPolicy = "Always", restartRules = () => false } = restartsOf(old);
  const { status = {} } = pod;
  const { status: before = {} } = old;
  return [
    ...validateStates("status.containerStatuses", status.containerStatuses, {
      before: before.containerStatuses,
      mayRestart: (ended) => mayRestart(ended, restartPolicy) || restartRules(ended.name),
    }),
    ...validateStates("status.initContainerStatuses", status.initContainerStatuses, {
      before: before.initContainerStatuses,
      mayRestart: (ended) => mayRestart(ended, restartPolicy) || restartRules(ended.name),
    }),
    // An ephemeral container runs once.
    ...validateStates("status.ephemeralContainerStatuses", status.ephemeralContainerStatuses, {
      before: before.ephemeralContainerStatuses,
      mayRestart: () => false,
    }),
  ];
}

interface Restarts {
  restartPolicy?: string | undefined;
  /** True for sidecars and for containers with a policy or rules of their own, whose restarts the node judges. */
  restartRules(container: string): boolean;
}

function restartsOf({ spec }: Pod): Restarts {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const rules = containers.flatMap(({ restartPolicyRules = [] }) => restartPolicyRules);
  if (rules.some(({ action }) => action === "RestartAllContainers")) return { restartRules: () => true };
  const own = new Set<string>();
  for (const { name, restartPolicy, restartPolicyRules = [] } of containers) {
    if ((restartPolicy !== undefined && restartPolicy !== "Never") || restartPolicyRules.length > 0) own.add(name);
  }
  for (const container of spec?.initContainers ?? [])
    if (isRestartableInitContainer(container)) own.add(container.name);
  return { restartPolicy: spec?.restartPolicy, restartRules: (name) => own.has(name) };
}

function mayRestart({ state }: ContainerStatus, restartPolicy: string): boolean {
  return restartPolicy === "Always" || (restartPolicy === "OnFailure" && state?.terminated?.exitCode !== 0);
}

function validateStates(
  path: string,
  statuses: readonly ContainerStatus[] = [],
  { before = [], mayRestart }: { before: ContainerStatus[] | undefined; mayRestart(ended: ContainerStatus): boolean },
): FieldError[] {
  return each(path, before, (old, place) => {
    if (old.state?.terminated === undefined || mayRestart(old)) return [];
    const isRevived = statuses.some(({ name, state }) => name === old.name && state?.terminated === undefined);
    return isRevived ? [forbidden(`${place}.state`, "may not be transitioned to non-terminated state")] : [];
  });
}

function validateClaimStatuses({ spec, status }: Pod): FieldError[] {
  const claims = new Set((spec?.resourceClaims ?? []).map(({ name }) => name));
  const seen = new Set<string>();
  return each("status.resourceClaimStatuses", status?.resourceClaimStatuses, ({ name, resourceClaimName }, path) => {
    const errors: FieldError[] = [];
    const detail = "must match the name of an entry in `spec.resourceClaims`";
    if (!claims.has(name)) errors.push(invalid(`${path}.name`, name, detail));
    if (seen.has(name)) errors.push(duplicate(`${path}.name`, name));
    seen.add(name);
    if (resourceClaimName === undefined) return errors;
    return [...errors, ...invalidEach(`${path}.name`, resourceClaimName, checkDnsSubdomain(resourceClaimName))];
  });
}

function validateAddresses({ podIPs = [], hostIPs = [] }: PodStatus): FieldError[] {
  return [...validateAddressList("podIPs", podIPs), ...validateAddressList("hostIPs", hostIPs)];
}

/** The problems of a list of addresses. It has at most one of each family, the first of which is the primary. */
function validateAddressList(field: "podIPs" | "hostIPs", addresses: readonly { ip?: string }[]): FieldError[] {
  const path = `status.${field}`;
  const ips = addresses.map(({ ip = "" }) => ip);
  const errors = ips.flatMap((ip, index) => {
    return isIpAddress(ip)
      ? []
      : [invalid(`${path}[${index}]`, ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];
  });
  if (errors.length > 0 || ips.length < 2) return errors;
  const families = new Set(ips.map((ip) => ip.includes(":")));
  if (families.size < 2 || ips.length > 2) {
    return [invalid(path, addresses, "may specify no more than one IP for each IP family")];
  }
  return [];
}
