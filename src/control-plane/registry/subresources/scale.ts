import { invalidError, notFoundError } from "../../../api/api-error.ts";
import type { LabelSelectorRequirement } from "../../../api/gen/types.ts";
import { isRecord, type KubeObject } from "../../../api/object.ts";
import { invalid } from "../../../api/validation/problems.ts";
import { selectorText } from "../../kinds/columns/cell-text.ts";
import type { ResourceKind, ScalePaths } from "../../ports/resource-kind.ts";

/** The paths of the built-in workloads. */
const WORKLOAD_SCALE: ScalePaths = {
  specReplicas: ["spec", "replicas"],
  statusReplicas: ["status", "replicas"],
  selector: ["spec", "selector"],
};

/** Where the kind's objects have what a Scale shows; undefined for a kind without replicas. */
export function scalePathsOfKind({ subresources }: Pick<ResourceKind, "subresources">): ScalePaths | undefined {
  const row = subresources.find(({ name }) => name === "scale");
  return row && (row.scale ?? WORKLOAD_SCALE);
}

/** How many replicas the object is to have. */
export function replicasOf(object: KubeObject, paths: ScalePaths): number {
  return numberAt(object, paths.specReplicas);
}

/** The object as `autoscaling/v1` Scale. */
export function scaleOf(object: KubeObject, paths: ScalePaths): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = paths.selector ? serializeSelector(valueAt(object, paths.selector)) : "";
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      ...(name && { name }),
      ...(namespace && { namespace }),
      ...meta({ uid, resourceVersion, creationTimestamp }),
    },
    spec: { replicas: replicasOf(object, paths) },
    status: { replicas: numberAt(object, paths.statusReplicas), ...(selector !== "" && { selector }) },
  };
}

function meta(fields: {
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  creationTimestamp?: string | undefined;
}) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The object with the replicas of the Scale. Throws Invalid for a number that is none. */
export function scaledObject(kind: ResourceKind, object: KubeObject, scale: KubeObject, paths: ScalePaths): KubeObject {
  const spec = isRecord(scale["spec"]) ? scale["spec"] : {};
  const replicas = spec["replicas"] ?? 0;
  if (typeof replicas !== "number" || !Number.isInteger(replicas) || replicas < 0) {
    const error = invalid("spec.replicas", replicas, "must be greater than or equal to 0");
    throw invalidError({ group: "autoscaling", kind: "Scale" }, object.metadata.name ?? "", [error]);
  }
  if (paths.specReplicas.length === 0) throw notFoundError({ group: kind.group, resource: `${kind.plural}/scale` }, "");
  const { resourceVersion } = scale.metadata;
  const metadata = { ...object.metadata, ...(resourceVersion !== undefined && { resourceVersion }) };
  return withValueAt({ ...object, metadata }, paths.specReplicas, replicas);
}

/** The fields with the value at the path, in objects that are made where they are missing. */
export function withValueAt<Fields extends object>(
  fields: Fields,
  [first, ...rest]: readonly string[],
  value: unknown,
): Fields {
  if (first === undefined) return fields;
  const inner = Object.entries(fields).find(([name]) => name === first)?.[1];
  const changed = rest.length === 0 ? value : withValueAt(isRecord(inner) ? inner : {}, rest, value);
  return { ...fields, [first]: changed };
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);
}

function numberAt(object: KubeObject, path: readonly string[]): number {
  const value = valueAt(object, path);
  return typeof value === "number" ? value : 0;
}

/** The selector as text: it is text already, a label selector, or the labels themselves. */
function serializeSelector(value: unknown): string {
  if (typeof value === "string") return value;
  if (!isRecord(value)) return "";
  const { matchLabels, matchExpressions } = value;
  const isLabelSelector = isRecord(matchLabels) || Array.isArray(matchExpressions);
  if (!isLabelSelector) return selectorText({ matchLabels: textsIn(value) });
  return selectorText({ matchLabels: textsIn(matchLabels), matchExpressions: requirementsIn(matchExpressions) });
}

function textsIn(value: unknown): Record<string, string> {
  const entries = Object.entries(isRecord(value) ? value : {});
  return Object.fromEntries(entries.map(([key, text]) => [key, String(text)]));
}

function requirementsIn(value: unknown): LabelSelectorRequirement[] {
  const requirements: unknown[] = Array.isArray(value) ? value : [];
  return requirements.filter(isRecord).map(({ key, operator, values }) => {
    return { key: String(key), operator: String(operator), values: Array.isArray(values) ? values.map(String) : [] };
  });
}
