import type { KubeResource } from "../../../src/api/kube-resource.ts";
import { isRecord } from "../../../src/api/object.ts";
import { AbortedError } from "../../../src/base/abort.ts";
import type { KubeCallOptions, KubeClient, NamespacedName, SubresourceOptions } from "../../../src/kube/port.ts";
import type { ApiFaults } from "./api-faults.ts";
import { type WatchTrouble, watchDisturbed } from "./disturbed-watch.ts";

/** A request of the node agent at the moment when the API server does it. */
export interface ApiRequestSeen {
  readonly verb: "get" | "list" | "watch" | "create" | "replace" | "patch" | "delete" | "createBeneath";
  /** `pods` */
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** What a deletion is limited to. */
  readonly uid: string | undefined;
}

/** The process that calls: it may die before, within and after each call. */
export interface CallGate {
  pass<T>(name: string, call: () => Promise<T>): Promise<T>;
  readonly isDead: boolean;
  readonly died: AbortSignal;
}

interface GatedClientDeps {
  client: KubeClient;
  gate: CallGate;
  trouble: WatchTrouble & { api: ApiFaults };
  timeoutMs: number;
  onCalled(request: ApiRequestSeen): void;
  onWritten(request: ApiRequestSeen, answer: unknown): void;
}

/** A client as one process has it: between it and the API server are a network, and the process's own death. */
export function createGatedClient(deps: GatedClientDeps): KubeClient {
  const { client, gate, trouble } = deps;

  const call = async <T>(
    request: ApiRequestSeen,
    { signal, timeoutMs = deps.timeoutMs }: KubeCallOptions,
    effect: () => Promise<T>,
  ): Promise<T> => {
    const text = describeRequest(request);
    return await gate.pass(text, async () =>
      trouble.api.around({ verb: request.verb, text, signal, timeoutMs }, async () => {
        if (gate.isDead) throw new AbortedError();
        deps.onCalled(request);
        const answer = await effect();
        deps.onWritten(request, answer);
        return answer;
      }),
    );
  };

  return {
    get: async (resource, name, options = {}) =>
      await call(see("get", resource, name), options, async () => await client.get(resource, name, options)),
    list: async (resource, options = {}) =>
      await call(see("list", resource), options, async () => await client.list(resource, options)),
    create: async (resource, object, options = {}) =>
      await call(
        see("create", resource, nameOf(object)),
        options,
        async () => await client.create(resource, object, options),
      ),
    replace: async (resource, object, options = {}) =>
      await call(
        see("replace", resource, { ...nameOf(object), ...options }),
        options,
        async () => await client.replace(resource, object, options),
      ),
    patch: async (resource, name, patch, options = {}) =>
      await call(
        see("patch", resource, { ...name, ...options }),
        options,
        async () => await client.patch(resource, name, patch, options),
      ),
    delete: async (resource, name, options = {}) =>
      await call(
        see("delete", resource, { ...name, ...options }),
        options,
        async () => await client.delete(resource, name, options),
      ),
    createBeneath: async (parent, name, child) =>
      await call(
        see("createBeneath", parent, { ...name, subresource: child.subresource }),
        child,
        async () => await client.createBeneath(parent, name, child),
      ),
    watch: async (resource, options, onEvent) =>
      await call(see("watch", resource), { signal: options.signal, timeoutMs: WATCH_START_MS }, async () => {
        await watchDisturbed(
          trouble,
          {
            signal: options.signal === undefined ? gate.died : AbortSignal.any([options.signal, gate.died]),
            onEvent: (event: Parameters<typeof onEvent>[0]) => {
              if (!gate.isDead) onEvent(event);
            },
          },
          async (signal, offer) => await client.watch(resource, { ...options, signal }, offer),
        );
      }),
  };
}

/** Until its headers are there; then it lasts. */
const WATCH_START_MS = 30_000;

type Place = Partial<NamespacedName> & Pick<SubresourceOptions, "subresource"> & { uid?: string | undefined };

function see(verb: ApiRequestSeen["verb"], { plural }: KubeResource<unknown>, place: Place = {}): ApiRequestSeen {
  const { namespace = "", name = "", subresource = "", uid } = place;
  return { verb, plural, namespace, name, subresource, uid };
}

/** `patch pods/default/fox/status` */
export function describeRequest({ verb, plural, namespace, name, subresource }: ApiRequestSeen): string {
  return `${verb} ${[plural, namespace, name, subresource].filter((part) => part !== "").join("/")}`;
}

function nameOf(object: unknown): NamespacedName {
  const metadata = isRecord(object) ? object["metadata"] : undefined;
  const text = (key: string) => {
    const value = isRecord(metadata) ? metadata[key] : undefined;
    return typeof value === "string" ? value : "";
  };
  return { namespace: text("namespace"), name: text("name") };
}
