import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  CSIPersistentVolumeSource,
  GCEPersistentDiskVolumeSource,
  PersistentVolume,
  PersistentVolumeSpec,
  Pod,
  Volume,
} from "./gen/types.ts";
import { type TopologyKeys, translateTopology, zonesOf } from "./volume-topology.ts";

/**
 * The kinds of volumes that were once part of Kubernetes and that CSI drivers serve now, with their drivers. The
 * translation follows k8s.io/csi-translation-lib, so that volumes that another node has mounted are the same here.
 */
export const CLOUD_VOLUME_DRIVERS = {
  awsElasticBlockStore: "ebs.csi.aws.com",
  azureDisk: "disk.csi.azure.com",
  azureFile: "file.csi.azure.com",
  cinder: "cinder.csi.openstack.org",
  gcePersistentDisk: "pd.csi.storage.gke.io",
  portworxVolume: "pxd.portworx.com",
  vsphereVolume: "csi.vsphere.vmware.com",
} as const;

type CloudKind = keyof typeof CLOUD_VOLUME_DRIVERS;
type CloudSources = Pick<PersistentVolumeSpec | Volume, CloudKind>;

const PROVISIONERS: Readonly<Record<string, CloudKind>> = {
  "kubernetes.io/aws-ebs": "awsElasticBlockStore",
  "kubernetes.io/azure-disk": "azureDisk",
  "kubernetes.io/azure-file": "azureFile",
  "kubernetes.io/cinder": "cinder",
  "kubernetes.io/gce-pd": "gcePersistentDisk",
  "kubernetes.io/portworx-volume": "portworxVolume",
  "kubernetes.io/vsphere-volume": "vsphereVolume",
};

const TOPOLOGY_KEYS: Readonly<Partial<Record<CloudKind, TopologyKeys>>> = {
  awsElasticBlockStore: { zone: "topology.ebs.csi.aws.com/zone", separator: "__" },
  cinder: { zone: "topology.cinder.csi.openstack.org/zone", separator: "__" },
  gcePersistentDisk: { zone: "topology.gke.io/zone", separator: "__" },
  vsphereVolume: { zone: "topology.csi.vmware.com/zone", region: "topology.csi.vmware.com/region" },
};

/** The driver that serves a volume of one of these kinds; undefined for a volume of any other kind. */
export function cloudDriverOf(sources: CloudSources): string | undefined {
  const kind = kindOf(sources);
  return kind && CLOUD_VOLUME_DRIVERS[kind];
}

/** The driver that makes the volumes of a storage class with this provisioner. */
export function driverOfProvisioner(provisioner: string): string {
  const kind = PROVISIONERS[provisioner];
  return kind === undefined ? provisioner : CLOUD_VOLUME_DRIVERS[kind];
}

/**
 * The volume as its CSI driver knows it, node affinity included; a volume of another kind as it is. Throws an Error, in
 * words for an event, for one that no driver serves.
 */
export function translateCloudVolume(volume: PersistentVolume): PersistentVolume {
  const { spec = {} } = volume;
  const kind = kindOf(spec);
  const csi = kind && claimedSource(volume);
  if (kind === undefined || csi === undefined) return volume;
  const { [kind]: _translated, nodeAffinity: _own, ...rest } = spec;
  const nodeAffinity = translateTopology(volume, TOPOLOGY_KEYS[kind]);
  const accessModes = kind === "gcePersistentDisk" ? gceAccessModes(spec.accessModes) : spec.accessModes;
  return {
    ...volume,
    spec: {
      ...rest,
      ...(accessModes && { accessModes }),
      ...(nodeAffinity && { nodeAffinity }),
      csi: { driver: CLOUD_VOLUME_DRIVERS[kind], ...csi },
    },
  };
}

/** `translateCloudVolume` for those who only look: a volume that no driver serves is given as it is. */
export function asDriverVolume(volume: PersistentVolume): PersistentVolume {
  try {
    return translateCloudVolume(volume);
  } catch {
    return volume;
  }
}

/**
 * The persistent volume that a volume of a pod stands for; undefined for one of another kind. Its name is the same for
 * all pods that use the volume. Throws like `translateCloudVolume`.
 */
