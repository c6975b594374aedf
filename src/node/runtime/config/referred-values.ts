import { isUtf8 } from "node:buffer";
import type { ConfigMap, Secret } from "../../../api/gen/types.ts";
import { assert } from "../../../base/assert.ts";

/** An object that an environment names, or the reason why there is none. */
export type ReferredObject<T> =
  | { state: "found"; object: T }
  /** The object does not exist, which is no error for an optional reference. */
  | { state: "missing"; error: string }
  /** It is not known whether the object exists. */
  | { state: "failed"; error: string };

/** The objects of the pod's namespace by name: every one that the container's environment names. */
export interface ReferredObjects {
  readonly secrets: ReadonlyMap<string, ReferredObject<Secret>>;
  readonly configMaps: ReadonlyMap<string, ReferredObject<ConfigMap>>;
}

export interface ReferredValue {
  value: string;
  /** The value's bytes where they are no UTF-8 text, as a secret's may be; `value` is then only a rendering of them. */
  bytes?: Uint8Array;
}

/** A reference to an object of the pod's namespace, as `envFrom` has it. A reference without a name means no object. */
interface ObjectReference {
  readonly kind: "Secret" | "ConfigMap";
  readonly name?: string;
  readonly optional?: boolean;
}

/** A reference to one value of an object, as `env` has it. */
export interface KeyReference extends ObjectReference {
  readonly key: string;
}

/**
 * Reads one value of an object. An absent object or key is an error unless the reference is optional; then the value is
 * absent.
 */
export function readKey(
  objects: ReferredObjects,
  reference: KeyReference,
  namespace: string,
): ReferredValue | { error: string } | "skip" {
  const { kind, name = "", key, optional = false } = reference;
  const data = readData(objects, reference);
  if (data === "skip" || "error" in data) return data;
  const text = Object.hasOwn(data.found, key) ? data.found[key] : undefined;
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
  return { found: Object.entries(data.found).map(([key, text]) => [key, decode(reference.kind, text)]) };
}

/** A key of the data may be called like something that every object has (`constructor`). */
function readData(
  { secrets, configMaps }: ReferredObjects,
  { kind, name = "", optional = false }: ObjectReference,
): { found: Readonly<Record<string, string>> } | { error: string } | "skip" {
  const referred: ReferredObject<Secret | ConfigMap> | undefined =
    kind === "Secret" ? secrets.get(name) : configMaps.get(name);
  assert(referred !== undefined, "every object that the container names was asked for");
  if (referred.state === "found") return { found: referred.object.data ?? {} };
  return referred.state === "missing" && optional ? "skip" : { error: referred.error };
}

/** A secret's values travel as base64. A config map's values are text; its binary values are for files only. */
function decode(kind: ObjectReference["kind"], text: string): ReferredValue {
  return kind === "ConfigMap" ? { value: text } : decodeValue(Buffer.from(text, "base64"));
}

/** The value of a variable whose bytes may be no UTF-8 text. */
export function decodeValue(bytes: Buffer): ReferredValue {
  const value = bytes.toString("utf8");
  return isUtf8(bytes) ? { value } : { value, bytes };
}
