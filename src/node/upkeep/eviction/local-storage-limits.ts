import type { Pod } from "../../../api/gen/types.ts";
import { addQuantities, compareQuantities } from "../../../api/quantity.ts";
import { amountOf, computePodLimits } from "../../../api/resources.ts";

/** The limits of how much of the node's disk a pod may use. Quantities are canonical, as messages show them. */
export interface LocalStorageLimits {
  /** The limits of emptyDirs, in the pod's order. */
  readonly emptyDirs: readonly EmptyDirLimit[];
  /** The limit of the pod as a whole. */
  readonly pod: string | undefined;
  /**
   * The limits of main containers, by name. As upstream has it, the other containers count only towards the pod's
   * limit.
   */
  readonly containers: ReadonlyMap<string, string>;
}

/** The `sizeLimit` of an emptyDir of any medium. */
interface EmptyDirLimit {
  readonly volumeName: string;
  readonly limit: string;
}

const EPHEMERAL_STORAGE = "ephemeral-storage";

/** Reads a pod's limits. The result is undefined for a pod that may use as much as there is. */
export function readLocalStorageLimits(pod: Pod): LocalStorageLimits | undefined {
  const emptyDirs = (pod.spec?.volumes ?? []).flatMap(({ name, emptyDir }): EmptyDirLimit[] => {
    const sizeLimit = emptyDir?.sizeLimit;
    const isLimited = sizeLimit !== undefined && compareQuantities(sizeLimit, "0") > 0;
    return isLimited ? [{ volumeName: name, limit: canonical(sizeLimit) }] : [];
  });
  const podLimit = amountOf(computePodLimits(pod), EPHEMERAL_STORAGE);
  if (emptyDirs.length === 0 && podLimit === undefined) return undefined;
  return { emptyDirs, pod: podLimit && canonical(podLimit), containers: readContainerLimits(pod) };
}

function readContainerLimits(pod: Pod): ReadonlyMap<string, string> {
  const limits = new Map<string, string>();
  for (const { name, resources } of pod.spec?.containers ?? []) {
    const limit = amountOf(resources?.limits ?? {}, EPHEMERAL_STORAGE);
    if (limit !== undefined && compareQuantities(limit, "0") !== 0) limits.set(name, canonical(limit));
  }
  return limits;
}

function canonical(quantity: string): string {
  return addQuantities("0", quantity);
}
