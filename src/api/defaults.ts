import { cloneJson } from "./clone-json.ts";
import { defaultFieldRef, roundResources } from "./default-field.ts";
import { defaultVolume } from "./default-volume.ts";
import type { Container, HTTPGetAction, LifecycleHandler, Pod, PodSpec, Probe } from "./gen/types.ts";
import { defaultImagePullPolicy } from "./image-reference.ts";
import {
  computeContainerLimits,
  computeContainerRequests,
  isPodLevelResource,
  type ResourceList,
} from "./resources.ts";

/**
 * Returns the pod with every field set that kube-apiserver sets when the manifest leaves it out, so that a pod from a
 * file and the same pod from the API server are alike. It is a new pod; defaulting twice changes nothing more.
 */
export function defaultPod(pod: Pod): Pod {
  const defaulted = cloneJson(pod);
  defaulted.spec ??= { containers: [] };
  const { spec } = defaulted;
  const { containers, initContainers = [], ephemeralContainers = [] } = spec;
  for (const container of [...containers, ...initContainers]) {
    defaultRequests(container);
    if (spec.hostNetwork) defaultHostPorts(container);
  }
  // Pod-level resources sum over the containers, so they are set only after the containers' own.
  defaultPodLevelResources(defaulted, spec);
  for (const container of [...containers, ...initContainers, ...ephemeralContainers]) defaultContainer(container);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  defaultPodSpec(spec);
  return defaulted;
}

function defaultPodSpec(spec: PodSpec): void {
  spec.enableServiceLinks ??= true;
  spec.dnsPolicy ||= "ClusterFirst";
  spec.restartPolicy ||= "Always";
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ||= "default-scheduler";
  roundResources(spec.overhead);
  roundResources(spec.resources?.limits);
  roundResources(spec.resources?.requests);
  // The old name of the field and the new one always agree.
  const account = spec.serviceAccountName || spec.serviceAccount;
  if (account) Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
}

/** Requests the limit of each resource that has a limit and no request. */
function defaultRequests(container: Container): void {
  const { resources } = container;
  if (!resources?.limits) return;
  resources.requests = { ...resources.limits, ...resources.requests };
}

/** On the host network a container port is the host's port. */
function defaultHostPorts(container: Container): void {
  for (const port of container.ports ?? []) port.hostPort ||= port.containerPort;
}

/** Pod-level hugepages limits and all pod-level requests follow the containers' sums, else the pod-level limits. */
function defaultPodLevelResources(pod: Pod, spec: PodSpec): void {
  const { resources } = spec;
  if (!resources || Object.keys({ ...resources.limits, ...resources.requests }).length === 0) return;
  const hugePages: ResourceList = {};
  for (const [name, limit] of Object.entries(computeContainerLimits(pod))) {
    if (name.startsWith("hugepages-") && resources.requests?.[name] === undefined) hugePages[name] = limit;
  }
  const limits = { ...hugePages, ...resources.limits };
  if (Object.keys(limits).length === 0) return;
  resources.limits = limits;
  const requests = { ...resources.requests };
  for (const [name, request] of Object.entries(computeContainerRequests(pod))) {
    if (isPodLevelResource(name) && !name.startsWith("hugepages-")) requests[name] ??= request;
  }
  for (const [name, limit] of Object.entries(limits)) if (isPodLevelResource(name)) requests[name] ??= limit;
  if (Object.keys(requests).length > 0) resources.requests = requests;
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy ||= defaultImagePullPolicy(container.image ?? "");
  container.terminationMessagePath ||= "/dev/termination-log";
  container.terminationMessagePolicy ||= "File";
  for (const port of container.ports ?? []) port.protocol ||= "TCP";
  for (const { valueFrom } of container.env ?? []) {
    defaultFieldRef(valueFrom?.fieldRef);
    if (valueFrom?.fileKeyRef) valueFrom.fileKeyRef.optional ??= false;
  }
  roundResources(container.resources?.limits);
  roundResources(container.resources?.requests);
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) defaultProbe(probe);
  defaultHandler(container.lifecycle?.postStart);
  defaultHandler(container.lifecycle?.preStop);
}

function defaultProbe(probe: Probe | undefined): void {
  if (!probe) return;
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  defaultHttpGet(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= "";
}

function defaultHandler(handler: LifecycleHandler | undefined): void {
  defaultHttpGet(handler?.httpGet);
}

function defaultHttpGet(action: HTTPGetAction | undefined): void {
  if (!action) return;
  action.path ||= "/";
  action.scheme ||= "HTTP";
}
