import type { ContainerStatus, PodStatus } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";
import { servedNode } from "../../../api/schema-node.ts";
import { formatTime, parseTime } from "../../../base/clock.ts";
import { diffStrategic } from "./strategic-diff.ts";

type Fields = Readonly<Record<string, unknown>>;

const POD_STATUS_NODE = servedNode("PodStatus");

/**
 * What the strategic merge patch of a pod must have as its `status`, so that the API's status becomes the wanted one;
 * undefined where it says the same already.
 */
export function computeStatusPatch(current: PodStatus, wanted: PodStatus): Fields | undefined {
  return diffStrategic(normalizePodStatus(current), normalizePodStatus(wanted), POD_STATUS_NODE);
}

/**
 * A status in the one form in which two that mean the same are the same: nothing that is empty, times in whole seconds
 * as `metav1.Time` has them, container statuses by name (upstream: `normalizeStatus`,
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
/** Objects that say as much when they are empty as when they are absent. Not so the states: `waiting: {}` is one. */
const OPTIONAL_OBJECTS: ReadonlySet<string> = new Set(["lastState", "resources", "allocatedResources"]);
/** Required, and empty until the runtime knows them. */
const REQUIRED_TEXTS: ReadonlySet<string> = new Set(["image", "imageID"]);

function normalizeFields(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([field, value]): [string, unknown] => [field, normalizeValue(field, value)])
      .filter(([field, value]) => !isAbsent(field, value)),
  );
}

/** As this node and API servers write them: nothing is to be changed in such a time. */
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
