import type { KubeObject } from "../../api/object.ts";
import type { StoredObject } from "../ports/object-store.ts";

/**
 * A version of an object whose JSON is the truth. The parsed form is a cache that the garbage collector may take, which
 * keeps thousands of objects at little more than their bytes. It always comes from the JSON, also right after a write:
 * otherwise what a reader sees (a field that is undefined, say) would depend on when memory was last collected.
 *
 * A class, because there are as many as objects and past events, and closures would weigh more than the objects.
 */
export class StoredVersion implements StoredObject {
  readonly key: string;
  readonly revision: number;
  readonly json: Buffer;
  #parsed: WeakRef<KubeObject> | undefined;

  constructor(key: string, revision: number, json: Buffer) {
    this.key = key;
    this.revision = revision;
    this.json = json;
  }

  get object(): KubeObject {
    const parsed = this.#parsed?.deref();
    if (parsed !== undefined) return parsed;
    const object: KubeObject = JSON.parse(this.json.toString());
    this.#parsed = new WeakRef(object);
    return object;
  }
}

/** The object as it is stored at a revision. Its type comes first: a list cuts it off without parsing (rest/encode). */
export function encodeVersion(key: string, revision: number, object: KubeObject): StoredVersion {
  const { kind, apiVersion, metadata, ...rest } = object;
  const text = JSON.stringify({
    kind,
    apiVersion,
    metadata: { ...metadata, resourceVersion: String(revision) },
    ...rest,
  });
  // The pool of small buffers is avoided: one version that lives long would keep its neighbours' memory, too.
  const json = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  json.write(text);
  return new StoredVersion(key, revision, json);
}
