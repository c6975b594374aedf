import type { CSIDriver, Pod } from "../../../../api/gen/types.ts";
import { podReference } from "../../../../api/pods.ts";
import type { CsiNodeCapability, CsiVolumeUse } from "../../../../csi/port.ts";
import type { CsiVolume } from "./csi-volume.ts";

type Capabilities = ReadonlySet<CsiNodeCapability>;

/** Why the driver does not accept volumes of this life cycle, in upstream's words; undefined where it does. */
export function computeLifecycleRefusal(driver: CSIDriver | undefined, volume: CsiVolume): string | undefined {
  const { lifecycle, driverName } = volume;
  // A driver without a CSIDriver object is taken to accept persistent volumes.
  if (driver === undefined && lifecycle === "Persistent") return undefined;
  if (driver === undefined) {
    return `volume mode "${lifecycle}" not supported by driver ${driverName} (no CSIDriver object)`;
  }
  const modes = driver.spec.volumeLifecycleModes ?? ["Persistent"];
  if (modes.includes(lifecycle)) return undefined;
  const known = modes.map((mode) => JSON.stringify(mode)).join(" ");
  return `volume mode "${lifecycle}" not supported by driver ${driverName} (only supports [${known}])`;
}

/** Whether a controller has to attach the volume to the node before it can be staged. */
export function isAttachable(driver: CSIDriver | undefined, volume: CsiVolume): boolean {
  return volume.lifecycle === "Persistent" && driver?.spec.attachRequired !== false;
}

/** Computes how the driver is told that the volume shall be used. */
export function computeVolumeUse(
  volume: CsiVolume,
  capabilities: Capabilities,
  mount: { readonly fsGroup: number | undefined; readonly seLinuxLabel: string | undefined },
): CsiVolumeUse {
  const accessMode = computeAccessMode(volume.accessModes?.[0] ?? "ReadWriteOnce", capabilities);
  if (volume.kind === "block") return { accessMode, access: { kind: "block" } };
  const { fsGroup, seLinuxLabel } = mount;
  // The label stands in quotes, because it may contain commas.
  const labelOption = seLinuxLabel === undefined ? [] : [`context=${JSON.stringify(seLinuxLabel)}`];
  const isDelegated = fsGroup !== undefined && capabilities.has("VOLUME_MOUNT_GROUP");
  return {
    accessMode,
    access: {
      kind: "mount",
      fsType: volume.fsType,
      mountFlags: [...volume.mountOptions, ...labelOption],
      mountGroup: isDelegated ? String(fsGroup) : undefined,
    },
  };
}

/** Only the first access mode of a volume counts, as upstream (`asCSIAccessModeV1` in csi_client.go). */
function computeAccessMode(mode: string, capabilities: Capabilities): CsiVolumeUse["accessMode"] {
  const knowsWriters = capabilities.has("SINGLE_NODE_MULTI_WRITER");
  switch (mode) {
    case "ReadOnlyMany":
      return "MULTI_NODE_READER_ONLY";
    case "ReadWriteMany":
      return "MULTI_NODE_MULTI_WRITER";
    case "ReadWriteOncePod":
      return knowsWriters ? "SINGLE_NODE_SINGLE_WRITER" : "SINGLE_NODE_WRITER";
    default:
      return knowsWriters ? "SINGLE_NODE_MULTI_WRITER" : "SINGLE_NODE_WRITER";
  }
}

/** Whether the node agent, and not the driver, has to give the volume's files to the pod's fsGroup. */
export function needsGroupChange(
  driver: CSIDriver | undefined,
  volume: CsiVolume,
  capabilities: Capabilities,
): boolean {
  if (volume.readOnly || volume.kind === "block" || capabilities.has("VOLUME_MOUNT_GROUP")) return false;
  const policy = driver?.spec.fsGroupPolicy ?? "ReadWriteOnceWithFSType";
  if (policy !== "ReadWriteOnceWithFSType") return policy === "File";
  if (volume.fsType === "") return false;
  return volume.lifecycle === "Ephemeral" || volume.accessModes?.includes("ReadWriteOnce") === true;
}

/** What a driver with `podInfoOnMount` is told of the pod. */
export function computePodAttributes(pod: Pod, { lifecycle }: CsiVolume): Record<string, string> {
  const { name, namespace, uid } = podReference(pod);
  return {
    "csi.storage.k8s.io/pod.name": name,
    "csi.storage.k8s.io/pod.namespace": namespace,
    "csi.storage.k8s.io/pod.uid": uid,
    "csi.storage.k8s.io/serviceAccount.name": pod.spec?.serviceAccountName ?? "",
    "csi.storage.k8s.io/ephemeral": String(lifecycle === "Ephemeral"),
  };
}
