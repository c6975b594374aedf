import type { Container, LimitRangeItem, Pod } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { computePodLimits, computePodRequests, type ResourceList } from "../../api/resources.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { findClaimViolations, findViolations } from "./limit-constraints.ts";
import { refusal, writtenObject } from "./refusal.ts";

const ANNOTATION = "kubernetes.io/limit-ranger";

/**
 * Gives containers the defaults of their namespace's limit ranges, and refuses pods and claims outside of the ranges
 * (`plugin/pkg/admission/limitranger`). A pod's requests change only by a resize, so other updates are not checked.
 */
export function createLimitRanger(reader: Pick<ResourceReader, "list">): AdmissionPlugin {
  const limitsOf = (namespace: string): LimitRangeItem[] => {
    return reader.list("limitranges", namespace).flatMap((object) => typed("LimitRange", object).spec?.limits ?? []);
  };
  return {
    name: "LimitRanger",
    mutate(request) {
      const object = createdPod(request);
      if (object === undefined) return undefined;
      return setDefaults(typed("Pod", object), limitsOf(request.namespace));
    },
    validate(request) {
      const claim = writtenObject(request, "persistentvolumeclaims");
      const pod = writtenObject(request, "pods/resize", ["UPDATE"]) ?? createdPod(request);
      if ((claim ?? pod) === undefined || request.current?.metadata.deletionTimestamp !== undefined) return;
      const limits = limitsOf(request.namespace);
      const problems = pod ? checkPod(typed("Pod", pod), limits) : [];
      if (claim) problems.push(...checkClaim(claim, limits));
      // Several problems are joined as in upstream's aggregate errors.
      if (problems.length > 0)
        throw refusal(request, problems.length === 1 ? (problems[0] ?? "") : `[${problems.join(", ")}]`);
    },
  };
}

const createdPod = (request: AdmissionRequest) => writtenObject(request, "pods", ["CREATE"]);

function setDefaults(pod: Pod, limits: readonly LimitRangeItem[]): KubeObject | undefined {
  const ofContainers = limits.filter(({ type }) => type === "Container");
  const defaultLimits = Object.assign({}, ...ofContainers.map((item) => item.default));
  const defaultRequests = Object.assign({}, ...ofContainers.map((item) => item.defaultRequest));
  if (pod.spec === undefined) return undefined;
  const notes: string[] = [];
  const withDefaults = (sort: string) => (container: Container) => {
    const requests = addMissing(container.resources?.requests, defaultRequests);
    const containerLimits = addMissing(container.resources?.limits, defaultLimits);
    if (requests.added.length > 0) notes.push(`${requests.added.join(", ")} request for ${sort} ${container.name}`);
    if (containerLimits.added.length > 0) {
      notes.push(`${containerLimits.added.join(", ")} limit for ${sort} ${container.name}`);
    }
    if (requests.added.length + containerLimits.added.length === 0) return container;
    const resources = { ...container.resources, requests: requests.list, limits: containerLimits.list };
    return { ...container, resources };
  };
  const containers = pod.spec.containers.map(withDefaults("container"));
  const initContainers = pod.spec.initContainers?.map(withDefaults("init container"));
  if (notes.length === 0) return undefined;
  const annotations = { ...pod.metadata?.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join("; ")}` };
  return untyped({
    ...pod,
    metadata: { ...pod.metadata, annotations },
    spec: { ...pod.spec, containers, ...(initContainers && { initContainers }) },
  });
}

function addMissing(own: ResourceList = {}, defaults: ResourceList): { list: ResourceList; added: string[] } {
  const added = Object.keys(defaults)
    .filter((name) => own[name] === undefined)
    .sort();
  return { list: { ...defaults, ...own }, added };
}

function checkPod(pod: Pod, limits: readonly LimitRangeItem[]): string[] {
  const { overhead: _notTheAuthors, ...spec } = pod.spec ?? { containers: [] };
  const whole = { ...pod, spec };
  return limits.flatMap((item) => {
    if (item.type === "Pod") {
      return findViolations(item, { requests: computePodRequests(whole), limits: computePodLimits(whole) });
    }
    if (item.type !== "Container") return [];
    const containers = [...spec.containers, ...(spec.initContainers ?? [])];
    return containers.flatMap(({ resources = {} }) => {
      return findViolations(item, { requests: resources.requests ?? {}, limits: resources.limits ?? {} });
    });
  });
}

function checkClaim(object: KubeObject, limits: readonly LimitRangeItem[]): string[] {
  const requests = typed("PersistentVolumeClaim", object).spec?.resources?.requests ?? {};
  return limits.flatMap((item) => (item.type === "PersistentVolumeClaim" ? findClaimViolations(item, requests) : []));
}
