import type { KubeObject } from "../../api/object.ts";
import type { ResourceApplier } from "../ports/resources.ts";
import { type ManifestRecord, type ManifestReference, referenceTo } from "./manifest-record.ts";

/** A file of the directory. With a problem it has no objects, and those that it gave before stay. */
export interface FileObjects {
  readonly file: string;
  readonly objects: readonly KubeObject[];
  readonly problem?: string | undefined;
}

/** An object that a file wants. */
export interface WantedObject {
  readonly file: string;
  readonly object: KubeObject;
}

/** An object that a file wanted once and no file wants any more. */
export interface UnwantedObject {
  readonly file: string;
  readonly reference: ManifestReference;
}

/** The work to bring the cluster in line with the directory. */
export interface ManifestPlan {
  /** What others need comes before them. */
  readonly wanted: readonly WantedObject[];
  /** What needs others comes before them. */
  readonly unwanted: readonly UnwantedObject[];
  /** A manifest that cannot be read, into which the unwanted objects may have moved. */
  readonly heldBy: string | undefined;
  /** The objects that another file has already, by file: sentences that say so. */
  readonly clashes: ReadonlyMap<string, readonly string[]>;
}

/** Kinds on which others depend, first ones first, then all others, and those that decide about others last. */
const FIRST = [
  "Namespace",
  "CustomResourceDefinition",
  "PriorityClass",
  "RuntimeClass",
  "StorageClass",
  "ResourceQuota",
  "LimitRange",
  "ServiceAccount",
  "Secret",
  "ConfigMap",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "ClusterRole",
  "ClusterRoleBinding",
  "Role",
  "RoleBinding",
  "Service",
];
const LAST = [
  "APIService",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
];

type Resolve = ResourceApplier["resolve"];

/** Plans what is applied and what is deleted. Files come in the order of their names. */
export function planManifests(
  files: readonly FileObjects[],
  records: readonly ManifestRecord[],
  resolve: Resolve,
): ManifestPlan {
  const wanted = new Map<string, WantedObject>();
  const clashes = new Map<string, string[]>();
  for (const { file, objects } of files) {
    for (const object of objects) {
      const key = keyOf(referenceTo(object), resolve);
      const other = wanted.get(key);
      if (other === undefined) wanted.set(key, { file, object });
      else clashes.set(file, [...(clashes.get(file) ?? []), `${titleOf(referenceTo(object))} is in ${other.file} too`]);
    }
  }
  const bad = new Set(files.filter(({ problem }) => problem !== undefined).map(({ file }) => file));
  // A file that is no manifest at all, such as notes, holds nothing up.
  const heldBy = [...bad].find((file) => /\.(ya?ml|json)$/.test(file));
  const unwanted = records
    .filter(({ file }) => !bad.has(file))
    .flatMap(({ file, references }) => references.map((reference) => ({ file, reference })))
    .filter(({ reference }) => !wanted.has(keyOf(reference, resolve)));
  return {
    wanted: [...wanted.values()].toSorted((a, b) => rankKind(a.object.kind) - rankKind(b.object.kind)),
    unwanted: unwanted.toSorted((a, b) => rankKind(b.reference.kind) - rankKind(a.reference.kind)),
    heldBy,
    clashes,
  };
}

/** True for kinds that have to be there before anything else can be applied. */
export function isFoundation(kind: string): boolean {
  return rankKind(kind) <= FIRST.indexOf("CustomResourceDefinition");
}

function rankKind(kind: string): number {
  const first = FIRST.indexOf(kind);
  if (first !== -1) return first;
  return FIRST.length + LAST.indexOf(kind) + 1;
}

/**
 * The same for all ways to write down an object: in whichever version of its group, with the default namespace or
 * without any.
 */
function keyOf({ apiVersion, kind, namespace, name }: ManifestReference, resolve: Resolve): string {
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  const found = resolve(apiVersion, kind);
  const place = found?.namespaced === false ? "" : namespace || "default";
  return [group, kind, place, name].join("\n");
}

/** `ConfigMap team/settings`. */
export function titleOf({ kind, namespace, name }: ManifestReference): string {
  return `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;
}
