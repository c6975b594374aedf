import { notFoundError } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ObjectStore, StoreEvent } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import type { ResourceEvent, ResourceFeed, ResourceReader, ResourceWriter } from "../ports/resources.ts";
import { LOOPBACK_USER } from "../ports/user.ts";
import { createObject } from "./create.ts";
import { groupResourceOfKey, keysOf } from "./keys.ts";
import type { KindTable } from "./kind-table.ts";
import type { RegistryDeps } from "./registry-deps.ts";
import { deleteObject } from "./remove.ts";
import type { RequestContext } from "./request-context.ts";
import { updateObject } from "./update.ts";

/** Reads what was written, durable or not yet: what decisions are made on. */
export function createReader(store: ObjectStore, kinds: KindTable): ResourceReader {
  return {
    get({ resource, namespace, name }) {
      const kind = kinds.stored(resource);
      return kind && store.headOf(keysOf(kind).of(namespace, name))?.object;
    },
    list(resource, namespace) {
      const kind = kinds.stored(resource);
      return kind ? store.headList(keysOf(kind).prefix(namespace)).map(({ object }) => object) : [];
    },
  };
}

/** Writes as the control plane itself, through admission and validation like everybody. */
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
      return createObject(deps, { kind: kindOf(resource), namespace, body: object, context });
    },
    async update(resource, object, subresource) {
      const kind = kindOf(resource);
      const { namespace = "", name = "" } = object.metadata;
      const row = kind.subresources.find((candidate) => candidate.name === subresource);
      if (subresource !== undefined && row === undefined) {
        throw notFoundError({ group: kind.group, resource: `${kind.plural}/${subresource}` }, name);
      }
      const change = () => object;
      return (await updateObject(deps, { kind, namespace, name, subresource: row, context, change })).object;
    },
    async remove({ resource, namespace, name }, options = {}) {
      await deleteObject(deps, { kind: kindOf(resource), namespace, name, options, context });
    },
  };
}

/** Every durable change, from now on or with all there is first. */
export function createFeed(store: ObjectStore, kinds: KindTable): ResourceFeed {
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
      for (const { object } of store.list(prefix)?.items ?? []) {
        listener({ type: "ADDED", object, previous: undefined });
      }
      return watch(prefix, (event) => listener(eventOf(event)));
    },
    followAll(listener) {
      for (const { key, object } of store.list("")?.items ?? []) {
        listener(groupResourceOfKey(key), { type: "ADDED", object, previous: undefined });
      }
      return watch("", (event) => listener(groupResourceOfKey(event.key), eventOf(event)));
    },
  };
}

function eventOf({ type, stored, previous }: StoreEvent): ResourceEvent {
  const before: KubeObject | undefined = previous?.object;
  return { type, object: stored.object, previous: before };
}
