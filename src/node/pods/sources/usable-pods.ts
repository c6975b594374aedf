import type { Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import type { Log } from "../../../base/log.ts";
import { isPathName } from "../../../base/path-name.ts";
import type { PodReader } from "./pod-reader.ts";

/** Which pods of an API server the node runs. */
interface UsablePods {
  /**
   * Leaves out pods that no API server may send and that the node cannot or must not run, and logs each of them once. Of
   * two pods with one UID the one that comes first in the list is taken. A pod that was taken before, and is malformed
   * now, stays as it was: a server's mistake ends no pod.
   */
  select(pods: readonly Pod[]): Pod[];
  /** Whether the pod could be taken. */
  isUsable(pod: Pod): boolean;
}

interface UsablePodsDeps {
  readonly log: Log;
  /** Where the pods come from. */
  readonly reader: Pick<PodReader, "misfitOf">;
}

/** The pods of one snapshot that the log names; more are counted. */
const MAX_TOLD = 20;

export function createUsablePods({ log, reader }: UsablePodsDeps, nodeName: string): UsablePods {
  const verdicts = new WeakMap<Pod, string | undefined>();
  const said = new WeakSet<Pod>();
  let taken: ReadonlyMap<string, Pod> = new Map();
  const problemOfKnown = (pod: Pod) => {
    if (!verdicts.has(pod)) verdicts.set(pod, reader.misfitOf(pod) ?? problemOf(pod, nodeName));
    return verdicts.get(pod);
  };
  const takenBefore = (pod: Pod) => {
    const { uid, name, namespace } = podReference(pod);
    if (uid !== "") return taken.get(uid);
    return [...taken.values()].find(({ metadata }) => metadata?.name === name && metadata.namespace === namespace);
  };
  const tell = (pod: Pod, error: string, isKept: boolean) => {
    const { uid, name, namespace } = podReference(pod);
    const what = isKept ? "Ignored a change of a pod of the API server" : "Ignored a pod of the API server";
    log.error(what, { pod: `${name}_${namespace}`, uid, error });
  };
  return {
    select(pods) {
      const chosen = new Map<string, Pod>();
      let untold = 0;
      let told = 0;
      for (const pod of pods) {
        const problem = problemOfKnown(pod);
        const usable = problem === undefined ? pod : takenBefore(pod);
        const { uid } = podReference(usable ?? pod);
        const error = problem ?? (chosen.has(uid) ? "another pod has its UID" : undefined);
        if (error !== undefined && !said.has(pod)) {
          if (told++ < MAX_TOLD) tell(pod, error, usable !== undefined && !chosen.has(uid));
          else untold++;
          said.add(pod);
        }
        if (usable !== undefined && !chosen.has(uid)) chosen.set(uid, usable);
      }
      if (untold > 0) log.error("Ignored more pods of the API server", { pods: untold });
      taken = chosen;
      return [...chosen.values()];
    },
    isUsable: (pod) => problemOfKnown(pod) === undefined,
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
  return findBadName(pod);
}

/** Files, directories and mounts are named after containers and volumes. */
function findBadName({ spec }: Pod): string | undefined {
  const { containers = [], initContainers = [], ephemeralContainers = [], volumes = [] } = spec ?? {};
  const lists = { containers, initContainers, ephemeralContainers, volumes };
  for (const [field, list] of Object.entries(lists)) {
    const wrong = list.findIndex(({ name }) => !isPathName(name));
    if (wrong !== -1) return `the name of spec.${field}[${wrong}] cannot be the name of a file`;
  }
  return undefined;
}
