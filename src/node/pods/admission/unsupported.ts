import type { Container, EnvVar, Pod, Volume } from "../../../api/gen/types.ts";
import { podContainers } from "../../../api/pods.ts";
import type { PodRejection } from "./pod-rejection.ts";

/**
 * Refuses a pod that asks for something that this version cannot do, with the field's name. Running the pod without it
 * would break a promise silently.
 */
export function rejectUnsupported(pod: Pod): PodRejection | undefined {
  const fields = findUnsupported(pod);
  if (fields.length === 0) return undefined;
  const message = `Pod uses what this version of nodelet does not support yet: ${fields.join("; ")}`;
  return { reason: "UnsupportedFeature", message };
}

/** A field that a pod may set and this version refuses. */
interface UnsupportedField<Place> {
  /** As the message names it; within a container or one of its variables, its path from there. */
  readonly field: string;
  readonly isSetIn: (place: Place) => boolean;
}

const UNSUPPORTED_IN_VARIABLES: ReadonlyArray<UnsupportedField<EnvVar>> = [
  {
    field: "valueFrom.fileKeyRef",
    // What is optional may be absent, and here it is.
    isSetIn: ({ valueFrom }) => valueFrom?.fileKeyRef !== undefined && valueFrom.fileKeyRef.optional !== true,
  },
];

/** Every field of a pod that is refused, volumes aside: for who compares them with what the documents say. */
export const UNSUPPORTED_POD_FIELDS: readonly string[] = [...UNSUPPORTED_IN_VARIABLES].map(({ field }) => field);

function findUnsupported(pod: Pod): string[] {
  const volumes = (pod.spec?.volumes ?? []).flatMap((volume, index) => unsupportedVolume(volume, index));
  const containers = podContainers(pod).flatMap(({ container, kind }) =>
    unsupportedInContainer(container).map((field) => `${pathOf(kind)}{${container.name}}.${field}`),
  );
  return [...volumes, ...containers];
}

function fieldsSetIn<Place>(place: Place, fields: ReadonlyArray<UnsupportedField<Place>>): string[] {
  return fields.filter(({ isSetIn }) => isSetIn(place)).map(({ field }) => field);
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

/** True for a file system in memory or of huge pages (`HugePages`, `HugePages-2Mi`): the kernel limits its size. */
function isMemory(medium = ""): boolean {
  return medium === "Memory" || medium === "HugePages" || medium.startsWith("HugePages-");
}

function unsupportedInContainer(container: Container): string[] {
  return (container.env ?? []).flatMap((variable) =>
    fieldsSetIn(variable, UNSUPPORTED_IN_VARIABLES).map((field) => `env{${variable.name}}.${field}`),
  );
}

function pathOf(kind: "init" | "main" | "ephemeral"): string {
  if (kind === "main") return "spec.containers";
  return kind === "init" ? "spec.initContainers" : "spec.ephemeralContainers";
}