export function translateInlineVolume(volume: Volume, namespace: string): PersistentVolume | undefined {
  const kind = kindOf(volume);
  const inline = kind && inlineSource(volume, namespace);
  if (kind === undefined || inline === undefined) return undefined;
  const driver = CLOUD_VOLUME_DRIVERS[kind];
  const { csi, name = `${driver}-${csi.volumeHandle}`, accessMode = "ReadWriteOnce" } = inline;
  const spec = { csi: { driver, ...csi }, accessModes: [accessMode], volumeMode: "Filesystem" };
  return { apiVersion: "v1", kind: "PersistentVolume", metadata: { name }, spec };
}

/** The volumes that the pod names itself and that drivers serve, for those who only look; none that no driver serves. */
export function inlineDriverVolumes({ metadata, spec }: Pod): readonly PersistentVolume[] {
  return (spec?.volumes ?? []).flatMap((volume) => {
    try {
      return translateInlineVolume(volume, metadata?.namespace ?? "") ?? [];
    } catch {
      return [];
    }
  });
}

type CsiSource = Omit<CSIPersistentVolumeSource, "driver">;

function kindOf(sources: CloudSources): CloudKind | undefined {
  return Object.values(PROVISIONERS).find((kind) => sources[kind] !== undefined);
}

function claimedSource(volume: PersistentVolume): CsiSource | undefined {
  const { awsElasticBlockStore, azureDisk, azureFile, cinder, gcePersistentDisk, portworxVolume, vsphereVolume } =
    volume.spec ?? {};
  if (awsElasticBlockStore) return awsSource(awsElasticBlockStore);
  if (gcePersistentDisk) return gceSource(gcePersistentDisk, gcePlaceOf(volume));
  if (azureDisk) return azureDiskSource(azureDisk);
  if (azureFile) {
    const namespace = azureFile.secretNamespace ?? volume.spec?.claimRef?.namespace ?? "";
    if (namespace === "") throw new Error("could not find a secret namespace in PersistentVolumeSource or ClaimRef");
    const group = volume.metadata?.annotations?.["kubernetes.io/azure-file-resource-group"] ?? "";
    return azureFileSource(azureFile, { group, name: volume.metadata?.name ?? "", namespace });
  }
  if (cinder) return plainSource(cinder.volumeID, cinder);
  if (portworxVolume) return { ...plainSource(portworxVolume.volumeID, portworxVolume), ...portworxSecrets(volume) };
  return vsphereVolume && vsphereSource(vsphereVolume);
}

interface InlineSource {
  readonly csi: CsiSource;
  /** Default: the driver and the handle. */
  readonly name?: string;
  readonly accessMode?: string;
}

function inlineSource(volume: Volume, namespace: string): InlineSource | undefined {
  const { awsElasticBlockStore, azureDisk, azureFile, cinder, gcePersistentDisk, portworxVolume, vsphereVolume } =
    volume;
  if (awsElasticBlockStore) return { csi: awsSource(awsElasticBlockStore) };
  if (gcePersistentDisk) {
    const csi = gceSource(gcePersistentDisk, `zones/${UNSPECIFIED}`);
    const name = `${CLOUD_VOLUME_DRIVERS.gcePersistentDisk}-${gcePersistentDisk.pdName}`;
    return { csi, name, accessMode: gcePersistentDisk.readOnly ? "ReadOnlyMany" : "ReadWriteOnce" };
  }
  if (azureDisk) return { csi: azureDiskSource(azureDisk), name: azureDisk.diskURI };
  if (azureFile) {
    const place = { group: "", name: volume.name, namespace: namespace || "default" };
    const csi = azureFileSource(azureFile, place);
    return { csi, name: csi.volumeHandle, accessMode: "ReadWriteMany" };
  }
  if (cinder) return { csi: plainSource(cinder.volumeID, cinder) };
  if (portworxVolume) {
    const accessMode = portworxVolume.readOnly ? "ReadOnlyMany" : "ReadWriteOnce";
    return { csi: plainSource(portworxVolume.volumeID, portworxVolume), accessMode };
  }
  return vsphereVolume && { csi: vsphereSource(vsphereVolume) };
}

function plainSource(volumeHandle: string, source: { fsType?: string; readOnly?: boolean }): CsiSource {
  const { fsType, readOnly } = source;
  return { volumeHandle, ...(fsType && { fsType }), ...(readOnly && { readOnly }), volumeAttributes: {} };
}

