import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  SecretReference,
  Volume,
} from "../../../../api/gen/types.ts";
import { podReference } from "../../../../api/pods.ts";
import type { VolumeSource } from "../volume-plugin.ts";
import { inlineVolumeHandle } from "./csi-paths.ts";

/** A volume of a pod, with the names that its driver and its directories use. */
export interface CsiVolume {
  /** The last name of its directory: that of the persistent volume, or of the volume in the pod. */
  readonly specName: string;
  readonly driverName: string;
  readonly handle: string;
  readonly lifecycle: "Persistent" | "Ephemeral";
  readonly kind: "files" | "block";
  readonly readOnly: boolean;
  /** Empty: the driver's default. */
  readonly fsType: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Undefined for an inline volume, or where the persistent volume names none. */
  readonly accessModes: readonly string[] | undefined;
  readonly mountOptions: readonly string[];
  readonly secrets: Readonly<Record<SecretUse, SecretReference | undefined>>;
  /** Undefined for an inline volume. */
  readonly claimed: { readonly persistentVolume: PersistentVolume; readonly claim: PersistentVolumeClaim } | undefined;
}

export type SecretUse = "NodeStageSecretRef" | "NodePublishSecretRef" | "NodeExpandSecretRef";

/** Whether this is a volume of a CSI driver, or of a kind that has been replaced by CSI drivers. */
export function isCsiSource(source: VolumeSource): boolean {
  if (source.kind === "pod") return source.volume.csi !== undefined || replacedKindOf(source.volume) !== undefined;
  const { spec } = source.persistentVolume;
  return spec !== undefined && (spec.csi !== undefined || replacedKindOf(spec) !== undefined);
}

/** Reads a CSI volume. Throws, in words for the pod's event, for any other. */
export function csiVolumeOf(source: VolumeSource, pod: Pod): CsiVolume {
  const volume = source.kind === "pod" ? inlineVolume(source.volume, pod) : persistentVolume(source);
  // Both become names of directories. The API server checks that, but nobody has checked the files of static pods.
  for (const name of [volume.driverName, volume.specName]) {
    if (name === "" || name === "." || name === ".." || name.includes("/")) {
      throw new Error(`${JSON.stringify(name)} cannot be the name of a directory`);
    }
  }
  return volume;
}

function inlineVolume(volume: Volume, pod: Pod): CsiVolume {
  const { csi } = volume;
  if (csi === undefined) throw new Error(refusalOf(volume));
  const { uid, namespace } = podReference(pod);
  const secretName = csi.nodePublishSecretRef?.name;
  return {
    specName: volume.name,
    driverName: csi.driver,
    handle: inlineVolumeHandle(uid, volume.name),
    lifecycle: "Ephemeral",
    kind: "files",
    readOnly: csi.readOnly === true,
    fsType: csi.fsType ?? "",
    attributes: csi.volumeAttributes ?? {},
    accessModes: undefined,
    mountOptions: [],
    secrets: {
      NodeStageSecretRef: undefined,
      NodePublishSecretRef: secretName === undefined ? undefined : { namespace, name: secretName },
      NodeExpandSecretRef: undefined,
    },
    claimed: undefined,
  };
}

function persistentVolume(source: Extract<VolumeSource, { kind: "persistent" }>): CsiVolume {
  const { persistentVolume, claim, readOnly } = source;
  const spec = persistentVolume.spec ?? {};
  const { csi } = spec;
  if (csi === undefined) throw new Error(refusalOf(spec));
  return {
    specName: persistentVolume.metadata?.name ?? "",
    driverName: csi.driver,
    handle: csi.volumeHandle,
    lifecycle: "Persistent",
    kind: spec.volumeMode === "Block" ? "block" : "files",
    readOnly,
    fsType: csi.fsType ?? "",
    attributes: csi.volumeAttributes ?? {},
    accessModes: spec.accessModes,
    mountOptions: spec.mountOptions ?? [],
    secrets: {
      NodeStageSecretRef: csi.nodeStageSecretRef,
      NodePublishSecretRef: csi.nodePublishSecretRef,
      NodeExpandSecretRef: csi.nodeExpandSecretRef,
    },
    claimed: { persistentVolume, claim },
  };
}

/** The kinds of volumes that were once part of Kubernetes, and the drivers that have replaced them. */
const REPLACED_KINDS = {
  awsElasticBlockStore: "ebs.csi.aws.com",
  azureDisk: "disk.csi.azure.com",
  azureFile: "file.csi.azure.com",
  cinder: "cinder.csi.openstack.org",
  gcePersistentDisk: "pd.csi.storage.gke.io",
  portworxVolume: "pxd.portworx.com",
  vsphereVolume: "csi.vsphere.vmware.com",
} as const;

type ReplacedKind = keyof typeof REPLACED_KINDS;

function replacedKindOf(spec: Partial<Pick<PersistentVolumeSpec | Volume, ReplacedKind>>): string | undefined {
  for (const [kind, driver] of Object.entries(REPLACED_KINDS)) {
    if (kind in spec) return `${kind} volumes are not supported: use a volume of the CSI driver ${driver} instead`;
  }
  return undefined;
}

function refusalOf(spec: Partial<Pick<PersistentVolumeSpec | Volume, ReplacedKind>>): string {
  return replacedKindOf(spec) ?? "CSIPersistentVolumeSource not defined in spec";
}
