import type { Event, EventsEvent } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { Cell, CellAt } from "../../ports/resource-kind.ts";
import { AGE, ageOf, type ColumnRow, fullColumn, NAME } from "./column.ts";

/** An event of either group. The two groups have different names for the same fields. */
interface ShownEvent extends Pick<Event, "metadata" | "type" | "reason" | "eventTime" | "series"> {
  readonly object: Event["involvedObject"] | undefined;
  readonly message: string;
  readonly component: string;
  readonly instance: string;
  readonly first: string | undefined;
  readonly last: string | undefined;
  readonly count: number;
}

const ROWS: ReadonlyArray<ColumnRow<ShownEvent>> = [
  { ...AGE, name: "Last Seen", description: "How long ago it happened last.", cell: lastSeen },
  { name: "Type", description: "Whether it is a warning.", cell: ({ type = "" }) => type },
  { name: "Reason", description: "What happened, in one word.", cell: ({ reason = "" }) => reason },
  { name: "Object", description: "What it happened to.", cell: objectText },
  {
    name: "Subobject",
    wide: true,
    description: "Which part of the object it happened to.",
    cell: ({ object }) => object?.fieldPath ?? "",
  },
  {
    name: "Source",
    wide: true,
    description: "Who reports it.",
    cell: ({ component, instance }) => (instance === "" ? component : `${component}, ${instance}`),
  },
  { name: "Message", description: "What happened.", cell: ({ message }) => message.trim() },
  { name: "First Seen", wide: true, description: "How long ago it happened first.", cell: firstSeen },
  {
    name: "Count",
    wide: true,
    description: "How often it has happened.",
    cell: ({ series, count }) => (series ? (series.count ?? 0) : count || 1),
  },
  { ...NAME, wide: true },
];

/** Events of the core group and of events.k8s.io. */
export const EVENT_COLUMNS = ROWS.map((row) => fullColumn(row, readEvent));

function firstSeen({ first, eventTime }: ShownEvent): Cell | CellAt {
  return ageOf(first ?? eventTime);
}

function lastSeen(event: ShownEvent): Cell | CellAt {
  if (event.series) return ageOf(event.series.lastObservedTime);
  return event.last === undefined ? firstSeen(event) : ageOf(event.last);
}

function objectText({ object }: ShownEvent): string {
  const kind = (object?.kind ?? "").toLowerCase();
  return object?.name ? `${kind}/${object.name}` : kind;
}

function readEvent(object: KubeObject): ShownEvent {
  if (isEventsEvent(object)) {
    const { regarding, note = "", deprecatedSource, reportingController = "", reportingInstance = "" } = object;
    return {
      ...object,
      object: regarding,
      message: note,
      component: deprecatedSource?.component || reportingController,
      instance: deprecatedSource?.host || reportingInstance,
      first: object.deprecatedFirstTimestamp,
      last: object.deprecatedLastTimestamp,
      count: object.deprecatedCount ?? 0,
    };
  }
  if (!isCoreEvent(object)) throw new TypeError(`expected an object of kind Event, got ${object.kind}`);
  const { involvedObject, message = "", source, reportingComponent = "", reportingInstance = "" } = object;
  return {
    ...object,
    object: involvedObject,
    message,
    component: source?.component || reportingComponent,
    instance: source?.host || reportingInstance,
    first: object.firstTimestamp,
    last: object.lastTimestamp,
    count: object.count ?? 0,
  };
}

function isEventsEvent(object: KubeObject): object is KubeObject & EventsEvent {
  return object.kind === "Event" && object.apiVersion.startsWith("events.k8s.io/");
}

function isCoreEvent(object: KubeObject): object is KubeObject & Event {
  return object.kind === "Event" && object.apiVersion === "v1";
}
