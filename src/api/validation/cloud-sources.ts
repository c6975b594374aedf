import type { FieldError } from "../field-error.ts";
import type { Volume } from "../gen/types.ts";
import { isRecord } from "../object.ts";
import { required } from "./problems.ts";

/**
 * What the sources need of which no plugin is here: drivers of their own have replaced them. Only what is missing is told,
 * under the names of upstream's validation.
 */
const NEEDED: ReadonlyArray<readonly [source: keyof Volume, fields: readonly string[], name?: string]> = [
  ["gcePersistentDisk", ["pdName"], "persistentDisk"],
  ["awsElasticBlockStore", ["volumeID"]],
  ["glusterfs", ["endpoints", "path"]],
  ["rbd", ["monitors", "image"]],
  ["cephfs", ["monitors"]],
  ["cinder", ["volumeID"]],
  ["azureFile", ["secretName", "shareName"]],
  ["azureDisk", ["diskName", "diskURI"]],
  ["vsphereVolume", ["volumePath"]],
  ["photonPersistentDisk", ["pdID"]],
  ["portworxVolume", ["volumeID"]],
  ["flexVolume", ["driver"]],
];

/** The fields that a volume of a cloud or of a former plugin lacks. */
export function validateCloudSource(path: string, volume: Volume): FieldError[] {
  return NEEDED.flatMap(([source, fields, name = source]) => {
    const given: unknown = volume[source];
    if (!isRecord(given)) return [];
    return fields.filter((field) => isMissing(given[field])).map((field) => required(`${path}.${name}.${field}`));
  });
}

const isMissing = (value: unknown) =>
  value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
