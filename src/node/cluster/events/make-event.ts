import type { Event, ObjectReference, Pod } from "../../../api/gen/types.ts";
import { type ContainerKind, isStaticPod, type PodReference, podContainers } from "../../../api/pods.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { type Clock, formatTime } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";

/** What happened, as an event tells it. */
export interface EventFacts {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** True: it tells how far something is, and is one event with each earlier one of its reason and object. */
  readonly isProgress?: boolean | undefined;
}

/** An event with every field that this agent sets; the correlator relies on them. */
export interface NodeEvent extends Event {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Record<string, string>;
  };
  readonly type: EventFacts["type"];
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
}

/** Makes an event that happens now for the first time. */
type MakeEvent = (involvedObject: ObjectReference, facts: EventFacts) => NodeEvent;

/** Longer messages are cut, because the queue and the API server hold many of them. */
const MAX_MESSAGE_LENGTH = 8_192;
const NANOS_PER_MS = 1_000_000n;
/** The namespace of events about objects that have none themselves. */
const DEFAULT_NAMESPACE = "default";
const COMPONENT = "kubelet";

/** Makes events as client-go's recorder makes them for kubelet (client-go/tools/record/event.go). */
export function createEventMaker(deps: { clock: Clock; random: Random }, nodeName: string): MakeEvent {
  const nextName = createEventNames(deps.random);
  return (involvedObject, { type, reason, message, annotations }) => {
    const now = deps.clock.now();
    const time = formatTime(now);
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata: {
        name: nextName(involvedObject.name ?? "", now),
        namespace: involvedObject.namespace || DEFAULT_NAMESPACE,
        ...(annotations && { annotations: { ...annotations } }),
      },
      involvedObject,
      type,
      reason,
      message: message.slice(0, MAX_MESSAGE_LENGTH),
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: COMPONENT, host: nodeName },
      reportingComponent: COMPONENT,
      reportingInstance: nodeName,
    };
  };
}

/**
 * Refers to the pod as its events name it. The UID is always the one by which the node knows the pod: kubectl looks for
 * the events of a mirror pod under its static pod's UID (kubectl's `describe`), so the API server's UID must not
 * replace it.
 */
export function referToPod(pod: PodReference, known: Pod | undefined, container: string | undefined): ObjectReference {
  const { uid, name, namespace } = pod;
  const isSameObject = known !== undefined && known.metadata?.uid === uid && !isStaticPod(known);
  const resourceVersion = isSameObject ? known.metadata?.resourceVersion : undefined;
  return {
    apiVersion: "v1",
    kind: "Pod",
    namespace,
    name,
    uid,
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(container !== undefined && { fieldPath: `${fieldOf(known, container)}{${container}}` }),
  };
}

/**
 * Refers to the node as kubelet does (pkg/kubelet/kubelet.go): the UID is the node's name, where kubectl's `describe`
 * looks too.
 */
export function referToNode(nodeName: string): ObjectReference {
  return { kind: "Node", name: nodeName, uid: nodeName };
}

const FIELDS: Readonly<Record<ContainerKind, string>> = {
  init: "spec.initContainers",
  main: "spec.containers",
  ephemeral: "spec.ephemeralContainers",
};

/**
 * Returns the field of the pod's spec that lists the container. Of a pod that is no longer known, only main containers
 * remain to be stopped.
 */
function fieldOf(pod: Pod | undefined, name: string): string {
  const found = pod && podContainers(pod).find(({ container }) => container.name === name);
  return FIELDS[found?.kind ?? "main"];
}

/**
 * Creates names of the form `<object>.<nanoseconds in hexadecimal>`; where that is no valid name, a UUID
 * (client-go/tools/record/util). Our clock counts milliseconds, and the digits below are random. The numbers only grow,
 * so that no two events share a name even when the clock is set back.
 */
function createEventNames(random: Random): (objectName: string, now: number) => string {
  let last = 0n;
  return (objectName, now) => {
    const fresh = BigInt(Math.floor(now)) * NANOS_PER_MS + BigInt(Math.floor(random.next() * Number(NANOS_PER_MS)));
    last = fresh > last ? fresh : last + 1n;
    const name = `${objectName}.${last.toString(16)}`;
    return checkDnsSubdomain(name).length === 0 ? name : randomUuid(random);
  };
}

/** Makes a version 4 UUID from the given source of randomness. */
function randomUuid(random: Random): string {
  const digit = (limit: number) => Math.floor(random.next() * limit);
  return "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, (place) => {
    return (place === "x" ? digit(16) : 8 + digit(4)).toString(16);
  });
}
