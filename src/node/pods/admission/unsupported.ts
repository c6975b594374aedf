import type { Pod, Volume } from "../../../api/gen/types.ts";
import type { PodRejection } from "./pod-rejection.ts";

/**
 * Refuses a pod that asks for something that this version cannot do, with the field's name. Running the pod without it
 * would break a promise silently.
 */
export function rejectUnsupported(pod: Pod): PodRejection | undefined {
  const fields = (pod.spec?.volumes ?? []).flatMap((volume, index) => unsupportedVolume(volume, index));
  if (fields.length === 0) return undefined;
  const message = `Pod uses what this version of nodelet does not support yet: ${fields.join("; ")}`;
  return { reason: "UnsupportedFeature", message };
}

const SUPPORTED_VOLUMES = [
  "hostPath",
  "configMap",
  "secret",
  "downwardAPI",
  "projected",
  "persistentVolumeClaim",
  "ephemeral",
  "csi",
  "awsElasticBlockStore",
  "azureDisk",
  "azureFile",
  "cinder",
  "gcePersistentDisk",
  "portworxVolume",
  "vsphereVolume",
  "nfs",
  "image",
] as const satisfies ReadonlyArray<keyof Volume>;

function unsupportedVolume(volume: Volume, index: number): string[] {
  const path = `spec.volumes[${index}]`;
  if (SUPPORTED_VOLUMES.some((kind) => volume[kind] !== undefined)) return [];
  if (volume.emptyDir) {
    const { medium = "" } = volume.emptyDir;
    return medium === "" || isMemory(medium) ? [] : [`${path}.emptyDir.medium`];
  }
  const kind = Object.keys(volume).find((key) => key !== "name");
  return [`${path}.${kind ?? "emptyDir"}`];
}

/** True for a file system in memory or of huge pages (`HugePages`, `HugePages-2Mi`): the kernel limits its size. */
function isMemory(medium = ""): boolean {
  return medium === "Memory" || medium === "HugePages" || medium.startsWith("HugePages-");
}
