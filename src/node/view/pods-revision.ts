import type { Pod } from "../../api/gen/types.ts";

/**
 * Creates the name of what pods are like: another one after each change of a spec or a status. `startedAt` tells runs of
 * this program apart. Pods are compared as objects, which are not changed but replaced.
 */
export function createPodsRevision(startedAt: number): (pods: readonly Pod[]) => string {
  let last: readonly unknown[] = [];
  let changes = 0;
  return (pods) => {
    const parts = pods.flatMap(({ metadata, spec, status }) => {
      return [metadata?.uid, metadata?.deletionTimestamp === undefined, spec, status];
    });
    if (parts.length !== last.length || parts.some((part, index) => part !== last[index])) changes += 1;
    last = parts;
    return `${startedAt}-${changes}`;
  };
}
