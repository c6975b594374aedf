import { notFoundError } from "../../../../api/api-error.ts";
import type { ObjectMeta } from "../../../../api/gen/types.ts";
import type { KubeResource } from "../../../../api/kube-resource.ts";
import { isRecord } from "../../../../api/object.ts";
import { AbortedError, untilAborted } from "../../../../base/abort.ts";
import {
  type KubeCallOptions,
  type KubeClient,
  KubeUnreachableError,
  type ListOptions,
} from "../../../../kube/port.ts";

/** An API server of arbitrary objects, as far as the readers of pods' references need it. */
export interface ObjectServer {
  readonly client: Pick<KubeClient, "get" | "list" | "watch">;
  /** Every call, as `get secrets default/a@5` or `list secrets default metadata.name=a`. */
  readonly calls: string[];
  /** The selections that are watched now. */
  readonly watched: string[];
  /** Every call fails with this error while it is set. */
  failure: Error | undefined;
  /** Delays the answers of calls until `release` is called. */
  hold(): void;
  release(): void;
  put(plural: string, object: StoredObject): void;
  remove(plural: string, namespace: string, name: string): void;
  /** Breaks all watches, and makes the server unreachable. */
  goAway(): void;
}

interface StoredObject {
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

interface Watcher {
  readonly plural: string;
  readonly options: Pick<ListOptions, "namespace" | "fieldSelector">;
  tell(type: "ADDED" | "MODIFIED" | "DELETED", object: StoredObject): void;
  fail(error: Error): void;
}

export function createObjectServer(): ObjectServer {
  const objects = new Map<string, { plural: string; object: StoredObject }>();
  const watchers = new Set<Watcher>();
  let revision = 0;
  let gate = Promise.resolve();
  let open = (): void => undefined;

  const pass = async (call: string, { signal }: Pick<KubeCallOptions, "signal">) => {
    server.calls.push(call);
    if (signal === undefined) await gate;
    else await untilAborted(gate, signal);
    if (server.failure !== undefined) throw server.failure;
  };
  const keyOf = (plural: string, { namespace = "", name = "" }: ObjectMeta) => `${plural} ${namespace}/${name}`;
  const tell = (plural: string, type: "ADDED" | "MODIFIED" | "DELETED", object: StoredObject) => {
    for (const watcher of watchers) {
      if (watcher.plural === plural && isSelected(object, watcher.options)) watcher.tell(type, object);
    }
  };

  const client: ObjectServer["client"] = {
    async get(resource, { namespace, name }, options = {}) {
      const { resourceVersion } = options;
      const version = resourceVersion === undefined ? "" : `@${resourceVersion}`;
      // The answer is of when the server was asked, however late it comes.
      const stored = objects.get(keyOf(resource.plural, { namespace, name }));
      await pass(`get ${resource.plural} ${namespace}/${name}${version}`, options);
      if (stored === undefined) throw notFoundError({ group: resource.group, resource: resource.plural }, name);
      return resource.read(stored.object);
    },
    async list<T>(resource: KubeResource<T>, options: ListOptions = {}) {
      await pass(`list ${resource.plural} ${describe(options)}`, options);
      const items = [...objects.values()].flatMap(({ plural, object }) => {
        return plural === resource.plural && isSelected(object, options) ? [resource.read(object)] : [];
      });
      return { items, resourceVersion: String(revision) };
    },
    async watch(resource, options, onEvent) {
      const { signal } = options;
      if (server.failure !== undefined) throw server.failure;
      let leave = () => undefined;
      const ended = new Promise<never>((_resolve, reject) => {
        const watcher: Watcher = {
          plural: resource.plural,
          options,
          tell: (type, object) => onEvent({ type, object: resource.read(object), resourceVersion: String(revision) }),
          fail: (error) => {
            watchers.delete(watcher);
            reject(error);
          },
        };
        leave = () => void watcher.fail(new AbortedError());
        watchers.add(watcher);
      });
      signal?.addEventListener("abort", leave);
      await ended.finally(() => signal?.removeEventListener("abort", leave));
    },
  };

  const server: ObjectServer = {
    client,
    calls: [],
    get watched() {
      return [...watchers].map(({ plural, options }) => `${plural} ${describe(options)}`);
    },
    failure: undefined,
    hold() {
      gate = new Promise<void>((resolve) => {
        open = resolve;
      });
    },
    release: () => open(),
    put(plural, object) {
      const key = keyOf(plural, object.metadata);
      const type = objects.has(key) ? "MODIFIED" : "ADDED";
      const metadata = { uid: `uid-${++revision}`, ...objects.get(key)?.object.metadata, ...object.metadata };
      const stored = { ...object, metadata: { ...metadata, resourceVersion: String(revision) } };
      objects.set(key, { plural, object: stored });
      tell(plural, type, stored);
    },
    remove(plural, namespace, name) {
      const key = keyOf(plural, { namespace, name });
      const stored = objects.get(key);
      revision++;
      objects.delete(key);
      if (stored !== undefined) tell(plural, "DELETED", stored.object);
    },
    goAway() {
      server.failure = new KubeUnreachableError("unreachable", "connect ECONNREFUSED");
      for (const { fail } of [...watchers]) fail(server.failure);
    },
  };
  return server;
}

function describe({ namespace, fieldSelector }: Pick<ListOptions, "namespace" | "fieldSelector">): string {
  return [namespace, fieldSelector].filter((part) => part !== undefined).join(" ");
}

/** Knows the selectors that the readers use: by name, and by node. */
function isSelected(
  { metadata, spec }: StoredObject,
  { namespace, fieldSelector }: Pick<ListOptions, "namespace" | "fieldSelector">,
): boolean {
  const isInNamespace = namespace === undefined || metadata.namespace === namespace;
  const nodeName = isRecord(spec) ? spec["nodeName"] : undefined;
  const known = [undefined, `metadata.name=${metadata.name}`, `spec.nodeName=${nodeName}`];
  return isInNamespace && known.includes(fieldSelector);
}
