import type { FieldError } from "../../../api/field-error.ts";
import type { Event } from "../../../api/gen/types.ts";
import { isNew, type KubeObject, typed } from "../../../api/object.ts";
import { defineKind } from "../define-kind.ts";
import { validateEvent, validateStrictEvent, validateStrictEventUpdate } from "./event.ts";
import { fromCoreEvent, toCoreEvent } from "./event-conversion.ts";

type FieldReaders = Readonly<Record<string, (object: KubeObject) => string>>;

const REFERENCE_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

/** The selectable fields of the object that an event is about, under the name that the API has for it. */
function referenceFields(prefix: string, eventOf: (object: KubeObject) => Event): FieldReaders {
  const readers = REFERENCE_FIELDS.map((field) => {
    return [`${prefix}.${field}`, (object: KubeObject) => eventOf(object).involvedObject[field] ?? ""] as const;
  });
  return Object.fromEntries(readers);
}

const coreEvent = (object: KubeObject): Event => typed("Event", object);
const convertedEvent = (object: KubeObject): Event => coreEvent(toCoreEvent(object));

/** Events of core/v1. */
export const coreEventKind = defineKind({
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  versionsDiffer: true,
  strategy: {
    validate: validateEvent,
    checkName: checkEventName,
    createsOnUpdate: true,
    fields: {
      ...referenceFields("involvedObject", coreEvent),
      reason: (object) => coreEvent(object).reason ?? "",
      reportingComponent: (object) => coreEvent(object).reportingComponent ?? "",
      source: (object) => coreEvent(object).source?.component || (coreEvent(object).reportingComponent ?? ""),
      type: (object) => coreEvent(object).type ?? "",
    },
  },
});

/** The same events in events.k8s.io/v1, which is stricter with new events and lets only the series change. */
export const newEventKind = defineKind({
  group: "events.k8s.io",
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  versionsDiffer: true,
  type: "EventsEvent",
  strategy: {
    validate: validateNewStyle,
    validateUpdate: (next, current) => validateStrictEventUpdate(convertedEvent(next), convertedEvent(current)),
    createsOnUpdate: true,
    fields: {
      ...referenceFields("regarding", convertedEvent),
      ...referenceFields("involvedObject", convertedEvent),
      reason: (object) => convertedEvent(object).reason ?? "",
      reportingController: (object) => convertedEvent(object).reportingComponent ?? "",
      type: (object) => convertedEvent(object).type ?? "",
    },
  },
  storedAs: { group: "", plural: "events", toStored: toCoreEvent, fromStored: fromCoreEvent },
});

function validateNewStyle(object: KubeObject): FieldError[] {
  const event = toCoreEvent(object);
  return [...validateEvent(event), ...(isNew(object) ? validateStrictEvent(coreEvent(event)) : [])];
}

/** Names of events need only fit into a path, because clients derive them from the names of other objects. */
function checkEventName(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"]
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
}
