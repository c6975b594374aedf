import type { ReadyVolume, VolumeSource } from "../volume-plugin.ts";

/** Whoever makes a persistent volume tells by it which group may use the volume's files. */
const GROUP_ANNOTATION = "pv.beta.kubernetes.io/gid";

/** The largest group that a pod's own `supplementalGroups` may name. */
const MAX_GROUP = 2_147_483_647n;

/**
 * The group of a persistent volume. A value that is no number of a group is passed over, as upstream does
 * (`getExtraSupplementalGID` of pkg/kubelet/volumemanager): the volume's author, and not the pod's, has made the mistake.
 */
export function volumeGroupOf(source: VolumeSource): Pick<ReadyVolume, "group"> {
  if (source.kind !== "persistent") return {};
  const value = source.persistentVolume.metadata?.annotations?.[GROUP_ANNOTATION] ?? "";
  if (!/^\+?\d{1,19}$/.test(value)) return {};
  const group = BigInt(value.replace("+", ""));
  return group <= MAX_GROUP ? { group } : {};
}

/** The groups of all of a pod's volumes, each once, smallest first. */
export function volumeGroups(volumes: ReadonlyMap<string, ReadyVolume>): bigint[] {
  const groups = new Set([...volumes.values()].flatMap(({ group }) => (group === undefined ? [] : [group])));
  return [...groups].sort((a, b) => (a < b ? -1 : 1));
}
