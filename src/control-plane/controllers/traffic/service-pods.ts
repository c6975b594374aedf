import type { Pod, Service, ServicePort } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { isTerminalPhase, podContainers, readyCondition } from "../../../api/pods.ts";
import { parseTime } from "../../../base/clock.ts";
import { namespacedKeyOf } from "../../control-loop/namespaced-key.ts";
import { createObjectIndex } from "../../control-loop/object-index.ts";
import type { ResourceEvent, ResourceFeed, ResourceReader } from "../../ports/resources.ts";

/** Knows which pods belong to which services, and tells of services whose endpoints may have changed. */
interface ServicePods {
  /** Follows services and pods. Returns how to stop. */
  follow(onChanged: (serviceKey: string) => void): ReadonlyArray<() => void>;
  /** The pods that the service selects, in order of their names. */
  podsOf(service: Service): Pod[];
  /** When the newest change happened that is not told of yet, in milliseconds since the epoch; it is forgotten. */
  takeTriggerTime(serviceKey: string): number | undefined;
}

/** Creates the knowledge of nothing yet. */
export function createServicePods({ reader, feed }: { reader: ResourceReader; feed: ResourceFeed }): ServicePods {
  // A selector is looked up by one of its labels, and a pod by each of its own.
  const services = createObjectIndex((object) => firstTermOf(typed("Service", object)));
  const pods = createObjectIndex((object) => termsOf(object));
  const triggers = new Map<string, number>();

  const noteTrigger = (key: string, time: string | undefined) => {
    const at = parseTime(time);
    if (at !== undefined) triggers.set(key, Math.min(at, triggers.get(key) ?? at));
  };
  const selecting = (pod: KubeObject): string[] => {
    const candidates = new Set(termsOf(pod).flatMap((term) => services.keysOf(term)));
    return [...candidates].filter((key) => {
      const [namespace = "", name = ""] = key.split("/");
      const service = reader.get({ resource: "services", namespace, name });
      return service !== undefined && isSelected(typed("Service", service), typed("Pod", pod));
    });
  };
  const onPod = (event: ResourceEvent, onChanged: (serviceKey: string) => void) => {
    pods.apply(event);
    const before = event.previous === undefined ? [] : selecting(event.previous);
    const changed = new Set([...before, ...selecting(event.object)]);
    for (const key of changed) {
      noteTrigger(key, triggerTimeOf(typed("Pod", event.object), event.previous && typed("Pod", event.previous)));
      onChanged(key);
    }
  };

  return {
    follow(onChanged) {
      return [
        feed.follow("services", (event) => {
          services.apply(event);
          const key = namespacedKeyOf(event.object.metadata);
          if (event.type === "DELETED") triggers.delete(key);
          else if (event.type === "ADDED") noteTrigger(key, event.object.metadata.creationTimestamp);
          onChanged(key);
        }),
        feed.follow("pods", (event) => onPod(event, onChanged)),
      ];
    },
    podsOf(service) {
      const [term] = firstTermOf(service);
      if (term === undefined) return [];
      return pods
        .keysOf(term)
        .toSorted()
        .flatMap((key) => {
          const [namespace = "", name = ""] = key.split("/");
          const pod = reader.get({ resource: "pods", namespace, name });
          return pod === undefined || !isSelected(service, typed("Pod", pod)) ? [] : [typed("Pod", pod)];
        });
    },
    takeTriggerTime(serviceKey) {
      const at = triggers.get(serviceKey);
      triggers.delete(serviceKey);
      return at;
    },
  };
}

function firstTermOf({ metadata, spec }: Service): string[] {
  const [first] = Object.entries(spec?.selector ?? {});
  return first === undefined ? [] : [termOf(metadata?.namespace, first)];
}

function termsOf({ metadata }: KubeObject): string[] {
  return Object.entries(metadata.labels ?? {}).map((label) => termOf(metadata.namespace, label));
}

function termOf(namespace = "", [key, value]: readonly [string, string]): string {
  return `${namespace}/${key}=${value}`;
}

function isSelected({ spec }: Service, { metadata }: Pod): boolean {
  const labels = metadata?.labels ?? {};
  return Object.entries(spec?.selector ?? {}).every(([key, value]) => labels[key] === value);
}

/** When the pod changed in what its endpoints show: its readiness or its end. */
function triggerTimeOf(pod: Pod, previous: Pod | undefined): string | undefined {
  const { deletionTimestamp } = pod.metadata ?? {};
  if (deletionTimestamp !== undefined && previous?.metadata?.deletionTimestamp === undefined) return deletionTimestamp;
  const ready = readyCondition(pod);
  const before = previous === undefined ? undefined : readyCondition(previous);
  return ready?.status === before?.status ? undefined : ready?.lastTransitionTime;
}

/** True for a pod that has an address and has not ended, and that does not end unless such pods are wanted too. */
export function hasEndpoint({ metadata, status }: Pod, options: { includesTerminating: boolean }): boolean {
  if (isTerminalPhase(status?.phase)) return false;
  if ((status?.podIP ?? "") === "" && (status?.podIPs ?? []).length === 0) return false;
  return metadata?.deletionTimestamp === undefined || options.includesTerminating;
}

/** The pod's first address of the family. */
export function podAddress({ status }: Pod, family: "IPv4" | "IPv6"): string | undefined {
  const addresses = [...(status?.podIPs ?? []).map(({ ip }) => ip), status?.podIP];
  return addresses.find((ip) => ip !== undefined && ip !== "" && ip.includes(":") === (family === "IPv6"));
}

/** The host name of the pod in the service's domain; undefined for a pod that has no name there. */
export function hostNameOf(pod: Pod, service: Service): string | undefined {
  const { hostname = "", subdomain } = pod.spec ?? {};
  return hostname !== "" && subdomain === service.metadata?.name ? hostname : undefined;
}

/** The number of a service's port in a pod; undefined where the pod has no port of that name. */
export function findPort(pod: Pod, { targetPort, port, protocol = "TCP" }: ServicePort): number | undefined {
  if (targetPort === undefined || targetPort === 0 || targetPort === "") return port;
  if (typeof targetPort === "number") return targetPort;
  for (const { container, kind } of podContainers(pod)) {
    const isLasting = kind === "main" || (kind === "init" && "restartPolicy" in container);
    const found = isLasting
      ? (container.ports ?? []).find((one) => one.name === targetPort && (one.protocol ?? "TCP") === protocol)
      : undefined;
    if (found !== undefined) return found.containerPort;
  }
  return undefined;
}

/** True for a service without an address of its own. */
export function lacksClusterIp({ spec }: Service): boolean {
  return spec?.clusterIP === undefined || spec.clusterIP === "" || spec.clusterIP === "None";
}

/** True where endpoints follow from pods: other services' are written by their authors. */
export function hasOwnPods({ spec }: Service): boolean {
  return spec?.selector !== undefined && spec.type !== "ExternalName";
}
