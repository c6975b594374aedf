import type { Pod } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";
import { podReference } from "../../../api/pods.ts";
import type { Log } from "../../../base/log.ts";
import { isPathName } from "../../../base/path-name.ts";

/**
 * Leaves out pods that no API server may send and that the node cannot or must not run, and logs each of them once. Of
 * two pods with one UID the one that comes first in the list is taken.
 */
export function createUsableFilter(log: Log, nodeName: string): (pods: readonly Pod[]) => Pod[] {
  const verdicts = new WeakMap<Pod, string | undefined>();
  const said = new WeakSet<Pod>();
  const problemOfKnown = (pod: Pod) => {
    if (!verdicts.has(pod)) verdicts.set(pod, problemOf(pod, nodeName));
    return verdicts.get(pod);
  };
  return (pods) => {
    const uids = new Set<string>();
    return pods.filter((pod) => {
      const { uid, name, namespace } = podReference(pod);
      const error = problemOfKnown(pod) ?? (uids.has(uid) ? "another pod has its UID" : undefined);
      if (error === undefined) {
        uids.add(uid);
        return true;
      }
      if (!said.has(pod)) log.error("Ignored a pod of the API server", { pod: `${name}_${namespace}`, uid, error });
      said.add(pod);
      return false;
    });
  };
}

function problemOf(pod: Pod, nodeName: string): string | undefined {
  const { uid, name, namespace } = podReference(pod);
  if (uid === "") return "it has no UID";
  if (namespace === "") return "it has no namespace";
  // Directories are named after these values, and removed.
  for (const [what, value] of Object.entries({ UID: uid, name, namespace })) {
    if (!isPathName(value)) return `its ${what} cannot be the name of a directory`;
  }
  if (pod.spec === undefined) return "it has no spec";
  const { nodeName: boundTo = "" } = pod.spec;
  if (boundTo !== nodeName) return `it is bound to ${boundTo === "" ? "no node" : `node ${boundTo}`}`;
  return findMalformed(pod);
}

/** The lists of a pod's spec whose entries have names. */
const NAMED_LISTS = ["containers", "initContainers", "ephemeralContainers", "volumes"] as const;

/**
 * Finds what everything that reads pods takes for granted and is not so. The whole pod is not decoded, which would take
 * a millisecond of each of its changes.
 */
function findMalformed({ metadata, spec }: Pod): string | undefined {
  const fields: Readonly<Record<string, unknown>> = { ...spec };
  for (const field of NAMED_LISTS) {
    const list = fields[field];
    if (list === undefined && field !== "containers") continue;
    if (!Array.isArray(list)) return `spec.${field} must be a list`;
    const wrong = list.findIndex((entry: unknown) => !isRecord(entry) || typeof entry["name"] !== "string");
    if (wrong !== -1) return `spec.${field}[${wrong}] must be an object with a name`;
  }
  const maps: Readonly<Record<string, unknown>> = { labels: metadata?.labels, annotations: metadata?.annotations };
  for (const [field, map] of Object.entries(maps)) {
    if (map === undefined || map === null) continue;
    const isMap = isRecord(map) && Object.values(map).every((value) => typeof value === "string");
    if (!isMap) return `metadata.${field} must be an object of strings`;
  }
  return undefined;
}
