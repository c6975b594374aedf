import type { EndpointSlice, Service } from "../../api/gen/types.ts";
import { NODE_LABELS } from "../../api/node-names.ts";
import type { Log } from "../../base/log.ts";
import { isRangeOf } from "../rules/address-family.ts";
import { ADDRESS_FAMILIES, type AddressFamily, type RuleFragment } from "../rules/fragment.ts";
import type { ClusterKind, CompiledRules, RuleCompiler, RuleInput, StaleFlow } from "../rules/rule-compiler.ts";
import { computeBaseRules, type ServiceRuleOptions, selectFamily } from "./base-rules.ts";
import { computeClientSet, type NumberEndpoint } from "./endpoint-choice.ts";
import { createEndpointNumbers } from "./endpoint-numbers.ts";
import { chooseEndpoints, type PortEndpoints, type ProxyPlace, uniqueEndpoints } from "./port-endpoints.ts";
import { computePortRules } from "./port-rules.ts";
import { findClosedAddresses, type PlannedPort, planPorts } from "./service-port.ts";
import { findStaleFlows, type UdpPort } from "./stale-flows.ts";

/** What a load balancer asks a node about one service. */
interface HealthCheck {
  readonly namespace: string;
  readonly name: string;
  readonly localEndpoints: number;
}

/** The compiler of services, and what else follows from them. */
interface ServiceCompiler extends RuleCompiler {
  /** The ports on which load balancers ask whether this node has endpoints. */
  healthChecks(): ReadonlyMap<number, HealthCheck>;
}

/** A service with what was made of it. */
interface Known {
  service: Service | undefined;
  readonly slices: Map<string, EndpointSlice>;
  readonly numbers: ReturnType<typeof createEndpointNumbers>;
  udp: readonly UdpPort[];
  healthCheck: { readonly port: number; readonly check: HealthCheck } | undefined;
}

const emptyService = (): Known => {
  return { service: undefined, slices: new Map(), numbers: createEndpointNumbers(), udp: [], healthCheck: undefined };
};

const SERVICE_NAME_LABEL = "kubernetes.io/service-name";
const BASE_FRAGMENT = "base";

/**
 * Compiles services and their endpoint slices into chains and maps of verdicts; a change touches its service only. The
 * log says which addresses of a service are left out, because they are those of pods and other services.
 */
export function createServiceCompiler(options: ServiceRuleOptions, log: Pick<Log, "warn">): ServiceCompiler {
  const services = new Map<string, Known>();
  const closed = [...options.clusterCidrs, ...options.serviceCidrs];
  const optionsByFamily = {
    ip: selectFamily(options, isRangeOf("ip")),
    ip6: selectFamily(options, isRangeOf("ip6")),
  };
  let place: ProxyPlace = { nodeName: options.nodeName, zone: undefined };
  let isFirst = true;

  const knownAt = (key: string): Known => {
    const known = services.get(key) ?? emptyService();
    services.set(key, known);
    return known;
  };

  const noteService = (key: string, service: Service): Service => {
    const addresses = findClosedAddresses(service, closed);
    const before = services.get(key)?.service;
    const said = before === undefined ? [] : findClosedAddresses(before, closed);
    if (addresses.some((address) => !said.includes(address))) {
      log.warn("a service is not called at addresses of pods and of services", { service: key, addresses });
    }
    return service;
  };
  /** Hints name zones, so that another zone may be another choice for each service. */
  const noteNode = ({ type, object }: Extract<RuleInput, { kind: "Node" }>["change"]): string[] => {
    const zone = type === "DELETED" ? undefined : object.metadata?.labels?.[NODE_LABELS.zone];
    if (zone === place.zone) return [];
    place = { ...place, zone };
    return [...services.keys()];
  };
  /** Returns the keys of the services that the change concerns. */
  const note = (change: RuleInput): string[] => {
    if (change.kind === "Node") return noteNode(change.change);
    if (change.kind !== "Service" && change.kind !== "EndpointSlice") return [];
    const { type, object, previous } = change.change;
    const key = serviceKeyOf(change.kind, object);
    if (change.kind === "Service") {
      if (key !== undefined)
        knownAt(key).service = type === "DELETED" ? undefined : noteService(key, change.change.object);
      return key === undefined ? [] : [key];
    }
    const name = object.metadata?.name ?? "";
    const left = previous === undefined ? undefined : serviceKeyOf(change.kind, previous);
    if (left !== undefined) knownAt(left).slices.delete(name);
    if (key !== undefined && type !== "DELETED") knownAt(key).slices.set(name, change.change.object);
    return [left, key].filter((one) => one !== undefined);
  };

  const compileService = (key: string, known: Known) => {
    const compiled = known.numbers.renew((numberOf) => {
      return compile(known, { options: optionsByFamily, closed, numberOf }, place);
    });
    const staleFlows = findStaleFlows(known.udp, compiled.udp);
    known.udp = compiled.udp;
    known.healthCheck = compiled.healthCheck;
    if (known.service === undefined && known.slices.size === 0) services.delete(key);
    return { fragments: compiled.fragments, staleFlows };
  };

  return {
    kinds: ["Service", "EndpointSlice", "Node"],
    compile(changes): CompiledRules {
      const fragments = { ip: new Map<string, RuleFragment | undefined>(), ip6: new Map() };
      const staleFlows: StaleFlow[] = [];
      if (isFirst) {
        for (const family of ADDRESS_FAMILIES) {
          fragments[family].set(BASE_FRAGMENT, computeBaseRules(family, optionsByFamily[family]));
        }
      }
      for (const key of new Set(changes.flatMap(note))) {
        const known = services.get(key);
        if (known === undefined) continue;
        const compiled = compileService(key, known);
        for (const flow of compiled.staleFlows) staleFlows.push(flow);
        for (const family of ADDRESS_FAMILIES) fragments[family].set(`service ${key}`, compiled.fragments[family]);
      }
      // Connections from before the first rules have seen others, which this program does not know.
      const result = { fragments, staleFlows: isFirst ? [] : staleFlows };
      isFirst = false;
      return result;
    },
    healthChecks() {
      return new Map(
        [...services.values()].flatMap(({ healthCheck }) => (healthCheck ? [healthCheckEntry(healthCheck)] : [])),
      );
    },
  };
}

