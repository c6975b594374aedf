import { createHash } from "node:crypto";
import { isRecord, type KubeObject, type ObjectOf, typed, untyped } from "../../api/object.ts";
import type { ResourceReader } from "../ports/resources.ts";

/** The annotation of an object that was applied from a manifest: the file's name. */
export const MANIFEST_FILE = "nodelet/manifest-file";
/** The records are config maps, which lie here with this label. */
export const RECORDS = "configmaps";
export const RECORDS_NAMESPACE = "kube-system";
const LABEL = "nodelet/manifest-record";
/** The label selector of the records. */
export const RECORDS_SELECTOR = `${LABEL}=true`;

/** An object that a manifest names. The namespace is as it was written, `""` without one. */
export interface ManifestReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The state of one file of the manifests directory, as the cluster remembers it. */
export interface ManifestRecord {
  readonly file: string;
  /** The objects that were applied from the file and not deleted since, or are about to be applied. */
  readonly references: readonly ManifestReference[];
  readonly status: "Applied" | "Failed" | "Pending";
  /** What is wrong, or "". */
  readonly message: string;
}

/** A record with its object. */
export interface StoredRecord extends ManifestRecord {
  readonly object: ObjectOf<"ConfigMap">;
}

/** The reference to an object. */
export function referenceTo({ apiVersion, kind, metadata }: KubeObject): ManifestReference {
  return { apiVersion, kind, namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

/** The config map of a file's record, in the place of the one that there is. */
export function formatRecord({ file, references, status, message }: ManifestRecord, before?: StoredRecord): KubeObject {
  const hash = createHash("sha256").update(file).digest("hex").slice(0, 12);
  const metadata = before?.object.metadata ?? {
    name: `nodelet-manifest-${hash}`,
    namespace: RECORDS_NAMESPACE,
    labels: { [LABEL]: "true" },
  };
  const objects = references.map((reference) => JSON.stringify(reference)).join("\n");
  return untyped({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { file, objects, status, message } });
}

/** The records that the cluster has. One that cannot be read is as none, so that nothing is deleted for it. */
export function readRecords(reader: Pick<ResourceReader, "list">): readonly StoredRecord[] {
  return reader.list(RECORDS, RECORDS_NAMESPACE).flatMap((object) => {
    if (object.metadata.labels?.[LABEL] !== "true") return [];
    const stored = typed("ConfigMap", object);
    const record = parseRecord(stored.data);
    return record === undefined ? [] : [{ ...record, object: stored }];
  });
}

/** Reads the data of a record's config map; undefined for what is none. */
export function parseRecord(data: ObjectOf<"ConfigMap">["data"]): ManifestRecord | undefined {
  const { file, objects = "", status = "", message = "" } = data ?? {};
  if (file === undefined) return undefined;
  const references = objects.split("\n").flatMap(parseReference);
  const isKnown = status === "Applied" || status === "Failed";
  return { file, references, status: isKnown ? status : "Pending", message };
}

function parseReference(line: string): ManifestReference[] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return [];
  }
  if (!isRecord(value)) return [];
  const { apiVersion, kind, namespace, name } = {
    apiVersion: value["apiVersion"],
    kind: value["kind"],
    namespace: value["namespace"],
    name: value["name"],
  };
  const isWhole =
    typeof apiVersion === "string" &&
    typeof kind === "string" &&
    typeof namespace === "string" &&
    typeof name === "string";
  return isWhole ? [{ apiVersion, kind, namespace, name }] : [];
}
