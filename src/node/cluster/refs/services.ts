import type { Service } from "../../../api/gen/types.ts";
import { type KubeResource, SERVICES } from "../../../api/kube-resource.ts";
import { createReflector, type ReflectorDeps } from "../../../kube/create-reflector.ts";
import type { ReflectorChange } from "../../../kube/reflector.ts";

/** The services that containers see in their environment. */
export interface Services {
  run(signal: AbortSignal): Promise<void>;
  /** True when all services have been read once. Before that an environment would lack some. */
  readonly hasSynced: boolean;
  synced(signal: AbortSignal): Promise<void>;
  /**
   * Lists the services of the namespace with a cluster IP, by name. They have only the fields that environments need
   * (see `TRIMMED_SERVICES`).
   */
  list(namespace: string): Service[];
}

/** Holds every service of the cluster, but of each only what environments need, because there may be thousands. */
export function createServices(deps: ReflectorDeps): Services {
  const byNamespace = new Map<string, Map<string, Service>>();

  const take = ({ type, object }: ReflectorChange<Service>) => {
    const { namespace = "", name = "" } = object.metadata ?? {};
    const services = byNamespace.get(namespace) ?? new Map<string, Service>();
    // This is upstream's `IsServiceIPSet`: the service is neither headless nor an external name.
    const { clusterIP = "" } = object.spec ?? {};
    if (type === "DELETED" || clusterIP === "" || clusterIP === "None") services.delete(name);
    else services.set(name, object);
    if (services.size > 0) byNamespace.set(namespace, services);
    else byNamespace.delete(namespace);
  };

  const reflector = createReflector(deps, { resource: TRIMMED_SERVICES, onChange: (changes) => changes.forEach(take) });
  return {
    run: async (signal) => reflector.run(signal),
    get hasSynced() {
      return reflector.hasSynced;
    },
    synced: async (signal) => reflector.synced(signal),
    list: (namespace) => [...(byNamespace.get(namespace)?.values() ?? [])].sort(byName),
  };
}

/** Services without labels, annotations, managed fields and status. */
const TRIMMED_SERVICES: KubeResource<Service> = {
  ...SERVICES,
  read(value) {
    const { metadata = {}, spec } = SERVICES.read(value);
    const { name, namespace, uid, resourceVersion } = metadata;
    return {
      metadata: {
        ...(name !== undefined && { name }),
        ...(namespace !== undefined && { namespace }),
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
      ...(spec !== undefined && { spec }),
    };
  },
};

function byName(a: Service, b: Service): number {
  const [first = "", second = ""] = [a.metadata?.name, b.metadata?.name];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}
