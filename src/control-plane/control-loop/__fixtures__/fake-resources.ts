import { type ApiError, alreadyExistsError, conflictError, notFoundError } from "../../../api/api-error.ts";
import { isRecord, type KubeObject } from "../../../api/object.ts";
import { formatTime } from "../../../base/clock.ts";
import type {
  ObjectName,
  RemoveOptions,
  ResourceEvent,
  ResourceFeed,
  ResourceReader,
  ResourceWriter,
} from "../../ports/resources.ts";

export interface FakeResources {
  reader: ResourceReader;
  writer: ResourceWriter;
  feed: ResourceFeed;
  /** What the API server would do for a user. */
  create(resource: string, object: KubeObject): Promise<KubeObject>;
  /** `create namespaces/a`, `update namespaces/a status`, …: what was accepted, in order. */
  readonly writes: readonly string[];
  /** Asked before every write; an error that it returns is the answer. */
  refuse: (write: { verb: string; resource: string; object: KubeObject; subresource: string }) => ApiError | undefined;
  /** The names of what is there, in order. */
  names(resource: string, namespace?: string): string[];
}

type Listener = (resource: string, event: ResourceEvent) => void;

/**
 * The registry's rules in a few lines: what is written is read at once and announced a turn later, in order; versions
 * conflict; deletion waits for finalizers and for pods that run; an update that changes nothing is no write.
 */
export function createFakeResources(now: () => number): FakeResources {
  const tables = new Map<string, Map<string, KubeObject>>();
  const listeners = new Set<Listener>();
  const announced = new Map<string, Map<string, KubeObject>>();
  const writes: string[] = [];
  let revision = 0;
  let uids = 0;

  const tableOf = (resource: string, all = tables) => {
    const table = all.get(resource) ?? new Map<string, KubeObject>();
    all.set(resource, table);
    return table;
  };
  const announce = async (resource: string, key: string, event: ResourceEvent) => {
    await Promise.resolve();
    if (event.type === "DELETED") tableOf(resource, announced).delete(key);
    else tableOf(resource, announced).set(key, event.object);
    for (const listener of [...listeners]) listener(resource, event);
  };
  const stamp = (object: KubeObject, changes: object = {}): KubeObject => {
    return { ...object, metadata: { ...object.metadata, ...changes, resourceVersion: String(++revision) } };
  };
  const put = async (resource: string, key: string, object: KubeObject) => {
    const table = tableOf(resource);
    const previous = table.get(key);
    table.set(key, object);
    await announce(resource, key, { type: previous ? "MODIFIED" : "ADDED", object, previous });
    return object;
  };
  const drop = async (resource: string, key: string) => {
    const table = tableOf(resource);
    const previous = table.get(key);
    if (previous === undefined) return;
    table.delete(key);
    await announce(resource, key, { type: "DELETED", object: stamp(previous), previous });
  };
  const settle = async (resource: string, key: string, object: KubeObject) => {
    const stored = await put(resource, key, object);
    if (isReleased(object) && tableOf(resource).get(key) === object) await drop(resource, key);
    return stored;
  };

  const fake: FakeResources = {
    writes,
    refuse: () => undefined,
    create: (resource, object) => fake.writer.create(resource, object),
    names: (resource, namespace) => fake.reader.list(resource, namespace).map(({ metadata }) => metadata.name ?? ""),
    reader: {
      get: (name) => tableOf(name.resource).get(keyOf(name)),
      list(resource, namespace) {
        const sorted = [...tableOf(resource)].sort(([a], [b]) => (a < b ? -1 : 1));
        const objects = sorted.map(([, object]) => object);
        return namespace === undefined ? objects : objects.filter(({ metadata }) => metadata.namespace === namespace);
      },
    },
    writer: {
      async create(resource, object) {
        const { namespace = "", generateName = "" } = object.metadata;
        const name = object.metadata.name ?? `${generateName}${++uids}`;
        refuse("create", resource, object);
        const key = keyOf({ resource, namespace, name });
        if (tableOf(resource).has(key)) throw alreadyExistsError(subjectOf(resource), name);
        writes.push(`create ${resource}/${name}`);
        const uid = object.metadata.uid ?? `uid-${++uids}`;
        return await put(resource, key, stamp(object, { name, uid, creationTimestamp: formatTime(now()) }));
      },
      async update(resource, object, subresource = "") {
        const { namespace = "", name = "", resourceVersion } = object.metadata;
        refuse("update", resource, object, subresource);
        const key = keyOf({ resource, namespace, name });
        const current = tableOf(resource).get(key);
        if (current === undefined) throw notFoundError(subjectOf(resource), name);
        if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion) {
          throw conflictError(subjectOf(resource), name, "the object has been modified");
        }
        const next = take(object, current, subresource);
        if (isSame(next, current)) return current;
        writes.push(`update ${resource}/${name}${subresource === "" ? "" : ` ${subresource}`}`);
        return await settle(resource, key, stamp(next));
      },
      async remove(target, options = {}) {
        const { resource, name } = target;
        const key = keyOf(target);
        const current = tableOf(resource).get(key);
        if (current === undefined) throw notFoundError(subjectOf(resource), name);
        refuse("delete", resource, current);
        const { uid, resourceVersion } = options.preconditions ?? {};
        if ((uid ?? current.metadata.uid) !== current.metadata.uid) {
          throw conflictError(subjectOf(resource), name, "the UID in the precondition does not match");
        }
        if ((resourceVersion ?? current.metadata.resourceVersion) !== current.metadata.resourceVersion) {
          throw conflictError(subjectOf(resource), name, "the resourceVersion in the precondition does not match");
        }
        writes.push(`delete ${resource}/${name}`);
        const marked = markDeleted(resource, current, { ...options, at: formatTime(now()) });
        if (isReleased(marked)) await drop(resource, key);
        else if (!isSame(marked, current)) await put(resource, key, stamp(marked));
      },
    },
    feed: {
      follow(resource, listener) {
        for (const object of tableOf(resource, announced).values()) {
          listener({ type: "ADDED", object, previous: undefined });
        }
        const filtered: Listener = (changed, event) => {
          if (changed === resource) listener(event);
        };
        listeners.add(filtered);
        return () => listeners.delete(filtered);
      },
      followAll(listener) {
        for (const [resource, table] of announced) {
          for (const object of table.values()) listener(resource, { type: "ADDED", object, previous: undefined });
        }
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  };
  const refuse = (verb: string, resource: string, object: KubeObject, subresource = "") => {
    const error = fake.refuse({ verb, resource, object, subresource });
    if (error !== undefined) throw error;
  };
  return fake;
}

const keyOf = ({ namespace, name }: ObjectName) => `${namespace}/${name}`;

function subjectOf(resource: string) {
  const [plural = "", ...group] = resource.split(".");
  return { group: group.join("."), resource: plural };
}

const isSame = (a: KubeObject, b: KubeObject) => JSON.stringify(a) === JSON.stringify(b);

/** The object that a write leads to: the subresource decides which part of what was sent is taken over. */
function take(sent: KubeObject, current: KubeObject, subresource: string): KubeObject {
  if (subresource === "status") {
    const { annotations } = sent.metadata;
    const metadata = { ...current.metadata, ...(annotations && { annotations }) };
    return { ...current, metadata, status: sent["status"] };
  }
  if (subresource === "finalize") return { ...current, spec: sent["spec"] };
  if (subresource !== "") return { ...current, ...sent, metadata: current.metadata };
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, resourceVersion } = current.metadata;
  const kept = { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, resourceVersion };
  const known = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  const status = current["status"] === undefined ? {} : { status: current["status"] };
  return { ...sent, ...status, metadata: { ...sent.metadata, ...known } };
}

