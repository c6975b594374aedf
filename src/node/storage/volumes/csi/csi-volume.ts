import { cloudDriverOf, translateCloudVolume, translateInlineVolume } from "../../../../api/cloud-volumes.ts";
import { type CsiVolumeReference, csiVolumeReference } from "../../../../api/csi-volumes.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  SecretReference,
  Volume,
} from "../../../../api/gen/types.ts";
import { podReference } from "../../../../api/pods.ts";
import type { VolumeRequest, VolumeSource } from "../volume-plugin.ts";
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
  /** The volume itself, where it is a pod's own and has to be attached; others are attached by their names. */
  readonly inlineSpec?: PersistentVolumeSpec;
  /** Undefined for an inline volume. */
  readonly claimed: { readonly persistentVolume: PersistentVolume; readonly claim: PersistentVolumeClaim } | undefined;
}

export type SecretUse = "NodeStageSecretRef" | "NodePublishSecretRef" | "NodeExpandSecretRef";

/** Whether this is a volume of a CSI driver, or of a cloud and so of the driver that serves it. */
export function isCsiSource(source: VolumeSource): boolean {
  const sources = source.kind === "pod" ? source.volume : (source.persistentVolume.spec ?? {});
  return sources.csi !== undefined || cloudDriverOf(sources) !== undefined;
}

/**
 * How the API server and the driver name a volume that is attached and staged; undefined for one that exists only as long
 * as its pod. Throws for a cloud's volume that no driver serves.
 */
export function attachableReference({
  source,
  pod,
}: Pick<VolumeRequest, "source" | "pod">): CsiVolumeReference | undefined {
  if (source.kind === "persistent") return csiVolumeReference(source.persistentVolume);
  const inline = translateInlineVolume(source.volume, podReference(pod).namespace);
  return inline && csiVolumeReference(inline);
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
  const { uid, namespace } = podReference(pod);
  if (csi === undefined) return inlineCloudVolume(volume, namespace);
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

/** A cloud's volume that the pod names itself. It outlives the pod, so it is attached and staged like a persistent one. */
function inlineCloudVolume(volume: Volume, namespace: string): CsiVolume {
  const { metadata, spec } = translateInlineVolume(volume, namespace) ?? {};
  if (spec === undefined) throw new Error(NO_SOURCE);
  return {
    ...sourceOf(spec),
    // It is escaped as upstream escapes it: it may hold a path.
    specName: (metadata?.name ?? "").replaceAll("/", "~"),
    readOnly: spec.csi?.readOnly === true,
    inlineSpec: spec,
    claimed: undefined,
  };
}

function persistentVolume(source: Extract<VolumeSource, { kind: "persistent" }>): CsiVolume {
  const { claim, readOnly } = source;
  const persistentVolume = translateCloudVolume(source.persistentVolume);
  const { spec = {}, metadata } = persistentVolume;
  return { ...sourceOf(spec), specName: metadata?.name ?? "", readOnly, claimed: { persistentVolume, claim } };
}

const NO_SOURCE = "CSIPersistentVolumeSource not defined in spec";

function sourceOf(spec: PersistentVolumeSpec): Omit<CsiVolume, "specName" | "readOnly" | "claimed"> {
  const { csi } = spec;
  if (csi === undefined) throw new Error(NO_SOURCE);
  return {
    driverName: csi.driver,
    handle: csi.volumeHandle,
    lifecycle: "Persistent",
    kind: spec.volumeMode === "Block" ? "block" : "files",
    fsType: csi.fsType ?? "",
    attributes: csi.volumeAttributes ?? {},
    accessModes: spec.accessModes,
    mountOptions: spec.mountOptions ?? [],
    secrets: {
      NodeStageSecretRef: csi.nodeStageSecretRef,
      NodePublishSecretRef: csi.nodePublishSecretRef,
      NodeExpandSecretRef: csi.nodeExpandSecretRef,
    },
  };
}
