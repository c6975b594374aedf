import { mayNodeSetLabel } from "../../../api/node-names.ts";
import { checkLabelValue, checkQualifiedName } from "../../../api/validation/names.ts";

type Labels = Readonly<Record<string, string>>;

/**
 * Why a driver's topology cannot become labels of the node; undefined where it can. The labels travel with the node's
 * status: one that the server refuses would keep the whole status from it, and all pods from the node.
 */
export function findTopologyProblem(topology: Labels): string | undefined {
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

/** The first label that has another value already, in upstream's words (nodeinfomanager.go, updateTopologyLabels). */
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
