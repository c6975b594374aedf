import { isDeepStrictEqual } from "node:util";
import type { LoadBalancerIngress, Node, Service } from "../../../api/gen/types.ts";
import { typed, untyped } from "../../../api/object.ts";
import { formatTime } from "../../../base/clock.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../../control-loop/controller.ts";
import { namespacedKeyOf } from "../../control-loop/namespaced-key.ts";
import { createEventRecorder } from "../../control-loop/record-events.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";

/** All services are planned at once, because they share the ports of the nodes. */
const EVERYTHING = "load-balancers";
const NO_BALANCER_LABEL = "node.kubernetes.io/exclude-from-external-load-balancers";
const COMPONENT = "node-load-balancer";
/** Upstream's names: of the condition, and of the event of a balancer that could not be made. */
const PORTS_ERROR = "LoadBalancerPortsError";
const FAILED = "SyncLoadBalancerFailed";

/**
 * Gives services of the type LoadBalancer the addresses of the nodes, as k3s does. A service whose ports another one has
 * already waits without an address, and its condition and an event say for whom. Services with a class of their own belong
 * to another controller.
 */
export function createNodeLoadBalancer(deps: ControllerDeps): Controller {
  const { reader, writer, feed, clock } = deps;
  const events = createEventRecorder(deps, COMPONENT);
  const queue = createWorkQueue(deps, {
    name: COMPONENT,
    async reconcile() {
      const services = reader.list("services").map((object) => typed("Service", object));
      const nodes = reader.list("nodes").map((object) => typed("Node", object));
      for (const { service, ingress, clash } of planIngress(services, nodes)) {
        const status = statusOf(service, { ingress, clash, at: formatTime(clock.now()) });
        const about = untyped({ ...service, status });
        await unlessOvertaken(writer.update("services", about, "status"));
        if (clash !== undefined) events.record({ about, type: "Warning", reason: FAILED, message: clash });
      }
      return undefined;
    },
  });
  const add = () => queue.add(EVERYTHING);
  const follow = () => [
    feed.follow("services", ({ object, previous }) => {
      if ([object, previous].some((one) => one !== undefined && isConcerned(typed("Service", one)))) add();
    }),
    feed.follow("nodes", ({ object, previous }) => {
      const before = previous === undefined ? [] : addressesOf(typed("Node", previous));
      if (!isDeepStrictEqual(before, addressesOf(typed("Node", object)))) add();
    }),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

function isConcerned({ spec, status }: Service): boolean {
  const { loadBalancer: { ingress = [] } = {}, conditions = [] } = status ?? {};
  return spec?.type === "LoadBalancer" || ingress.length > 0 || conditions.some(({ type }) => type === PORTS_ERROR);
}

interface Plan {
  readonly service: Service;
  readonly ingress: readonly LoadBalancerIngress[];
  /** Why the service has no address: whose port it wants. */
  readonly clash: string | undefined;
}

/** Plans the statuses that differ from what they are. Who was there first keeps its ports. */
function planIngress(services: readonly Service[], nodes: readonly Node[]): Plan[] {
  const addresses = [...new Set(nodes.flatMap(addressesOf))];
  const owners = new Map<string, string>();
  const sorted = services.filter(isConcerned).sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  const plans = sorted.flatMap((service): Plan[] => {
    const { spec = {} } = service;
    if (spec.type !== "LoadBalancer") return [{ service, ingress: [], clash: undefined }];
    if (spec.loadBalancerClass !== undefined) return [];
    const ports = (spec.ports ?? []).map(({ protocol = "TCP", port }) => `${protocol} ${port}`);
    const taken = ports.find((port) => owners.has(port));
    if (taken !== undefined) {
      const clash = `the node's port ${taken} belongs to the service ${owners.get(taken)}: it gets an address when that is gone`;
      return [{ service, ingress: [], clash }];
    }
    for (const port of ports) owners.set(port, namespacedKeyOf(service.metadata ?? {}));
    return [{ service, ingress: ingressOf(spec, addresses), clash: undefined }];
  });
  return plans.filter(isNews);
}

function isNews({ service: { status = {} }, ingress, clash }: Plan): boolean {
  const ips = (list: readonly LoadBalancerIngress[] = []) => list.map(({ ip }) => ip);
  const told = status.conditions?.find(({ type }) => type === PORTS_ERROR)?.message;
  return told !== clash || !isDeepStrictEqual(ips(status.loadBalancer?.ingress), ips(ingress));
}

function statusOf(
  { status: { loadBalancer: _, conditions = [], ...status } = {} }: Service,
  { ingress, clash, at }: Pick<Plan, "ingress" | "clash"> & { readonly at: string },
): Service["status"] {
  const reason = { type: PORTS_ERROR, status: "True", reason: "PortsTaken", lastTransitionTime: at };
  const next = conditions.filter(({ type }) => type !== PORTS_ERROR);
  if (clash !== undefined) next.push({ ...reason, message: clash });
  return {
    ...status,
    ...(next.length > 0 && { conditions: next }),
    loadBalancer: ingress.length === 0 ? {} : { ingress: [...ingress] },
  };
}

function orderOf({ metadata = {} }: Service): string {
  return `${metadata.creationTimestamp} ${namespacedKeyOf(metadata)}`;
}

function ingressOf({ ipFamilies = ["IPv4"] }: NonNullable<Service["spec"]>, addresses: readonly string[]) {
  const ofFamily = addresses.filter((ip) => ipFamilies.includes(ip.includes(":") ? "IPv6" : "IPv4"));
  return ofFamily.map((ip): LoadBalancerIngress => ({ ip, ipMode: "VIP" }));
}

/** The addresses by which others reach a node: the external ones, or else its own. */
function addressesOf({ metadata = {}, status = {} }: Node): string[] {
  if (metadata.labels?.[NO_BALANCER_LABEL] !== undefined || metadata.deletionTimestamp !== undefined) return [];
  const ofType = (wanted: string) =>
    (status.addresses ?? []).flatMap(({ type, address }) => (type === wanted ? [address] : []));
  const external = ofType("ExternalIP");
  return external.length > 0 ? external : ofType("InternalIP");
}
