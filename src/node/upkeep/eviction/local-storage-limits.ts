import type { Pod } from "../../../api/gen/types.ts";
import { addQuantities, compareQuantities } from "../../../api/quantity.ts";
import { amountOf, computePodLimits } from "../../../api/resources.ts";

/** How much of the node's disk a pod may use, as far as it is limited. Quantities are canonical, as messages show them. */
export interface LocalStorageLimits {
  /** In the pod's order. */
  readonly emptyDirs: readonly EmptyDirLimit[];
  /** Of the pod as a whole. */
  readonly pod: string | undefined;
  /** By name; of main containers only, as upstream has it: the others count towards the pod's. */
  readonly containers: ReadonlyMap<string, string>;
}

/** `sizeLimit`, whatever the medium. */
interface EmptyDirLimit {
  readonly volumeName: string;
  readonly limit: string;
}

const EPHEMERAL_STORAGE = "ephemeral-storage";

/** Undefined for a pod that may use as much as there is. */
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
