import type { Pod } from "../../api/gen/types.ts";

/** Finds a pod of the node by its names, with its published status. */
export function createPodFinder({ pods }: { pods(): readonly Pod[] }) {
  return (namespace: string, name: string): Pod | undefined =>
    pods().find(({ metadata }) => metadata?.namespace === namespace && metadata.name === name);
}