function markDeleted(resource: string, current: KubeObject, options: RemoveOptions & { at: string }): KubeObject {
  const { metadata } = current;
  const { propagationPolicy, at } = options;
  const policies = { Background: [], Foreground: ["foregroundDeletion"], Orphan: ["orphan"] };
  const others = (metadata.finalizers ?? []).filter((name) => name !== "orphan" && name !== "foregroundDeletion");
  const finalizers = propagationPolicy ? [...others, ...policies[propagationPolicy]] : (metadata.finalizers ?? []);
  const runs = resource === "pods" && isRecord(current["spec"]) && Boolean(current["spec"]["nodeName"]);
  const grace = runs ? (options.gracePeriodSeconds ?? 30) : 0;
  return {
    ...current,
    ...(resource === "namespaces" && { status: { phase: "Terminating" } }),
    metadata: {
      ...metadata,
      ...(finalizers.length > 0 || metadata.finalizers ? { finalizers } : {}),
      deletionTimestamp: metadata.deletionTimestamp ?? at,
      deletionGracePeriodSeconds: Math.min(metadata.deletionGracePeriodSeconds ?? grace, grace),
    },
  };
}

/**
 * True for an object that is marked as deleted and that nothing keeps: no finalizers, no grace period, and for a
 * namespace nothing in it.
 */
function isReleased({ metadata, kind, spec }: KubeObject): boolean {
  const ofSpec = kind === "Namespace" && isRecord(spec) && Array.isArray(spec["finalizers"]) ? spec["finalizers"] : [];
  return (
    metadata.deletionTimestamp !== undefined &&
    (metadata.finalizers ?? []).length === 0 &&
    (metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
    ofSpec.length === 0
  );
}
