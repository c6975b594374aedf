import {
  ENDPOINT_SLICES,
  type KubeResource,
  NAMESPACES,
  NETWORK_POLICIES,
  NODES,
  PODS,
  SERVICES,
} from "../../api/kube-resource.ts";
import { createReflector, type ReflectorDeps } from "../../kube/create-reflector.ts";
import type { Reflector, ReflectorChange, ReflectorOptions } from "../../kube/reflector.ts";
import type { ClusterKind, RuleInput } from "../rules/rule-compiler.ts";

/** Copies of the objects of some kinds, kept up to date while they run. */
interface ClusterWatch {
  readonly reflectors: readonly Pick<Reflector<unknown>, "run" | "synced">[];
}

/** Headless services have no address to proxy, and what follows from others of them is large. */
const NOT_HEADLESS = { labelSelector: "!service.kubernetes.io/headless,!service.kubernetes.io/service-proxy-name" };

interface WatchOptions {
  readonly kinds: readonly ClusterKind[];
  /** The node of this proxy. */
  readonly nodeName: string;
}

/** Creates the reflectors of the kinds. `onChanges` is called with the changes of one kind, in order; it must not throw. */
export function watchCluster(
  deps: ReflectorDeps,
  { kinds, nodeName }: WatchOptions,
  onChanges: (changes: readonly RuleInput[]) => void,
): ClusterWatch {
  const reflect = <T>(
    resource: KubeResource<T>,
    toChange: (change: ReflectorChange<T>) => RuleInput,
    selectors: Pick<ReflectorOptions<T>, "labelSelector" | "fieldSelector"> = {},
  ) => {
    const onChange = (changes: ReadonlyArray<ReflectorChange<T>>) => onChanges(changes.map(toChange));
    return createReflector(deps, { resource, onChange, ...selectors });
  };
  const watches: Readonly<Record<ClusterKind, () => Pick<Reflector<unknown>, "run" | "synced">>> = {
    Service: () => reflect(SERVICES, (change) => ({ kind: "Service", change }), NOT_HEADLESS),
    EndpointSlice: () => reflect(ENDPOINT_SLICES, (change) => ({ kind: "EndpointSlice", change }), NOT_HEADLESS),
    NetworkPolicy: () => reflect(NETWORK_POLICIES, (change) => ({ kind: "NetworkPolicy", change })),
    Namespace: () => reflect(NAMESPACES, (change) => ({ kind: "Namespace", change })),
    Pod: () => reflect(PODS, (change) => ({ kind: "Pod", change })),
    Node: () => reflect(NODES, (change) => ({ kind: "Node", change }), { fieldSelector: `metadata.name=${nodeName}` }),
  };
  return { reflectors: [...new Set(kinds)].map((kind) => watches[kind]()) };
}
