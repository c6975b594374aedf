import { SCHEMA } from "../../../api/gen/schema.ts";
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

/** The kinds that the API has; those of them that nodelet never brings are refused with words of their own before. */
const { name: _, ...KINDS } = SCHEMA["Volume"] ?? {};

function unsupportedVolume(volume: Volume, index: number): string[] {
  const path = `spec.volumes[${index}]`;
  if (volume.emptyDir) {
    const { medium = "" } = volume.emptyDir;
    return medium === "" || isMemory(medium) ? [] : [`${path}.emptyDir.medium`];
  }
  const kinds = Object.keys(volume).filter((key) => key !== "name");
  if (kinds.some((kind) => Object.hasOwn(KINDS, kind))) return [];
  return [`${path}.${kinds[0] ?? "emptyDir"}`];
}

/** True for a file system in memory or of huge pages (`HugePages`, `HugePages-2Mi`): the kernel limits its size. */
function isMemory(medium = ""): boolean {
  return medium === "Memory" || medium === "HugePages" || medium.startsWith("HugePages-");
}
