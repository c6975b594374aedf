import { type ManifestDocument, parseManifest } from "../../api/manifest.ts";
import { isKubeObject, isRecord, type KubeObject } from "../../api/object.ts";

/** The objects of a manifest that are no pods, or why the manifest cannot be used. */
interface ManifestObjects {
  readonly objects: readonly KubeObject[];
  /** The errors name their documents. A manifest that has any is not used in part. */
  readonly errors: readonly string[];
}

/**
 * Reads the objects that the API server is to have. Pods are left out: the node agent runs them. A text without any
 * content is an error, because a writer leaves one between truncating a file and writing it anew. Pure, and never throws
 * for bad input.
 */
export function readManifestObjects(data: Buffer): ManifestObjects {
  const documents = parseManifest(data);
  if (documents.length === 0) return { objects: [], errors: ["it holds no object"] };
  const read = documents.map(readDocument);
  return { objects: read.flatMap(({ objects }) => objects), errors: read.flatMap(({ errors }) => errors) };
}

function readDocument(document: ManifestDocument): ManifestObjects {
  const place = `document ${document.document}`;
  if (document.pod !== undefined) return { objects: [], errors: [] };
  if (document.other === undefined) {
    return { objects: [], errors: document.errors.map((error) => `${place}: ${error}`) };
  }
  const objects = flatten(document.other);
  const errors = objects.flatMap((object) => whyUnusable(object).map((error) => `${place}: ${error}`));
  return { objects: objects.filter(isKubeObject), errors };
}

/** The items of a list such as a `ConfigMapList`, which need not repeat their type; else the object itself. */
function flatten(object: KubeObject): readonly unknown[] {
  const { items } = object;
  if (!object.kind.endsWith("List") || !Array.isArray(items)) return [object];
  const implied = { apiVersion: object.apiVersion, kind: object.kind.slice(0, -"List".length) };
  return items.map((item: unknown) => (isRecord(item) ? { ...implied, ...item } : item));
}

function whyUnusable(object: unknown): string[] {
  if (!isKubeObject(object)) return ["a Kubernetes object has apiVersion, kind and metadata"];
  const metadata: Readonly<Record<string, unknown>> = { ...object.metadata };
  const { name, namespace } = { name: metadata["name"], namespace: metadata["namespace"] };
  const title = `${object.kind} of ${object.apiVersion}`;
  const isName = typeof name === "string" && name !== "";
  return [
    ...(isName ? [] : [`${title}: metadata.name: Required value: an object that is applied again needs a name`]),
    ...(namespace === undefined || typeof namespace === "string"
      ? []
      : [`${title}: metadata.namespace: expected string`]),
  ];
}
