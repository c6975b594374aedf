import { isDeepStrictEqual } from "node:util";
import type { LoadBalancerIngress, Node, Service } from "../../../api/gen/types.ts";
import { typed, untyped } from "../../../api/object.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../../control-loop/controller.ts";
import { namespacedKeyOf } from "../../control-loop/namespaced-key.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";

/** All services are planned at once, because they share the ports of the nodes. */
const EVERYTHING = "load-balancers";
const NO_BALANCER_LABEL = "node.kubernetes.io/exclude-from-external-load-balancers";

/**
 * Gives services of the type LoadBalancer the addresses of the nodes, as k3s does. A service whose ports another one has
 * already waits without an address. Services with a class of their own belong to another controller.
 */
export function createNodeLoadBalancer(deps: ControllerDeps): Controller {
  const { reader, writer, feed } = deps;
  const queue = createWorkQueue(deps, {
    name: "node-load-balancer",
    async reconcile() {
      const services = reader.list("services").map((object) => typed("Service", object));
      const nodes = reader.list("nodes").map((object) => typed("Node", object));
      for (const { service, ingress } of planIngress(services, nodes)) {
        const { loadBalancer: _, ...status } = service.status ?? {};
        const loadBalancer = ingress.length === 0 ? {} : { ingress: [...ingress] };
        await unlessOvertaken(
          writer.update("services", untyped({ ...service, status: { ...status, loadBalancer } }), "status"),
        );
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
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

function isConcerned({ spec, status }: Service): boolean {
  return spec?.type === "LoadBalancer" || (status?.loadBalancer?.ingress ?? []).length > 0;
}

/** Plans the statuses that differ from what they are. Who was there first keeps its ports. */
function planIngress(services: readonly Service[], nodes: readonly Node[]) {
  const addresses = [...new Set(nodes.flatMap(addressesOf))];
  const taken = new Set<string>();
  const sorted = services.filter(isConcerned).sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  return sorted.flatMap((service) => {
    const { spec = {}, status } = service;
    if (spec.loadBalancerClass !== undefined && spec.type === "LoadBalancer") return [];
    const ports = (spec.ports ?? []).map(({ protocol = "TCP", port }) => `${protocol} ${port}`);
    const isWanted = spec.type === "LoadBalancer" && !ports.some((port) => taken.has(port));
    for (const port of isWanted ? ports : []) taken.add(port);
    const ingress = isWanted ? ingressOf(spec, addresses) : [];
    const current = (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);
    return isDeepStrictEqual(
      current,
      ingress.map(({ ip }) => ip),
    )
      ? []
      : [{ service, ingress }];
  });
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
