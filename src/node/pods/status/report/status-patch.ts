import type { ContainerStatus, PodStatus } from "../../../../api/gen/types.ts";
import { isRecord } from "../../../../api/object.ts";
import { servedNode } from "../../../../api/schema-node.ts";
import { formatTime, parseTime } from "../../../../base/clock.ts";
import { diffStrategic } from "./strategic-diff.ts";

type Fields = Readonly<Record<string, unknown>>;

const POD_STATUS_NODE = servedNode("PodStatus");

/**
 * The `status` of the strategic merge patch that makes the API server's status the wanted one; undefined where both say
 * the same already.
 */
export function computeStatusPatch(current: PodStatus, wanted: PodStatus): Fields | undefined {
  return diffStrategic(normalizePodStatus(current), normalizePodStatus(wanted), POD_STATUS_NODE);
}

/**
 * A status in a form in which two statuses of one meaning are equal: without empty fields, with times in whole seconds
 * as `metav1.Time` has them, and with container statuses sorted by name (upstream: `normalizeStatus`,
 * pkg/kubelet/status/status_manager.go).
 */
export function normalizePodStatus(status: PodStatus): Fields {
  const { containerStatuses } = status;
  const sorted = containerStatuses && { containerStatuses: [...containerStatuses].sort(byName) };
  return normalizeFields({ ...status, ...sorted });
}

function byName(left: ContainerStatus, right: ContainerStatus): number {
  if (left.name === right.name) return 0;
  return left.name < right.name ? -1 : 1;
}

const TIMES: ReadonlySet<string> = new Set([
  "startTime",
  "startedAt",
  "finishedAt",
  "lastTransitionTime",
  "lastProbeTime",
]);
/**
 * Objects that mean the same when they are empty as when they are absent. An empty state is not one: `waiting: {}`,
 * nor are empty resources, by which API servers see that the node knows of resizes.
 */
const OPTIONAL_OBJECTS: ReadonlySet<string> = new Set(["lastState", "allocatedResources"]);
/** Required texts, which are empty until the runtime knows them. */
const REQUIRED_TEXTS: ReadonlySet<string> = new Set(["image", "imageID"]);

function normalizeFields(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([field, value]): [string, unknown] => [field, normalizeValue(field, value)])
      .filter(([field, value]) => !isAbsent(field, value)),
  );
}

/** A time as this node and API servers write it: it needs no change. */
const WHOLE_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

function normalizeValue(field: string, value: unknown): unknown {
  if (typeof value === "string") return TIMES.has(field) && !WHOLE_SECONDS.test(value) ? inWholeSeconds(value) : value;
  if (Array.isArray(value)) return value.map((item: unknown) => normalizeValue("", item));
  return isRecord(value) ? normalizeFields(value) : value;
}

function inWholeSeconds(time: string): string {
  const ms = parseTime(time);
  return ms === undefined ? time : formatTime(ms);
}

function isAbsent(field: string, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (value === "") return !REQUIRED_TEXTS.has(field);
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && OPTIONAL_OBJECTS.has(field) && Object.keys(value).length === 0;
}
