import type { Pod } from "../../api/gen/types.ts";
import type { NodeView } from "../server/handlers.ts";

/**
 * Creates the name of what pods and manifests are like: another one after each change of a spec, a status or a problem.
 * `startedAt` tells runs of this program apart. Pods are compared as objects, which are not changed but replaced.
 */
export function createPodsRevision(startedAt: number): NodeView["revisionOf"] {
  let last: readonly unknown[] = [];
  let changes = 0;
  return (pods: readonly Pod[], problems) => {
    const ofPods = pods.flatMap(({ metadata, spec, status }) => {
      return [metadata?.uid, metadata?.deletionTimestamp === undefined, spec, status];
    });
    const parts = [...ofPods, ...problems.flatMap(({ file, message }) => [file, message])];
    if (parts.length !== last.length || parts.some((part, index) => part !== last[index])) changes += 1;
    last = parts;
    return `${startedAt}-${changes}`;
  };
}