function healthCheckEntry({ port, check }: { port: number; check: HealthCheck }): [number, HealthCheck] {
  return [port, check];
}

/** The service of an object: itself, or the one that the label of a slice names. */
function serviceKeyOf(kind: ClusterKind, { metadata }: Pick<Service, "metadata">): string | undefined {
  const name = kind === "Service" ? metadata?.name : metadata?.labels?.[SERVICE_NAME_LABEL];
  return name === undefined ? undefined : `${metadata?.namespace ?? ""}/${name}`;
}

/** Compiles one service of whatever families. */
function compile(
  { service, slices }: Pick<Known, "service" | "slices">,
  {
    options,
    closed,
    numberOf,
  }: {
    readonly options: Readonly<Record<AddressFamily, ServiceRuleOptions>>;
    readonly closed: readonly string[];
    readonly numberOf: NumberEndpoint;
  },
  place: ProxyPlace,
) {
  const planned = service === undefined ? [] : planPorts(service, closed);
  const ports = planned.map((port) => {
    return { port, endpoints: chooseEndpoints(port, [...slices.values()], place) };
  });
  const fragmentOf = (family: AddressFamily): RuleFragment | undefined => {
    const ofFamily = ports.filter(({ port }) => port.family === family);
    if (ofFamily.length === 0) return undefined;
    const { clusterCidrs } = options[family];
    const sticky = ofFamily.find(({ port }) => port.affinitySeconds !== undefined);
    return joinFragments([
      ...(sticky === undefined ? [] : [{ sets: [computeClientSet(sticky.port)] }]),
      ...ofFamily.map((one) => computePortRules(one.port, one.endpoints, { clusterCidrs, numberOf })),
    ]);
  };
  return {
    fragments: { ip: fragmentOf("ip"), ip6: fragmentOf("ip6") },
    udp: ports.flatMap(udpPortOf),
    healthCheck: service === undefined ? undefined : healthCheckOf(service, ports),
  };
}

interface EndpointsOfPort {
  readonly port: PlannedPort;
  readonly endpoints: PortEndpoints;
}

function udpPortOf({ port, endpoints }: EndpointsOfPort): UdpPort[] {
  if (port.protocol !== "udp") return [];
  const addresses = [port.clusterIp, ...port.externalIps, ...port.loadBalancerIps];
  const all = uniqueEndpoints([...endpoints.cluster, ...endpoints.local]);
  return [{ family: port.family, addresses, port: port.port, nodePort: port.nodePort, endpoints: all }];
}

function healthCheckOf({ metadata = {}, spec = {} }: Service, ports: readonly EndpointsOfPort[]): Known["healthCheck"] {
  const { healthCheckNodePort = 0 } = spec;
  if (spec.type !== "LoadBalancer" || spec.externalTrafficPolicy !== "Local" || healthCheckNodePort === 0) {
    return undefined;
  }
  const local = new Set(ports.flatMap(({ endpoints }) => endpoints.local.map(({ ip }) => ip)));
  const { namespace = "", name = "" } = metadata;
  return { port: healthCheckNodePort, check: { namespace, name, localEndpoints: local.size } };
}

/** Ports of a service may share its address and its endpoints, and so have elements in common. */
function joinFragments(fragments: readonly RuleFragment[]): RuleFragment {
  const elements = fragments.flatMap((fragment) => fragment.elements ?? []);
  const unique = new Map(elements.map((element) => [`${element.set} ${element.key}`, element]));
  return {
    sets: fragments.flatMap((fragment) => fragment.sets ?? []),
    chains: fragments.flatMap((fragment) => fragment.chains ?? []),
    elements: [...unique.values()],
  };
}
