import type { Event, ObjectReference, Pod } from "../../../api/gen/types.ts";
import { type ContainerKind, isStaticPod, type PodReference, podContainers } from "../../../api/pods.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { type Clock, formatTime } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";

/** What happened, in an event's words. */
export interface EventFacts {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Every field that this agent sets is there: the correlator counts on it. */
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

/** An event that happens now for the first time. */
type MakeEvent = (involvedObject: ObjectReference, facts: EventFacts) => NodeEvent;

/** Longer messages are cut: the queue and the API server hold many of them. */
const MAX_MESSAGE_LENGTH = 8_192;
const NANOS_PER_MS = 1_000_000n;
/** The namespace of events about what has none itself. */
const DEFAULT_NAMESPACE = "default";
const COMPONENT = "kubelet";

/** As client-go's recorder makes them for kubelet (client-go/tools/record/event.go). */
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
 * The pod as its events name it. The UID is always the one that the node knows the pod by: kubectl looks for the events of
 * a mirror pod under its static pod's UID (kubectl's `describe`), so that what the API server has must not replace it.
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

/** Kubelet's own reference (pkg/kubelet/kubelet.go): the UID is the node's name, where kubectl's `describe` looks too. */
export function referToNode(nodeName: string): ObjectReference {
  return { kind: "Node", name: nodeName, uid: nodeName };
}

const FIELDS: Readonly<Record<ContainerKind, string>> = {
  init: "spec.initContainers",
  main: "spec.containers",
  ephemeral: "spec.ephemeralContainers",
};

/** Of a pod that nobody knows any more, all that is left are its main containers to be stopped. */
function fieldOf(pod: Pod | undefined, name: string): string {
  const found = pod && podContainers(pod).find(({ container }) => container.name === name);
  return FIELDS[found?.kind ?? "main"];
}

/**
 * `<object>.<nanoseconds in hexadecimal>`; where that is no valid name, a UUID (client-go/tools/record/util). Our clock
 * counts milliseconds, what lies below is random; they only go up, so that no two events share a name even when the clock
 * is set back.
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

/** Version 4, made of the randomness that is handed in. */
function randomUuid(random: Random): string {
  const digit = (limit: number) => Math.floor(random.next() * limit);
  return "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, (place) => {
    return (place === "x" ? digit(16) : 8 + digit(4)).toString(16);
  });
}
