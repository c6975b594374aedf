import { alreadyExistsError, conflictError, notFoundError } from "../../../../api/api-error.ts";
import type { KubeResource } from "../../../../api/kube-resource.ts";
import { isKubeObject, isRecord } from "../../../../api/object.ts";
import { applyStrategicMergePatch } from "../../../../api/patch/strategic-merge.ts";
import { servedNode } from "../../../../api/schema-node.ts";
import type { KubeCallOptions, KubeClient } from "../../../../kube/port.ts";

type Verb = "get" | "create" | "patch" | "replace";

/** One call, as it arrived. */
interface StubCall {
  readonly verb: Verb;
  readonly plural: string;
  readonly options: KubeCallOptions & { resourceVersion?: string | undefined; subresource?: string | undefined };
  readonly body: unknown;
}

/** Simulates as much of an API server as node objects and leases need: versions, conflicts, strategic merge patches. */
interface StubServer {
  readonly client: Pick<KubeClient, Verb>;
  readonly calls: StubCall[];
  /** Called before each call is answered; what it throws or rejects with is the answer. */
  intercept: (call: StubCall) => void | Promise<void>;
  /** Returns the stored object of the resource. */
  stored<T>(resource: KubeResource<T>): T | undefined;
  /** Stores the object, as another client of the server would. */
  store<T>(resource: KubeResource<T>, object: T): T;
  remove(resource: KubeResource<unknown>): void;
  count(verb: Verb): number;
}

/** Holds one object of each resource: the node's. */
export function createStubServer(): StubServer {
  const objects = new Map<string, unknown>();
  let version = 100;
  let made = 0;

  const put = <T>(resource: KubeResource<T>, value: unknown): T => {
    const object = JSON.parse(JSON.stringify(value));
    const uid = object.metadata.uid ?? `uid-${++made}`;
    const stored = { ...object, metadata: { ...object.metadata, uid, resourceVersion: String(++version) } };
    objects.set(resource.plural, stored);
    return resource.read(stored);
  };
  const require = (resource: KubeResource<unknown>, name: string): unknown => {
    const object = objects.get(resource.plural);
    if (object === undefined) throw notFoundError({ group: resource.group, resource: resource.plural }, name);
    return object;
  };
  const arrive = async (
    verb: Verb,
    { plural }: KubeResource<unknown>,
    options: StubCall["options"] = {},
    body?: unknown,
  ): Promise<void> => {
    options.signal?.throwIfAborted();
    const call = { verb, plural, options, body };
    server.calls.push(call);
    await server.intercept(call);
  };

  const server: StubServer = {
    calls: [],
    intercept: () => undefined,
    client: {
      async get(resource, { name }, options) {
        await arrive("get", resource, options);
        return resource.read(structuredClone(require(resource, name)));
      },
      async create(resource, object, options) {
        await arrive("create", resource, options, object);
        const subject = { group: resource.group, resource: resource.plural };
        if (objects.has(resource.plural)) throw alreadyExistsError(subject, "it");
        return put(resource, object);
      },
      async patch(resource, { name }, patch, options) {
        await arrive("patch", resource, options, patch.body);
        const body: unknown = JSON.parse(JSON.stringify(patch.body));
        return put(resource, applyStrategicMergePatch(require(resource, name), body, servedNode(resource.kind)));
      },
      async replace(resource, object, options) {
        await arrive("replace", resource, options, object);
        const current = require(resource, "it");
        if (versionOf(current) !== versionOf(object)) {
          throw conflictError({ group: resource.group, resource: resource.plural }, "it", "changed");
        }
        return put(resource, object);
      },
    },
    stored: (resource) => {
      const object = objects.get(resource.plural);
      return object === undefined ? undefined : resource.read(structuredClone(object));
    },
    store: put,
    remove: ({ plural }) => void objects.delete(plural),
    count: (verb) => server.calls.filter((call) => call.verb === verb).length,
  };
  return server;
}

function versionOf(object: unknown): unknown {
  if (!isKubeObject(object)) return isRecord(object) ? undefined : object;
  return object.metadata.resourceVersion;
}
