import { isRecord } from "../api/object.ts";
import { isEqualJson } from "../api/patch/json-value.ts";
import type { WatchEvent } from "./port.ts";
import type { ReflectorChange } from "./reflector.ts";
import { isOlderRevision } from "./revision-order.ts";

/** The objects that a reflector holds, by place. An object that did not change stays the very same one. */
export interface ReflectedObjects<T> {
  /**
   * Takes in a whole list. Returns the changes that it means; those that free a name come first. A list with an item that
   * has no name says of no object that it is gone: it may be that one.
   */
  replace(items: readonly T[]): Array<ReflectorChange<T>>;
  /**
   * Takes in an event. No change for a repeated event, for one about another object than the one held, and for one that
   * is older than what is known of its object.
   */
  apply(event: ObjectEvent<T>): Array<ReflectorChange<T>>;
  list(): T[];
  get(namespace: string, name: string): T | undefined;
}

/** An event that is about an object. */
type ObjectEvent<T> = Exclude<WatchEvent<T>, { type: "BOOKMARK" }>;

/**
 * The items of a list that are compared with what is held, although their revision is the same: a server that was restored from
 * a backup gives revisions a second time. Longer lists are taken by their revisions, which takes less time.
 */
const MAX_COMPARED_ITEMS = 1_000;

/** A repetition is recognized among so many last events of a watch, and beyond them as the newest of its object. */
const REMEMBERED_EVENTS = 256;

interface Held<T> {
  readonly object: T;
  readonly uid: string;
  readonly resourceVersion: string;
}

interface Identified<T> extends Held<T> {
  readonly key: string;
}

export function createReflectedObjects<T>(): ReflectedObjects<T> {
  const held = new Map<string, Held<T>>();
  // Where revisions cannot be compared, an old event is known because it has been seen. Without this a late repetition
  // would bring a deleted object back for good.
  const seen = new Set<string>();
  /** The revisions of the newest deletions, by UID: what comes late of a deleted object does not bring it back. */
  const buried = new Map<string, string>();

  const wasSeen = (event: ObjectEvent<T>, { key, uid }: Identified<T>): boolean => {
    if (event.resourceVersion === "") return false;
    const mark = `${event.type} ${key} ${uid} ${event.resourceVersion}`;
    if (seen.has(mark)) return true;
    seen.add(mark);
    const [oldest] = seen;
    if (seen.size > REMEMBERED_EVENTS && oldest !== undefined) seen.delete(oldest);
    return false;
  };

  const bury = (uid: string, resourceVersion: string) => {
    buried.set(uid, resourceVersion);
    const [oldest] = buried.keys();
    if (buried.size > REMEMBERED_EVENTS && oldest !== undefined) buried.delete(oldest);
  };

  const isLate = ({ key, uid, resourceVersion }: Identified<T>): boolean => {
    // What had the name before is older than what has it now.
    return isOlderRevision(resourceVersion, buried.get(uid) ?? held.get(key)?.resourceVersion ?? "");
  };

  const put = ({ key, ...now }: Identified<T>, isSame: IsSame<T> = isSameVersion): Array<ReflectorChange<T>> => {
    const before = held.get(key);
    if (before !== undefined && isSame(before, now)) return [];
    held.set(key, now);
    const { object } = now;
    if (before === undefined) return [{ type: "ADDED", object, previous: undefined }];
    if (before.uid === now.uid) return [{ type: "MODIFIED", object, previous: before.object }];
    return [deletion(before.object), { type: "ADDED", object, previous: undefined }];
  };

  const remove = ({ key, uid, object }: Identified<T>): Array<ReflectorChange<T>> => {
    const before = held.get(key);
    if (before === undefined || before.uid !== uid) return [];
    held.delete(key);
    return [{ type: "DELETED", object, previous: before.object }];
  };

  return {
    replace(items) {
      // A server that lost its data counts its revisions anew: those seen by the last watch mean nothing any more.
      seen.clear();
      buried.clear();
      const listed = items.flatMap((item) => identify(item) ?? []);
      const keys = new Set(listed.map(({ key }) => key));
      const gone = listed.length < items.length ? [] : [...held].filter(([key]) => !keys.has(key));
      for (const [key] of gone) held.delete(key);
      const isSame: IsSame<T> = listed.length > MAX_COMPARED_ITEMS ? isSameVersion : isSameObject;
      const changed = listed.flatMap((item) => put(item, isSame));
      const changes = [...gone.map(([, { object }]) => deletion(object)), ...changed];
      return [...changes.filter(isDeletion), ...changes.filter((change) => !isDeletion(change))];
    },
    apply(event) {
      const identified = identify(event.object);
      if (identified === undefined || wasSeen(event, identified) || isLate(identified)) return [];
      if (event.type === "DELETED") bury(identified.uid, event.resourceVersion);
      return event.type === "DELETED" ? remove(identified) : put(identified);
    },
    list: () => [...held.values()].map(({ object }) => object),
    get: (namespace, name) => held.get(keyOf(namespace, name))?.object,
  };
}

/** The object as it was last seen: its end was not seen. */
function deletion<T>(object: T): ReflectorChange<T> {
  return { type: "DELETED", object, previous: object };
}

function isDeletion<T>({ type }: ReflectorChange<T>): boolean {
  return type === "DELETED";
}

type IsSame<T> = (a: Held<T>, b: Held<T>) => boolean;

function isSameObject<T>(a: Held<T>, b: Held<T>): boolean {
  return isSameVersion(a, b) && isEqualJson(a.object, b.object);
}

/** An object without a revision is never known to be the same. */
function isSameVersion<T>(a: Held<T>, b: Held<T>): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion && a.resourceVersion !== "";
}

/** Undefined for an object without a name: no server sends one, and it could not be held. */
function identify<T>(object: T): Identified<T> | undefined {
  const metadata = isRecord(object) ? object["metadata"] : undefined;
  if (!isRecord(metadata)) return undefined;
  const name = text(metadata["name"]);
  if (name === "") return undefined;
  const key = keyOf(text(metadata["namespace"]), name);
  return { key, object, uid: text(metadata["uid"]), resourceVersion: text(metadata["resourceVersion"]) };
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
