import type { Event, EventSeries, EventSource, EventsEvent } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";

/** An event of events.k8s.io, which has other names for many fields of core events. */
function eventsTyped(object: KubeObject): KubeObject & EventsEvent {
  if (!isEventsEvent(object))
    throw new TypeError(`expected an event of events.k8s.io, got ${object.apiVersion} ${object.kind}`);
  return object;
}

function isEventsEvent(object: KubeObject): object is KubeObject & EventsEvent {
  return object.kind === "Event" && object.apiVersion.startsWith("events.k8s.io/");
}

/** The event in the form of core events, in which events are stored. */
export function toCoreEvent(object: KubeObject): KubeObject {
  const {
    deprecatedCount,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedSource,
    eventTime,
    note,
    regarding,
    reportingController,
    ...shared
  } = eventsTyped(object);
  return {
    ...shared,
    apiVersion: "v1",
    kind: "Event",
    metadata: object.metadata,
    involvedObject: regarding ?? {},
    // The decoder fills a missing required time with an empty text.
    ...defined({ eventTime: eventTime || undefined, message: note, reportingComponent: reportingController }),
    ...defined({ count: deprecatedCount, source: deprecatedSource }),
    ...defined({ firstTimestamp: deprecatedFirstTimestamp, lastTimestamp: deprecatedLastTimestamp }),
  };
}

/** A core event as events.k8s.io shows it. */
export function fromCoreEvent(object: KubeObject): KubeObject {
  const {
    count,
    eventTime,
    firstTimestamp,
    involvedObject,
    lastTimestamp,
    message,
    reportingComponent,
    source,
    ...shared
  }: KubeObject & Event = typed("Event", object);
  return {
    ...shared,
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: object.metadata,
    // The field is required there, and Go writes an unset time as null.
    eventTime: eventTime ?? null,
    ...defined({ regarding: involvedObject, note: message, reportingController: reportingComponent }),
    ...defined({ deprecatedCount: count, deprecatedSource: source }),
    ...defined({ deprecatedFirstTimestamp: firstTimestamp, deprecatedLastTimestamp: lastTimestamp }),
  };
}

type Converted = string | number | EventSource | EventSeries | Event["involvedObject"] | undefined;

function defined(fields: Readonly<Record<string, Converted>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
