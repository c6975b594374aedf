import { mayNodeSetLabel } from "../../../api/node-names.ts";
import { checkLabelValue, checkQualifiedName } from "../../../api/validation/names.ts";

type Labels = Readonly<Record<string, string>>;

/** Drivers have one or two labels. An API server refuses a node whose labels are too many for one request. */
const MAX_LABELS = 64;

/**
 * Returns why a driver's topology cannot become labels of the node; undefined where it can. The labels travel with the
 * node's status. A label that the server refuses would keep it from taking the whole status, and the node would get no
 * pods.
 */
export function findTopologyProblem(topology: Labels): string | undefined {
  const count = Object.keys(topology).length;
  if (count > MAX_LABELS) return `driver reported ${count} topology labels, and no more than ${MAX_LABELS} are taken`;
  for (const [key, value] of Object.entries(topology)) {
    const problems = [...checkQualifiedName(key), ...checkLabelValue(value)];
    if (problems.length > 0) {
      const label = `${JSON.stringify(key)}:${JSON.stringify(value)}`;
      return `driver reported the invalid topology label ${label}: ${problems.join("; ")}`;
    }
    if (!mayNodeSetLabel(key))
      return `driver reported the topology label ${JSON.stringify(key)}, which no node may set`;
  }
  return undefined;
}

/**
 * Returns the first label that already has another value, in upstream's words (nodeinfomanager.go,
 * updateTopologyLabels).
 */
export function findTopologyCollision(topology: Labels, existing: Labels): string | undefined {
  for (const [key, value] of Object.entries(topology)) {
    const current = Object.hasOwn(existing, key) ? existing[key] : undefined;
    if (current === undefined || current === value) continue;
    const name = JSON.stringify(key);
    const values = `driver reported ${name}:${JSON.stringify(value)} but existing label is ${name}:${JSON.stringify(current)}`;
    return `detected topology value collision: ${values}`;
  }
  return undefined;
}
