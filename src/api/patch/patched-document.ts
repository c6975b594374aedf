import { setOwn } from "../apply/json-value.ts";
import { isRecord } from "../object.ts";
import { ownField } from "./json-value.ts";

/** Why an operation cannot be applied, in upstream's words. */
export class PatchFailure extends Error {}

/** A document that operations change one after the other; the document it was made from stays unchanged. */
export interface PatchedDocument {
  root: unknown;
  /** Finds the container and the key of a JSON pointer's (RFC 6901) value; undefined when no container can hold it. */
  locate(pointer: string): { container: Container; key: string } | undefined;
  /**
   * Returns a copy of the value for a second place. Throws a PatchFailure beyond the amount that one patch may copy.
   */
  copyOf(value: unknown): unknown;
}

/**
 * An object or a list, whose items are addressed by text. Each method throws a PatchFailure for a key that it cannot
 * have.
 */
export interface Container {
  /** Undefined for a field that an object does not have. */
  get(key: string): unknown;
  /** Sets a field, or inserts an item before the index; `-` appends. */
  add(key: string, value: unknown): void;
  /** True if the key may be replaced: in a list only an item that exists, in an object any field. */
  canReplace(key: string): boolean;
  replace(key: string, value: unknown): void;
  remove(key: string): void;
}

/** Upstream's limit for what the copies of one patch may add, in bytes of JSON. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;
/** An object of the API has fewer, and so many take some tens of milliseconds, in which nobody else is served. */
const MAX_COPIED_VALUES = 60_000;
const MAX_COPIED_DEPTH = 1000;
/** Items that insertions and removals in the middle of lists move on: some milliseconds' work. */
const MAX_MOVED_ITEMS = 10_000_000;
/** No document of the API has a longer path; a name in it has a few hundred characters. */
const MAX_POINTER_LENGTH = 64 * 1024;

/**
 * Starts from a document that is not changed: containers on an operation's path are copied once, and the rest is
 * shared.
 */
export function createPatchedDocument(document: unknown): PatchedDocument {
  const own = new WeakSet<object>();
  let copiedBytes = 0;
  let copiedValues = 0;
  let movedItems = 0;

  function owned<Value extends object>(value: Value, copied: (value: Value) => Value): Value {
    if (own.has(value)) return value;
    const copy = copied(value);
    own.add(copy);
    return copy;
  }

  /** Returns the value in a form that may be changed: itself or a copy. Undefined for a value that is no container. */
  function changeable(value: unknown): Changeable | undefined {
    if (Array.isArray(value)) return { list: owned<unknown[]>(value, (list) => [...list]) };
    return isRecord(value) ? { object: owned(value, (object) => ({ ...object })) } : undefined;
  }

  /** Bytes are counted before anything is copied, so no patch makes more than the limit. */
  function copyOf(value: unknown, depth = 0): unknown {
    if (++copiedValues > MAX_COPIED_VALUES) {
      throw new PatchFailure(`Unable to complete the copy, it copies more than ${MAX_COPIED_VALUES} values`);
    }
    if (depth > MAX_COPIED_DEPTH) throw new PatchFailure("error while performing deep copy: nested too deeply");
    if (Array.isArray(value)) {
      countCopied(2 + value.length);
      return value.map((item: unknown) => copyOf(item, depth + 1));
    }
    if (!isRecord(value)) {
      countCopied(typeof value === "string" ? Buffer.byteLength(value) + 2 : 4);
      return value;
    }
    countCopied(2);
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      countCopied(Buffer.byteLength(name) + 4);
      setOwn(copy, name, copyOf(value[name], depth + 1));
    }
    return copy;
  }

  function countCopied(bytes: number): void {
    copiedBytes += bytes;
    if (copiedBytes <= MAX_COPIED_BYTES) return;
    const why = `the accumulated size increase of copy operations is ${copiedBytes}, exceeding the limit ${MAX_COPIED_BYTES}`;
    throw new PatchFailure(`Unable to complete the copy, ${why}`);
  }

  function countMoved(items: number): void {
    movedItems += items;
    if (movedItems <= MAX_MOVED_ITEMS) return;
    throw new PatchFailure("the patch inserts into long lists, or removes from them, too often");
  }

  const containerOf = (target: Changeable): Container =>
    target.list ? listContainer(target.list, countMoved) : objectContainer(target.object);

  const patched: PatchedDocument = {
    root: document,
    locate(pointer) {
      if (pointer.length > MAX_POINTER_LENGTH) return undefined;
      const [before, ...keys] = pointer.split("/").map(unescapeKey);
      const key = keys.pop();
      if (before !== "" || key === undefined) return undefined;
      const root = changeable(patched.root);
      if (root === undefined) return undefined;
      patched.root = root.list ?? root.object;
      let container = containerOf(root);
      for (const step of keys) {
        const before = getOrUndefined(container, step);
        const next = changeable(before);
        if (next === undefined) return undefined;
        const own = next.list ?? next.object;
        if (own !== before) container.replace(step, own);
        container = containerOf(next);
      }
      return { container, key };
    },
    copyOf: (value) => copyOf(value),
  };
  return patched;
}

type Changeable = { list: unknown[]; object?: never } | { list?: never; object: Record<string, unknown> };

function getOrUndefined(container: Container, key: string): unknown {
  try {
    return container.get(key);
  } catch (error) {
    if (error instanceof PatchFailure) return undefined;
    throw error;
  }
}

function objectContainer(object: Record<string, unknown>): Container {
  const set = (key: string, value: unknown) => setOwn(object, key, value);
  return {
    get: (key) => ownField(object, key),
    add: set,
    canReplace: () => true,
    replace: set,
    remove(key) {
      if (!Object.hasOwn(object, key))
        throw new PatchFailure(`Unable to remove nonexistent key: ${key}: missing value`);
      delete object[key];
    },
  };
}

function listContainer(list: unknown[], countMoved: (items: number) => void): Container {
  function place(key: string, length: number): number {
    const index = indexOf(key);
    const position = index < 0 ? index + length : index;
    if (position >= 0 && position < length) return position;
    throw new PatchFailure(`Unable to access invalid index: ${index}: invalid index referenced`);
  }
  return {
    get: (key) => list[place(key, list.length)],
    add(key, value) {
      const position = key === "-" ? list.length : place(key, list.length + 1);
      countMoved(list.length - position);
      list.splice(position, 0, value);
    },
    canReplace: (key) => /^[+-]?\d+$/.test(key) && Number(key) < list.length && Number(key) >= -list.length,
    replace(key, value) {
      list[place(key, list.length)] = value;
    },
    remove(key) {
      const position = place(key, list.length);
      countMoved(list.length - position);
      list.splice(position, 1);
    },
  };
}

function indexOf(key: string): number {
  if (/^[+-]?\d+$/.test(key)) return Number(key);
  throw new PatchFailure(`value was not a proper array index: '${key}'`);
}

function unescapeKey(key: string): string {
  return key.includes("~") ? key.replaceAll("~1", "/").replaceAll("~0", "~") : key;
}
