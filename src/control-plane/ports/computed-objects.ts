import type { KubeObject } from "../../api/object.ts";

/** The objects that are asked for. */
export interface AskedObjects {
  /** "" for all namespaces, and for a kind that is in none. */
  readonly namespace: string;
  /** Undefined for all of them. */
  readonly name: string | undefined;
}

/** A resource whose objects are not stored: they are made for those who read them, and nobody writes them. */
export interface ComputedObjects {
  /** The objects in order of namespace and name. Rejects with `AbortedError` when the signal fires. */
  read(asked: AskedObjects, signal: AbortSignal): Promise<readonly KubeObject[]>;
}
