import { invalidError } from "../../api/api-error.ts";
import type { FieldError } from "../../api/field-error.ts";
import type { Pod, PodSpec, PriorityClass } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { forbidden } from "../../api/validation/problems.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { refusal, writtenObject } from "./refusal.ts";

/** The largest value of a user's class. */
const HIGHEST_USER_PRIORITY = 1_000_000_000;
const CRITICAL_POD_ANNOTATION = "scheduler.alpha.kubernetes.io/critical-pod";
const SYSTEM_PREFIX = "system-";
const CLUSTER_CRITICAL = "system-cluster-critical";

/**
 * The classes that every cluster has. They are created at the start and restored when they are gone. A pod that names
 * one is critical, also for the node agent's preemption and eviction, whether the object exists yet or not.
 */
export const SYSTEM_PRIORITY_CLASSES: readonly KubeObject[] = [
  systemClass({
    name: "system-node-critical",
    value: 2_000_001_000,
    description: "Used for system critical pods that must not be moved from their current node.",
  }),
  systemClass({
    name: CLUSTER_CRITICAL,
    value: 2_000_000_000,
    description:
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  }),
];

function systemClass(options: { name: string; value: number; description: string }): KubeObject {
  const { name, value, description } = options;
  return {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name },
    value,
    description,
    preemptionPolicy: "PreemptLowerPriority",
  };
}

export interface PriorityOptions {
  /**
   * Gives a pod in kube-system with the annotation `scheduler.alpha.kubernetes.io/critical-pod: ""` and no class
   * `system-cluster-critical`, as the gate ExperimentalCriticalPodAnnotation did before 1.16. Default false.
   */
  legacyCriticalPodAnnotation?: boolean;
}

/**
 * Sets a pod's priority from its class when the pod is created; the author cannot choose the number
 * (`plugin/pkg/admission/priority`). It also judges priority classes themselves.
 */
export function createPriority(reader: ResourceReader, options: PriorityOptions = {}): AdmissionPlugin {
  return {
    name: "Priority",
    mutate(request) {
      const object = writtenObject(request, "pods");
      if (object === undefined) return undefined;
      const pod = typed("Pod", object);
      if (request.operation === "UPDATE") return keepPriority(pod, request.current);
      const named = nameClass(pod, request.namespace, options);
      return untyped({ ...pod, spec: resolvePriority(request, named, reader) });
    },
    validate(request) {
      const object = writtenObject(request, "priorityclasses.scheduling.k8s.io");
      if (object !== undefined) validatePriorityClass(request, typed("PriorityClass", object), reader);
    },
  };
}

/** Keeps the fields in an update by a client from before 1.11, which does not know them. */
function keepPriority(pod: Pod, current: KubeObject | undefined): KubeObject | undefined {
  const old = current && typed("Pod", current).spec;
  if (pod.spec === undefined || old === undefined) return undefined;
  const { priority = old.priority, preemptionPolicy = old.preemptionPolicy } = pod.spec;
  const kept = {
    ...(priority !== undefined && { priority }),
    ...(preemptionPolicy !== undefined && { preemptionPolicy }),
  };
  return untyped({ ...pod, spec: { ...pod.spec, ...kept } });
}

function nameClass(pod: Pod, namespace: string, options: PriorityOptions): PodSpec {
  const spec = pod.spec ?? { containers: [] };
  const isMarked = namespace === "kube-system" && pod.metadata?.annotations?.[CRITICAL_POD_ANNOTATION] === "";
  const isCritical = options.legacyCriticalPodAnnotation === true && isMarked && !spec.priorityClassName;
  return isCritical ? { ...spec, priorityClassName: CLUSTER_CRITICAL } : spec;
}

function resolvePriority(request: AdmissionRequest, spec: PodSpec, reader: ResourceReader): PodSpec {
  const found = spec.priorityClassName ? findClass(reader, spec.priorityClassName) : findDefaultClass(reader);
  if (spec.priorityClassName && found === undefined) {
    throw refusal(request, `no PriorityClass with name ${spec.priorityClassName} was found`);
  }
  const priority = found?.value ?? 0;
  const policy = found === undefined ? "PreemptLowerPriority" : found.preemptionPolicy;
  if (spec.priority !== undefined && spec.priority !== priority) {
    throw refusal(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  }
  if (policy !== undefined && spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refusal(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  const name = found?.metadata?.name;
  return {
    ...spec,
    ...(name !== undefined && { priorityClassName: name }),
    priority,
    ...(policy !== undefined && { preemptionPolicy: policy }),
  };
}

function findClass(reader: ResourceReader, name: string): PriorityClass | undefined {
  const stored = reader.get({ resource: "priorityclasses.scheduling.k8s.io", namespace: "", name });
  const found = stored ?? SYSTEM_PRIORITY_CLASSES.find(({ metadata }) => metadata.name === name);
  return found && typed("PriorityClass", found);
}

/**
 * The default class. Of several, which only older data can contain, it is the lowest: a mistake should not raise a pod
 * above the others.
 */
function findDefaultClass(reader: ResourceReader): PriorityClass | undefined {
  const defaults = reader
    .list("priorityclasses.scheduling.k8s.io")
    .map((object) => typed("PriorityClass", object))
    .filter(({ globalDefault }) => globalDefault === true);
  return defaults.toSorted((a, b) => (a.value ?? 0) - (b.value ?? 0))[0];
}

function validatePriorityClass(request: AdmissionRequest, priorityClass: PriorityClass, reader: ResourceReader): void {
  const name = priorityClass.metadata?.name ?? "";
  const errors = checkReserved(priorityClass, name);
  if (errors.length > 0) throw invalidError({ group: "scheduling.k8s.io", kind: "PriorityClass" }, name, errors);
  if (priorityClass.globalDefault !== true) return;
  const other = findDefaultClass(reader)?.metadata?.name;
  if (other !== undefined && (request.operation === "CREATE" || other !== name)) {
    throw refusal(request, `PriorityClass ${other} is already marked as default. Only one default can exist`);
  }
}

/**
 * Checks that names beginning with `system-`, and values above the users' range, belong to the built-in classes alone.
 */
function checkReserved({ value = 0, globalDefault = false }: PriorityClass, name: string): FieldError[] {
  if (!name.startsWith(SYSTEM_PREFIX)) {
    if (value <= HIGHEST_USER_PRIORITY) return [];
    return [forbidden("value", `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`)];
  }
  const known = SYSTEM_PRIORITY_CLASSES.find(({ metadata }) => metadata.name === name);
  const knownValue = known && typed("PriorityClass", known).value;
  let problem = "";
  if (knownValue === undefined) problem = `${name} is not a known system priority class`;
  else if (value !== knownValue) problem = `value of ${name} PriorityClass must be ${knownValue}`;
  else if (globalDefault) problem = `globalDefault of ${name} PriorityClass must be false`;
  if (problem === "") return [];
  const rule = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only`;
  return [forbidden("metadata.name", `${rule}. error: ${problem}`)];
}
