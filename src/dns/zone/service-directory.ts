import type { EndpointSlice, Namespace, Service } from "../../api/gen/types.ts";
import type { ReflectorChange } from "../../kube/reflector.ts";
import { computeNamedService, type NamedService } from "./named-service.ts";

/** The label by which an EndpointSlice names its service. */
const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

/** What has names in the cluster, to be asked by name or by address. */
export interface ServiceNames {
  /** Rises with each change of what is known. */
  readonly revision: number;
  hasNamespace(name: string): boolean;
  find(namespace: string, name: string): NamedService | undefined;
  /** The names, without the zone, of those who have an address: `web.default.svc`, `db-0.db.default.svc`. */
  namesOf(address: string): readonly string[];
}

/** Keeps the names up to date with what reflectors say. */
interface ServiceDirectory extends ServiceNames {
  changeNamespaces(changes: ReadonlyArray<ReflectorChange<Namespace>>): void;
  changeServices(changes: ReadonlyArray<ReflectorChange<Service>>): void;
  changeSlices(changes: ReadonlyArray<ReflectorChange<EndpointSlice>>): void;
}

/** A service with its slices, which may come first. Either is missing while the other has not come, or has gone. */
interface Entry {
  service: Service | undefined;
  readonly slices: Map<string, EndpointSlice>;
  named: NamedService | undefined;
}

/** Creates an empty directory. A change costs as much as the service that it concerns has endpoints. */
export function createServiceDirectory(): ServiceDirectory {
  const namespaces = new Set<string>();
  const entries = new Map<string, Entry>();
  const owners = new Map<string, Set<string>>();
  let revision = 0;

  const change = (key: string, update: (entry: Entry) => void) => {
    const entry = entries.get(key) ?? { service: undefined, slices: new Map(), named: undefined };
    update(entry);
    for (const [address, name] of ownNames(entry.named)) {
      const names = owners.get(address);
      names?.delete(name);
      if (names?.size === 0) owners.delete(address);
    }
    entry.named = entry.service && computeNamedService(entry.service, [...entry.slices.values()]);
    for (const [address, name] of ownNames(entry.named)) {
      const names = owners.get(address) ?? new Set();
      owners.set(address, names.add(name));
    }
    if (entry.service === undefined && entry.slices.size === 0) entries.delete(key);
    else entries.set(key, entry);
  };

  return {
    get revision() {
      return revision;
    },
    hasNamespace: (name) => namespaces.has(name),
    find: (namespace, name) => entries.get(`${namespace}/${name}`)?.named,
    namesOf: (address) => [...(owners.get(address) ?? [])],
    changeNamespaces(changes) {
      revision++;
      for (const { type, object } of changes) {
        const name = object.metadata?.name ?? "";
        if (type === "DELETED") namespaces.delete(name);
        else namespaces.add(name);
      }
    },
    changeServices(changes) {
      revision++;
      for (const { type, object } of changes) {
        change(`${object.metadata?.namespace}/${object.metadata?.name}`, (entry) => {
          entry.service = type === "DELETED" ? undefined : object;
        });
      }
    },
    changeSlices(changes) {
      revision++;
      for (const { type, object, previous } of changes) {
        const slice = object.metadata?.name ?? "";
        const key = serviceKeyOf(object);
        const formerKey = previous && serviceKeyOf(previous);
        if (formerKey !== undefined && formerKey !== key) change(formerKey, (entry) => entry.slices.delete(slice));
        if (key === undefined) continue;
        change(key, (entry) => {
          if (type === "DELETED") entry.slices.delete(slice);
          else entry.slices.set(slice, object);
        });
      }
    },
  };
}

function serviceKeyOf({ metadata }: EndpointSlice): string | undefined {
  const name = metadata?.labels?.[SERVICE_NAME_LABEL];
  return name === undefined ? undefined : `${metadata?.namespace}/${name}`;
}

/** The addresses that lead back to a service's names: its own, or those of its endpoints where it has none. */
function ownNames(service: NamedService | undefined): ReadonlyArray<readonly [string, string]> {
  if (service === undefined) return [];
  const suffix = `${service.name}.${service.namespace}.svc`;
  if (service.kind === "cluster") return service.addresses.map((address) => [address, suffix] as const);
  return service.endpoints.map(({ address, hostname }) => [address, `${hostname}.${suffix}`] as const);
}
