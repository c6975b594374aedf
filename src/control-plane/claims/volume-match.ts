import { asDriverVolume } from "../../api/cloud-volumes.ts";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../api/gen/types.ts";
import { compareQuantities } from "../../api/quantity.ts";
import { matchesAnyTerm, type SelectableNode } from "../../api/selectors/node-selector.ts";
import { lenientSelectorOf } from "../control-loop/lenient-selector.ts";

/**
 * The annotation by which claims and volumes named their class before there was a field. It takes precedence over the
 * field.
 */
const BETA_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";
const DEFAULT_VOLUME_MODE = "Filesystem";

/** The storage class of a claim or a volume; "" when it has none (`GetPersistentVolumeClaimClass`). */
export function storageClassOf({ metadata, spec }: PersistentVolumeClaim | PersistentVolume): string {
  return metadata?.annotations?.[BETA_CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";
}

/** True for a claim that names a class or says that it wants none. Such a claim gets no default class. */
export function hasStorageClass({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata?.annotations?.[BETA_CLASS_ANNOTATION] !== undefined || spec?.storageClassName !== undefined;
}

/** True when claims of the class wait until their pod has a node. */
export function isDelayedClass(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === "WaitForFirstConsumer";
}

/** True when the volume's reference names the claim. A reference without a UID means any claim of that name. */
export function isReservedFor({ spec }: PersistentVolume, { metadata = {} }: PersistentVolumeClaim): boolean {
  const { namespace, name, uid = "" } = spec?.claimRef ?? {};
  if (name === undefined || name !== metadata.name || namespace !== metadata.namespace) return false;
  return uid === "" || uid === metadata.uid;
}

/** True when both are file systems or both are devices. */
export function hasSameVolumeMode(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (volume.spec?.volumeMode ?? DEFAULT_VOLUME_MODE) === (claim.spec?.volumeMode ?? DEFAULT_VOLUME_MODE);
}

/** True when the volume offers every access mode that the claim asks for. */
export function offersAccessModes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const offered = volume.spec?.accessModes ?? [];
  return (claim.spec?.accessModes ?? []).every((mode) => offered.includes(mode));
}

/** True when the volume's capacity is at least what the claim asks for. */
export function isLargeEnough(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return compareQuantities(capacityOf(volume), claim.spec?.resources?.requests?.["storage"] ?? "0") >= 0;
}

/** True when the volume can be reached from the node. */
export function isReachableFrom(volume: PersistentVolume, node: SelectableNode): boolean {
  const required = asDriverVolume(volume).spec?.nodeAffinity?.required;
  return required === undefined || matchesAnyTerm(required.nodeSelectorTerms, node);
}

interface MatchOptions {
  /** The node from which the volume must be reachable; undefined while no pod has asked for the claim. */
  readonly node?: SelectableNode;
  /**
   * True when the claim's class waits for a pod. Without a node, only a volume that is reserved for the claim matches
   * then.
   */
  readonly isDelayed?: boolean;
  /** Names of volumes that were given to other claims in the same decision. */
  readonly taken?: ReadonlySet<string>;
}

/**
 * Finds the volume for a claim: the one that is reserved for it, or else the one that exceeds its request least
 * (`component-helpers/storage/volume/pv_helpers.go`, `FindMatchingVolume`). Without a node, fewer access modes win over
 * less space, as in upstream's binder (`pv_index.go`, `findByClaim`). Names decide between equals.
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

/** The conditions that a reserved volume must meet too. */
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
