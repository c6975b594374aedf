import type { Container, Pod, Volume } from "../../../api/gen/types.ts";
import { podContainers } from "../../../api/pods.ts";
import type { Rejection } from "./admission.ts";

/**
 * What a pod may ask for that this version cannot do. Running the pod without it would break a promise silently, so it is
 * refused with the field's name.
 */
export function rejectUnsupported(pod: Pod): Rejection | undefined {
  const fields = findUnsupported(pod);
  if (fields.length === 0) return undefined;
  const message = `Pod uses what this version of nodelet does not support yet: ${fields.join("; ")}`;
  return { reason: "UnsupportedFeature", message };
}

function findUnsupported(pod: Pod): string[] {
  const volumes = (pod.spec?.volumes ?? []).flatMap((volume, index) => unsupportedVolume(volume, index));
  const containers = podContainers(pod).flatMap(({ container, kind }) =>
    unsupportedInContainer(container).map((field) => `${pathOf(kind)}{${container.name}}.${field}`),
  );
  return [...unsupportedInSpec(pod), ...volumes, ...containers];
}

function unsupportedInSpec({ spec }: Pod): string[] {
  return [
    ...(spec?.resourceClaims?.length ? ["spec.resourceClaims"] : []),
    ...(spec?.resources ? ["spec.resources (pod-level resources)"] : []),
  ];
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

/** A file system in memory or of huge pages, `HugePages` or `HugePages-2Mi`: the kernel holds it to its size. */
function isMemory(medium = ""): boolean {
  return medium === "Memory" || medium === "HugePages" || medium.startsWith("HugePages-");
}

function unsupportedInContainer(container: Container): string[] {
  const env = (container.env ?? []).flatMap(({ name, valueFrom }) => {
    // What is optional may be absent, and here it is.
    const isNeeded = valueFrom?.fileKeyRef !== undefined && valueFrom.fileKeyRef.optional !== true;
    return isNeeded ? [`env{${name}}.valueFrom.fileKeyRef`] : [];
  });
  return [
    ...env,
    ...(container.resources?.claims?.length ? ["resources.claims"] : []),
    ...(container.restartPolicyRules?.length ? ["restartPolicyRules"] : []),
  ];
}

function pathOf(kind: "init" | "main" | "ephemeral"): string {
  if (kind === "main") return "spec.containers";
  return kind === "init" ? "spec.initContainers" : "spec.ephemeralContainers";
}
