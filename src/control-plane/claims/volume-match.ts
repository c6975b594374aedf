import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../api/gen/types.ts";
import { compareQuantities } from "../../api/quantity.ts";
import { matchesAnyTerm, type SelectableNode } from "../../api/selectors/node-selector.ts";
import { lenientSelectorOf } from "../control-loop/lenient-selector.ts";

/** How claims and volumes named their class before there was a field; it still counts more than the field. */
const BETA_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";
const DEFAULT_VOLUME_MODE = "Filesystem";

/** The storage class of a claim or a volume, "" for none (`GetPersistentVolumeClaimClass`). */
export function storageClassOf({ metadata, spec }: PersistentVolumeClaim | PersistentVolume): string {
  return metadata?.annotations?.[BETA_CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";
}

/** True for a claim that names a class or says that it wants none: it gets no default. */
export function hasStorageClass({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata?.annotations?.[BETA_CLASS_ANNOTATION] !== undefined || spec?.storageClassName !== undefined;
}

/** Claims of the class wait until it is known where their pod goes. */
export function isDelayedClass(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === "WaitForFirstConsumer";
}

/** The volume's reference names the claim: this very one, or, while it has no uid, whoever comes by that name. */
export function isReservedFor({ spec }: PersistentVolume, { metadata = {} }: PersistentVolumeClaim): boolean {
  const { namespace, name, uid = "" } = spec?.claimRef ?? {};
  if (name === undefined || name !== metadata.name || namespace !== metadata.namespace) return false;
  return uid === "" || uid === metadata.uid;
}

/** Both are file systems, or both are devices. */
export function hasSameVolumeMode(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (volume.spec?.volumeMode ?? DEFAULT_VOLUME_MODE) === (claim.spec?.volumeMode ?? DEFAULT_VOLUME_MODE);
}

/** The volume can be mounted in every way that the claim asks for. */
export function offersAccessModes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const offered = volume.spec?.accessModes ?? [];
  return (claim.spec?.accessModes ?? []).every((mode) => offered.includes(mode));
}

/** The volume holds what the claim asks for. */
export function isLargeEnough(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return compareQuantities(capacityOf(volume), claim.spec?.resources?.requests?.["storage"] ?? "0") >= 0;
}

/** The volume can be reached from the node. */
export function isReachableFrom({ spec }: PersistentVolume, node: SelectableNode): boolean {
  const required = spec?.nodeAffinity?.required;
  return required === undefined || matchesAnyTerm(required.nodeSelectorTerms, node);
}

interface MatchOptions {
  /** Where the volume must be reachable; undefined when no pod has asked yet. */
  readonly node?: SelectableNode;
  /** The claim's class waits for a pod: without a node only a volume that is reserved for the claim will do. */
  readonly isDelayed?: boolean;
  /** Names of volumes that are somebody else's by now. */
  readonly taken?: ReadonlySet<string>;
}

/**
 * The volume for a claim: one that is reserved for it, else the one that offers least beyond what is asked for
 * (`component-helpers/storage/volume/pv_helpers.go`, `FindMatchingVolume`). Without a node fewer access modes count
 * before less space, as for upstream's binder (`pv_index.go`, `findByClaim`); names decide between equals.
 */
export function findMatchingVolume<Volume extends PersistentVolume>(
  claim: PersistentVolumeClaim,
  volumes: readonly Volume[],
  { node, isDelayed = false, taken = new Set() }: MatchOptions = {},
): Volume | undefined {
  const suitable = volumes.filter((volume) => !taken.has(nameOf(volume)) && suits(volume, claim));
  const reserved = suitable.find((volume) => isReservedFor(volume, claim));
  if (reserved !== undefined) return node === undefined || isReachableFrom(reserved, node) ? reserved : undefined;
  if (node === undefined && isDelayed) return undefined;
  const selector = claim.spec?.selector === undefined ? undefined : lenientSelectorOf(claim.spec.selector);
  const storageClass = storageClassOf(claim);
  const free = suitable.filter((volume) => {
    return (
      volume.spec?.claimRef === undefined &&
      volume.status?.phase === "Available" &&
      storageClassOf(volume) === storageClass &&
      (selector?.matches(volume.metadata?.labels ?? {}) ?? true) &&
      (node === undefined || isReachableFrom(volume, node))
    );
  });
  const excess = (volume: PersistentVolume) => (node === undefined ? (volume.spec?.accessModes ?? []).length : 0);
  return free.toSorted((a, b) => {
    const bySize = compareQuantities(capacityOf(a), capacityOf(b));
    return excess(a) - excess(b) || bySize || (nameOf(a) < nameOf(b) ? -1 : 1);
  })[0];
}

/** What holds for a reserved volume, too. */
function suits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (
    volume.metadata?.deletionTimestamp === undefined &&
    isLargeEnough(volume, claim) &&
    offersAccessModes(volume, claim) &&
    hasSameVolumeMode(volume, claim) &&
    (volume.spec?.volumeAttributesClassName ?? "") === (claim.spec?.volumeAttributesClassName ?? "")
  );
}

const nameOf = ({ metadata }: PersistentVolume) => metadata?.name ?? "";
const capacityOf = ({ spec }: PersistentVolume) => spec?.capacity?.["storage"] ?? "0";
