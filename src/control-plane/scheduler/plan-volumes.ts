import type { CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../api/gen/types.ts";
import { compareQuantities } from "../../api/quantity.ts";
import { isFullyBound, SELECTED_NODE } from "../claims/volume-claim-ref.ts";
import { findMatchingVolume, isReachableFrom, storageClassOf } from "../claims/volume-match.ts";
import { lenientSelectorOf } from "../control-loop/lenient-selector.ts";
import type { Cluster, NodeInfo, PendingPod, StorageView } from "./cluster.ts";

/** The writes by which a pod's claims get their volumes. */
export interface VolumePlan {
  /** The volumes that are given to claims. */
  readonly bindings: ReadonlyArray<{ readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim }>;
  /** The claims whose provisioner has to make a volume for the node. */
  readonly provisions: readonly PersistentVolumeClaim[];
}

/** The reasons why a node has no volumes for a pod. */
export type VolumeHindrance = "lost" | "elsewhere" | "none-available" | "no-space";

/** Plans the volumes of one pod, node by node. */
type VolumePlanner = (node: NodeInfo) => VolumePlan | VolumeHindrance;

/** The provisioner of classes whose volumes are made by hand. */
const NO_PROVISIONER = "kubernetes.io/no-provisioner";
const NOTHING: VolumePlan = { bindings: [], provisions: [] };

/**
 * Checks whether a node reaches the volumes of bound claims, and plans volumes there for the claims that wait for their
 * pod (`plugins/volumebinding/binder.go`, `FindPodVolumes`). The smallest claim chooses first, so that it does not take
 * a volume that only a larger one needs.
 */
export function createVolumePlanner({ info }: PendingPod, { storage }: Cluster): VolumePlanner {
  const claims = info.claims.flatMap((name) => storage.claim(info.namespace, name) ?? []);
  const bound = claims.filter(isBound).map(({ spec }) => storage.volume(spec?.volumeName ?? ""));
  const waiting = claims
    .filter((claim) => !isBound(claim))
    .toSorted((a, b) => compareQuantities(requestOf(a), requestOf(b)));
  const volumes = waiting.length === 0 ? [] : storage.volumes();
  return (node) => {
    for (const volume of bound) {
      if (volume === undefined) return "lost";
      if (!isReachableFrom(volume, node)) return "elsewhere";
    }
    return waiting.length === 0 ? NOTHING : planWaiting({ waiting, volumes, storage }, node);
  };
}

/** True for a bound claim: the binder has marked it, or its status says so. */
export function isBound(claim: PersistentVolumeClaim): boolean {
  return isFullyBound(claim) || (Boolean(claim.spec?.volumeName) && claim.status?.phase === "Bound");
}

/** True when volumes have to be written or waited for before the pod may be bound. */
export function hasWork({ bindings, provisions }: VolumePlan): boolean {
  return bindings.length > 0 || provisions.length > 0;
}

interface Waiting {
  readonly waiting: readonly PersistentVolumeClaim[];
  readonly volumes: readonly PersistentVolume[];
  readonly storage: StorageView;
}

function planWaiting({ waiting, volumes, storage }: Waiting, node: NodeInfo): VolumePlan | VolumeHindrance {
  const bindings: Array<VolumePlan["bindings"][number]> = [];
  const provisions: PersistentVolumeClaim[] = [];
  const taken = new Set<string>();
  for (const claim of waiting) {
    const selected = claim.metadata?.annotations?.[SELECTED_NODE];
    // A volume for the claim is being made on the other node.
    if (selected !== undefined && selected !== node.name) return "none-available";
    const volume = selected === undefined ? findMatchingVolume(claim, volumes, { node, taken }) : undefined;
    if (volume !== undefined) {
      taken.add(volume.metadata?.name ?? "");
      bindings.push({ volume, claim });
      continue;
    }
    const hindrance = checkProvisioning(claim, node, storage);
    if (hindrance !== undefined) return hindrance;
    provisions.push(claim);
  }
  return { bindings, provisions };
}

/** Says why no volume can be made for the claim on the node; undefined when the class has a provisioner that can. */
function checkProvisioning(
  claim: PersistentVolumeClaim,
  node: NodeInfo,
  storage: StorageView,
): VolumeHindrance | undefined {
  const storageClass = storage.storageClass(storageClassOf(claim));
  if (storageClass === undefined) return "none-available";
  const { provisioner, allowedTopologies = [] } = storageClass;
  if (provisioner === "" || provisioner === NO_PROVISIONER) return "none-available";
  const isAllowed =
    allowedTopologies.length === 0 ||
    allowedTopologies.some(({ matchLabelExpressions = [] }) => {
      return matchLabelExpressions.every(({ key, values }) => values.includes(labelOf(node, key) ?? ""));
    });
  if (!isAllowed) return "none-available";
  return hasSpace({ claim, storageClass }, node, storage) ? undefined : "no-space";
}

const labelOf = ({ labels }: NodeInfo, key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);

/**
 * True when the driver has space for the claim, or does not publish its capacity (`CSIDriver.spec.storageCapacity`).
 */
function hasSpace(
  { claim, storageClass }: { claim: PersistentVolumeClaim; storageClass: StorageClass },
  node: NodeInfo,
  storage: StorageView,
): boolean {
  if (storage.csiDriver(storageClass.provisioner)?.spec.storageCapacity !== true) return true;
  const name = storageClass.metadata?.name ?? "";
  const wanted = claim.spec?.resources?.requests?.["storage"];
  if (wanted === undefined) return true;
  return storage.capacities().some((capacity) => {
    const limit = capacity.maximumVolumeSize ?? capacity.capacity;
    const isEnough = limit !== undefined && compareQuantities(limit, wanted) >= 0;
    return capacity.storageClassName === name && isEnough && isInReach(capacity, node);
  });
}

/** True when the node reaches the capacity. A capacity without a topology is reachable from no node. */
function isInReach({ nodeTopology }: CSIStorageCapacity, { labels }: NodeInfo): boolean {
  return nodeTopology !== undefined && lenientSelectorOf(nodeTopology).matches(labels);
}

const requestOf = ({ spec }: PersistentVolumeClaim) => spec?.resources?.requests?.["storage"] ?? "0";
