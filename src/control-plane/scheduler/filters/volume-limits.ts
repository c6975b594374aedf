import { driverOfProvisioner } from "../../../api/cloud-volumes.ts";
import { csiVolumeReference } from "../../../api/csi-volumes.ts";
import type { PersistentVolumeClaim } from "../../../api/gen/types.ts";
import { storageClassOf } from "../../claims/volume-match.ts";
import type { Cluster, NodeInfo, PendingPod, StorageView } from "../cluster.ts";
import type { PodInfo } from "../pod-info.ts";
import type { NodeFilter, NodeRejection } from "./filter.ts";

const TOO_MANY: NodeRejection = { reasons: ["node(s) exceed max volume count"], isFinal: false };

/** Volumes, each by a name that is the same for all of its users, with their drivers. */
type Volumes = ReadonlyMap<string, string>;

/**
 * Checks how many volumes of a CSI driver the node takes, as its CSINode says (`plugins/nodevolumelimits/csi.go`). The
 * volumes of the node's pods count, and so do volumes that are still attached without a pod. A volume that is on the
 * node already needs no further place.
 */
export function filterVolumeLimits({ info }: PendingPod, { storage }: Cluster): NodeFilter | undefined {
  const wanted = volumesOf(info, storage);
  if (wanted.size === 0) return undefined;
  const attached = readAttached(storage);
  return (node) => {
    const limits = limitsOf(node, storage);
    if (limits.size === 0) return undefined;
    const present = new Map(attached.get(node.name));
    for (const pod of node.pods) for (const [volume, driver] of volumesOf(pod, storage)) present.set(volume, driver);
    const counts = countByDriver(new Map([...present, ...wanted]));
    const added = new Set([...wanted].filter(([volume]) => !present.has(volume)).map(([, driver]) => driver));
    const isFull = [...added].some((driver) => (counts.get(driver) ?? 0) > (limits.get(driver) ?? Infinity));
    return isFull ? TOO_MANY : undefined;
  };
}

function limitsOf(node: NodeInfo, storage: StorageView): ReadonlyMap<string, number> {
  const drivers = storage.csiNode(node.name)?.spec.drivers ?? [];
  return new Map(
    drivers.flatMap(({ name, allocatable }): Array<[string, number]> => {
      return allocatable?.count === undefined ? [] : [[name, allocatable.count]];
    }),
  );
}

function countByDriver(volumes: Volumes): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const driver of volumes.values()) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  return counts;
}

/** The CSI volumes of a pod. Other volumes have no known limit. */
function volumesOf({ namespace, claims, inlineVolumes }: PodInfo, storage: StorageView): Volumes {
  const volumes = new Map(
    inlineVolumes.map(({ driver, volumeHandle }) => [uniqueName(driver, volumeHandle), driver] as const),
  );
  for (const name of claims) {
    const claim = storage.claim(namespace, name);
    const found = claim && volumeOfClaim(claim, storage);
    if (found !== undefined) volumes.set(found.volume, found.driver);
  }
  return volumes;
}

/** The volume of a claim. A claim without a volume counts as one of its class's driver. */
function volumeOfClaim(claim: PersistentVolumeClaim, storage: StorageView) {
  const { namespace = "", name = "" } = claim.metadata ?? {};
  const volume = storage.volume(claim.spec?.volumeName ?? "");
  if (volume !== undefined) {
    const csi = csiVolumeReference(volume);
    return csi && { driver: csi.driver, volume: uniqueName(csi.driver, csi.volumeHandle) };
  }
  const provisioner = storage.storageClass(storageClassOf(claim))?.provisioner;
  const driver = provisioner && driverOfProvisioner(provisioner);
  return driver === undefined ? undefined : { driver, volume: `claim ${namespace}/${name}` };
}

function readAttached(storage: StorageView): ReadonlyMap<string, Volumes> {
  const byNode = new Map<string, Map<string, string>>();
  for (const { spec } of storage.attachments()) {
    const { persistentVolumeName = "", inlineVolumeSpec } = spec.source;
    const volume = inlineVolumeSpec ? { spec: inlineVolumeSpec } : storage.volume(persistentVolumeName);
    const csi = volume && csiVolumeReference(volume);
    if (csi === undefined) continue;
    const volumes = byNode.get(spec.nodeName) ?? new Map<string, string>();
    byNode.set(spec.nodeName, volumes.set(uniqueName(spec.attacher, csi.volumeHandle), spec.attacher));
  }
  return byNode;
}

const uniqueName = (driver: string, volumeHandle: string) => `${driver}/${volumeHandle}`;
