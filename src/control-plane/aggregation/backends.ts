import type { APIResource, APIService, APIServiceSpec } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import type { ForeignOpenApi, ForeignVersion, GroupVersion } from "../discovery/api-table.ts";
import type { ResourceFeed } from "../ports/resources.ts";

/** The resource in which groups and versions are registered. */
export const API_SERVICES = "apiservices.apiregistration.k8s.io";

/** Another API server, which answers for a group and version. */
export interface Backend {
  /** `v1alpha1.wardle.example.com`. */
  readonly name: string;
  readonly spec: APIServiceSpec;
  readonly service: NonNullable<APIServiceSpec["service"]>;
  readonly isAvailable: boolean;
}

/** The API servers that are registered now. */
export interface Backends {
  find(at: GroupVersion): Backend | undefined;
  /** What they serve, for discovery. */
  versions(): readonly ForeignVersion[];
  /** Counts the changes of `versions`. */
  readonly version: number;
  /** Keeps what the backend says of its resources; undefined when it says nothing any more. */
  tell(name: string, resources: readonly APIResource[] | undefined): void;
  /** Keeps what the backend's OpenAPI documents say. */
  describe(name: string, openApi: ForeignOpenApi): void;
}

/** The backend that is registered by this object. */
export function findBackend(backends: Backends, apiService: KubeObject): Backend | undefined {
  const { spec } = typed("APIService", apiService);
  return backends.find({ group: spec?.group ?? "", version: spec?.version ?? "" });
}

/**
 * Follows what is registered from now on; what is stored already is known before this returns. `isOwn` says which groups
 * and versions this API server never gives away.
 */
export function followBackends(feed: ResourceFeed, isOwn: (at: GroupVersion) => boolean): Backends {
  const backends = new Map<string, Backend>();
  const resources = new Map<string, readonly APIResource[]>();
  const openApis = new Map<string, ForeignOpenApi>();
  let version = 0;
  feed.follow(API_SERVICES, ({ type, object }) => {
    const name = object.metadata.name ?? "";
    const backend = type === "DELETED" ? undefined : backendOf(typed("APIService", object));
    const isForeign = backend !== undefined && !isOwn(groupVersionOf(backend));
    if (!isForeign && !backends.has(name)) return;
    if (isForeign) backends.set(name, backend);
    else {
      backends.delete(name);
      resources.delete(name);
      openApis.delete(name);
    }
    version++;
  });
  return {
    find: ({ group, version: wanted }) => backends.get(`${wanted}.${group}`),
    versions: () =>
      [...backends.values()].map((backend) => ({
        ...groupVersionOf(backend),
        groupPriority: backend.spec.groupPriorityMinimum,
        versionPriority: backend.spec.versionPriority,
        resources: backend.isAvailable ? resources.get(backend.name) : undefined,
        openApi: openApis.get(backend.name),
      })),
    get version() {
      return version;
    },
    tell(name, told) {
      if (!backends.has(name)) return;
      if (JSON.stringify(resources.get(name)) === JSON.stringify(told)) return;
      if (told === undefined) resources.delete(name);
      else resources.set(name, told);
      version++;
    },
    describe(name, openApi) {
      if (!backends.has(name)) return;
      openApis.set(name, openApi);
      version++;
    },
  };
}

function groupVersionOf({ spec: { group = "", version = "" } }: Backend): GroupVersion {
  return { group, version };
}

function backendOf({ metadata, spec, status }: APIService): Backend | undefined {
  if (spec?.service === undefined) return undefined;
  const isAvailable =
    status?.conditions?.some(({ type, status: is }) => type === "Available" && is === "True") ?? false;
  return { name: metadata?.name ?? "", spec, service: spec.service, isAvailable };
}