function awsSource(source: AWSElasticBlockStoreVolumeSource): CsiSource {
  const volumeAttributes = { partition: String(source.partition ?? 0) };
  return { ...plainSource(awsHandle(source.volumeID), source), volumeAttributes };
}

/** A bare ID, or the one in `aws://zone/vol-0123`. */
function awsHandle(id: string): string {
  if (!id.startsWith("aws://")) return id;
  const path = /^aws:\/\/[^/?#]*\/([^?#]*)/.exec(id)?.[1] ?? "";
  const handle = path.replaceAll(/^\/+|\/+$/g, "");
  if (/^vol-[^/]*$/.test(handle)) return handle;
  throw new Error(`failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (${id})`);
}

/** What a disk's name does not tell; the driver's attacher puts the node's own there. */
const UNSPECIFIED = "UNSPECIFIED";

function gceSource(source: GCEPersistentDiskVolumeSource, place: string): CsiSource {
  const volumeAttributes = { partition: source.partition ? String(source.partition) : "" };
  const handle = `projects/${UNSPECIFIED}/${place}/disks/${source.pdName}`;
  return { ...plainSource(handle, source), volumeAttributes };
}

function gcePlaceOf(volume: PersistentVolume): string {
  const zones = zonesOf(volume, "__");
  const [zone = UNSPECIFIED] = zones;
  if (zones.length < 2) return `zones/${zone || UNSPECIFIED}`;
  const regions = new Set(zones.map((each) => /^([^-]+-[^-]+)-[^-]+$/.exec(each)?.[1]));
  const [region] = regions;
  if (regions.size === 1 && region !== undefined) return `regions/${region}`;
  throw new Error(`failed to get region from zones: multiple or no regions gotten from zones, got: ${zones.join(" ")}`);
}

/** No driver writes from several nodes, which the kind never promised either. */
function gceAccessModes(modes: readonly string[] | undefined): string[] | undefined {
  if (modes === undefined) return undefined;
  return modes.length > 0 && modes.every((mode) => mode === "ReadOnlyMany") ? ["ReadOnlyMany"] : ["ReadWriteOnce"];
}

function azureDiskSource(source: AzureDiskVolumeSource): CsiSource {
  const { kind, cachingMode, fsType, diskURI } = source;
  if (kind !== undefined && kind.toLowerCase() !== "managed") {
    throw new Error(`kind(${kind}) is not supported in csi migration`);
  }
  const volumeAttributes = {
    kind: "managed",
    ...(cachingMode && { cachingmode: cachingMode }),
    ...(fsType !== undefined && { fstype: fsType }),
  };
  return { ...plainSource(diskURI, source), volumeAttributes };
}

function azureFileSource(
  { secretName, shareName, readOnly = false }: { secretName: string; shareName: string; readOnly?: boolean },
  { group, name, namespace }: { group: string; name: string; namespace: string },
): CsiSource {
  const account = /azure-storage-account-(.+)-secret/.exec(secretName)?.[1] ?? secretName;
  return {
    ...plainSource([group, account, shareName, name, namespace].join("#"), { readOnly }),
    volumeAttributes: { sharename: shareName },
    nodeStageSecretRef: { name: secretName, namespace },
  };
}

function vsphereSource(source: { volumePath: string; fsType?: string; storagePolicyName?: string }): CsiSource {
  const { volumePath, storagePolicyName } = source;
  const volumeAttributes = storagePolicyName ? { storagepolicyname: storagePolicyName } : {};
  return { ...plainSource(volumePath, source), volumeAttributes };
}

function portworxSecrets({ metadata }: PersistentVolume): Partial<CsiSource> {
  const name = metadata?.annotations?.["openstorage.io/auth-secret-name"];
  const namespace = metadata?.annotations?.["openstorage.io/auth-secret-namespace"];
  if (name === undefined || namespace === undefined) return {};
  const secret = { name, namespace };
  return {
    controllerExpandSecretRef: secret,
    controllerPublishSecretRef: secret,
    nodeExpandSecretRef: secret,
    nodePublishSecretRef: secret,
    nodeStageSecretRef: secret,
  };
}
