import type { FieldError } from "../../../api/field-error.ts";
import type { Event, EventSeries } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { checkDnsSubdomain, checkQualifiedName } from "../../../api/validation/names.ts";
import { invalid, invalidEach, required } from "../../../api/validation/problems.ts";
import { immutable } from "../rules/immutable.ts";

const MAX_SHORT = 128;
const MAX_MESSAGE = 1024;

/**
 * The problems of an event, which must be in its object's namespace. Newer events, which have an event time, must also
 * name their reporter.
 */
export function validateEvent(object: KubeObject): FieldError[] {
  const event = typed("Event", object);
  const { namespace = "" } = event.metadata;
  const rules = event.eventTime ? validateReport(event) : validateLegacyNamespace(event);
  return [...rules, ...invalidEach("namespace", namespace, checkDnsSubdomain(namespace))];
}

/** The problems of the namespace. Events of cluster-scoped objects are in `default`. */
function validateLegacyNamespace({ metadata, involvedObject }: Event): FieldError[] {
  const { namespace = "" } = metadata;
  const { namespace: involved = "" } = involvedObject;
  const isFitting = involved === "" ? ["", "default"].includes(namespace) : involved === namespace;
  return isFitting ? [] : [namespaceMismatch(involved)];
}

function validateReport(event: Event): FieldError[] {
  const { metadata, involvedObject, reportingComponent = "", message = "" } = event;
  const { namespace: involved = "" } = involvedObject;
  const errors: FieldError[] = [];
  if (involved === "" && !["default", "kube-system"].includes(metadata.namespace ?? "")) {
    errors.push(namespaceMismatch(involved));
  }
  if (reportingComponent === "") errors.push(required("reportingController"));
  errors.push(...invalidEach("reportingController", reportingComponent, checkQualifiedName(reportingComponent)));
  for (const field of ["reportingInstance", "action", "reason"] as const) {
    const text = event[field] ?? "";
    if (text === "") errors.push(required(field));
    errors.push(...validateLength(field, text, MAX_SHORT));
  }
  return [...errors, ...validateLength("message", message, MAX_MESSAGE)];
}

const namespaceMismatch = (involved: string) =>
  invalid("involvedObject.namespace", involved, "does not match event.namespace");

function validateLength(path: string, text: string, max: number): FieldError[] {
  return Buffer.byteLength(text) > max ? [invalid(path, "", `can have at most ${max} characters`)] : [];
}

/** The additional problems of a new event in events.k8s.io, which has none of the older API's fields. */
export function validateStrictEvent(event: Event): FieldError[] {
  const errors = validateSeries(event.series);
  if (!event.eventTime) errors.push(required("eventTime"));
  if (event.type !== "Normal" && event.type !== "Warning") {
    errors.push(invalid("type", "", `has invalid value: ${event.type ?? ""}`));
  }
  for (const field of ["firstTimestamp", "lastTimestamp", "count"] as const) {
    if (event[field]) errors.push(invalid(field, "", "needs to be unset"));
  }
  if (event.source?.component || event.source?.host) errors.push(invalid("source", "", "needs to be unset"));
  return errors;
}

function validateSeries(series: EventSeries | undefined): FieldError[] {
  if (series === undefined) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalid("series.count", "", "should be at least 2")] : []),
    ...(series.lastObservedTime ? [] : [required("series.lastObservedTime")]),
  ];
}

/** The problems of an update through events.k8s.io, where only the series may change. */
export function validateStrictEventUpdate(next: Event, current: Event): FieldError[] {
  const changed = immutable("series", next.series, current.series).length > 0;
  return [
    ...(changed ? validateSeries(next.series) : []),
    ...FIXED.flatMap((field) => immutable(PATHS[field] ?? field, next[field], current[field])),
  ];
}

const FIXED = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingComponent",
  "reportingInstance",
] as const;

/** The paths in upstream's internal form, which is neither API's. */
const PATHS: Readonly<Record<string, string>> = { reportingComponent: "reportingController" };
