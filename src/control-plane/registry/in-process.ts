import { notFoundError } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ObjectStore, StoredObject, StoreEvent } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import type { ResourceApplier, ResourceEvent, ResourceFeed, ResourceWriter } from "../ports/resources.ts";
import { LOOPBACK_USER, type User } from "../ports/user.ts";
import { createObject } from "./create.ts";
import { groupResourceOfKey, keysOf } from "./keys.ts";
import { type KindTable, resolveKind } from "./kind-table.ts";
import { apiVersion, parseStored } from "./object-view.ts";
import { patchObject } from "./patch.ts";
import type { RegistryDeps } from "./registry-deps.ts";
import { deleteObject } from "./remove.ts";
import type { RequestContext } from "./request-context.ts";
import { showOne } from "./shown.ts";
import { updateObject } from "./update.ts";

/** Writes in the name of the control plane itself, through the same admission and validation as users' requests. */
export function createWriter(deps: RegistryDeps, fieldManager: string): ResourceWriter {
  const context: RequestContext = {
    user: LOOPBACK_USER,
    dryRun: false,
    fieldManager,
    fieldValidation: "Ignore",
    warn() {},
  };
  const kindOf = (resource: string): ResourceKind => {
    const kind = deps.kinds.stored(resource);
    if (kind === undefined) throw notFoundError({ group: "", resource }, "");
    return kind;
  };
  return {
    async create(resource, object) {
      const namespace = object.metadata.namespace ?? "";
      const kind = kindOf(resource);
      return await showOne(kind, await createObject(deps, { kind, namespace, body: object, context }));
    },
    async update(resource, object, subresource) {
      const kind = kindOf(resource);
      const { namespace = "", name = "" } = object.metadata;
      const row = kind.subresources.find((candidate) => candidate.name === subresource);
      if (subresource !== undefined && row === undefined) {
        throw notFoundError({ group: kind.group, resource: `${kind.plural}/${subresource}` }, name);
      }
      const change = () => object;
      const { stored } = await updateObject(deps, { kind, namespace, name, subresource: row, context, change });
      return await showOne(kind, stored);
    },
    async remove({ resource, namespace, name }, { cause, ...options } = {}) {
      const because = { ...context, cause };
      await deleteObject(deps, { kind: kindOf(resource), namespace, name, options, context: because });
    },
  };
}

/** The author of what is applied. Unlike the control plane itself, it is subject to the admission of users' requests. */
const ADMINISTRATOR: User = { username: "nodelet:manifests", groups: ["system:masters", "system:authenticated"] };
const DEFAULT_NAMESPACE = "default";

/** Applies objects as an administrator's `kubectl apply --server-side --force-conflicts` would. */
export function createApplier(deps: RegistryDeps, fieldManager: string): ResourceApplier {
  return {
    resolve: (version, kind) => resolveKind(deps.kinds, version, kind),
    async apply(object) {
      const kind = deps.kinds.all().find((row) => row.kind === object.kind && apiVersion(row) === object.apiVersion);
      if (kind === undefined) throw notFoundError({ group: "", resource: object.kind }, object.metadata.name ?? "");
      const { name = "", namespace = DEFAULT_NAMESPACE } = object.metadata;
      const { stored } = await patchObject(deps, {
        kind,
        namespace: kind.namespaced ? namespace : "",
        name,
        type: "apply",
        body: object,
        force: true,
        context: { user: ADMINISTRATOR, dryRun: false, fieldManager, fieldValidation: "Strict", warn() {} },
      });
      return await showOne(kind, stored);
    },
  };
}

/** Tells every durable change, after all objects that exist. */
export function createFeed(store: ObjectStore, kinds: KindTable): ResourceFeed {
  const events = createEventReader();
  const watch = (prefix: string, listener: (event: StoreEvent) => void) => {
    const stop = store.watch(prefix, store.revision, listener);
    if (stop === "expired") throw new Error(`the store does not keep its newest revision, ${store.revision}`);
    return stop;
  };
  return {
    follow(resource, listener) {
      const kind = kinds.stored(resource);
      if (kind === undefined) throw notFoundError({ group: "", resource }, "");
      const prefix = keysOf(kind).prefix();
      for (const stored of store.list(prefix)?.items ?? []) listener(events.added(stored));
      return watch(prefix, (event) => listener(events.read(event)));
    },
    followAll(listener) {
      for (const stored of store.list("")?.items ?? []) listener(groupResourceOfKey(stored.key), events.added(stored));
      return watch("", (event) => listener(groupResourceOfKey(event.key), events.read(event)));
    },
  };
}

interface EventReader {
  /** The event for an object that existed before the listener came. */
  added(stored: StoredObject): ResourceEvent;
  read(event: StoreEvent): ResourceEvent;
}

/**
 * Every change has several listeners, which hear of it one right after the other. It is parsed for the first listener
 * that looks, and forgotten with the next change. In this way parsed objects live for a short time only, even when a
 * start reads all objects.
 */
function createEventReader(): EventReader {
  let latest: { stored: StoredObject; object: KubeObject } | undefined;
  const parse: ParseShared = (stored) => {
    if (latest?.stored !== stored) latest = { stored, object: parseStored(stored) };
    return latest.object;
  };
  return {
    added: (stored) => new ReadEvent({ type: "ADDED", stored, previous: undefined }, parse),
    read: (event) => new ReadEvent(event, parse),
  };
}

type ParseShared = (stored: StoredObject) => KubeObject;

/**
 * This is a class because there is one for every event and listener, and getters of an object literal would make each
 * its own shape.
 */
class ReadEvent implements ResourceEvent {
  readonly #event: Pick<StoreEvent, "type" | "stored" | "previous">;
  readonly #parse: ParseShared;

  constructor(event: Pick<StoreEvent, "type" | "stored" | "previous">, parse: ParseShared) {
    this.#event = event;
    this.#parse = parse;
  }

  get type(): ResourceEvent["type"] {
    return this.#event.type;
  }

  get object(): KubeObject {
    return this.#parse(this.#event.stored);
  }

  get previous(): KubeObject | undefined {
    return this.#event.previous?.object;
  }
}
