import { isUtf8 } from "node:buffer";
import type { ConfigMap, Secret } from "../../../api/gen/types.ts";
import { assert } from "../../../base/assert.ts";

/** An object that an environment names, or why there is none. */
export type ReferredObject<T> =
  | { state: "found"; object: T }
  /** There is none: fine for a reference that is optional. */
  | { state: "missing"; error: string }
  /** Whether there is one is not known. */
  | { state: "failed"; error: string };

/** By name, all of the pod's namespace; every one that the container's environment names. */
export interface ReferredObjects {
  readonly secrets: ReadonlyMap<string, ReferredObject<Secret>>;
  readonly configMaps: ReadonlyMap<string, ReferredObject<ConfigMap>>;
}

/** A variable's value. */
export interface ReferredValue {
  value: string;
  /** Its bytes where they are no UTF-8 text, as a secret's may be; `value` is only a rendering then. */
  bytes?: Uint8Array;
}

/** An object of the pod's namespace, as `envFrom` names it; without a name there is none. */
interface ObjectReference {
  readonly kind: "Secret" | "ConfigMap";
  readonly name?: string;
  readonly optional?: boolean;
}

/** One of its values, as `env` names it. */
export interface KeyReference extends ObjectReference {
  readonly key: string;
}

/** One value of an object. What is absent is an error unless the reference is optional; then there is nothing. */
export function readKey(
  objects: ReferredObjects,
  reference: KeyReference,
  namespace: string,
): ReferredValue | { error: string } | "skip" {
  const { kind, name = "", key, optional = false } = reference;
  const data = readData(objects, reference);
  if (data === "skip" || "error" in data) return data;
  const text = data.found.find(([candidate]) => candidate === key)?.[1];
  if (text !== undefined) return decode(kind, text);
  return optional ? "skip" : { error: `couldn't find key ${key} in ${kind} ${namespace}/${name}` };
}

/** All values of an object, by key. */
export function readEntries(
  objects: ReferredObjects,
  reference: ObjectReference,
): { found: Array<[key: string, value: ReferredValue]> } | { error: string } | "skip" {
  const data = readData(objects, reference);
  if (data === "skip" || "error" in data) return data;
  return { found: data.found.map(([key, text]) => [key, decode(reference.kind, text)]) };
}

/** As entries: a key may be called like something that every object has (`constructor`). */
function readData(
  { secrets, configMaps }: ReferredObjects,
  { kind, name = "", optional = false }: ObjectReference,
): { found: Array<[key: string, text: string]> } | { error: string } | "skip" {
  const referred: ReferredObject<Secret | ConfigMap> | undefined =
    kind === "Secret" ? secrets.get(name) : configMaps.get(name);
  assert(referred !== undefined, "every object that the container names was asked for");
  if (referred.state === "found") return { found: Object.entries(referred.object.data ?? {}) };
  return referred.state === "missing" && optional ? "skip" : { error: referred.error };
}

/** A secret's values travel as base64; a config map's are text, its binary ones are for files only. */
function decode(kind: ObjectReference["kind"], text: string): ReferredValue {
  if (kind === "ConfigMap") return { value: text };
  const bytes = Buffer.from(text, "base64");
  const value = bytes.toString("utf8");
  return isUtf8(bytes) ? { value } : { value, bytes };
}
