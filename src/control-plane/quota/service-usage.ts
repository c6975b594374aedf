import type { Service } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import type { QuotaUsage } from "./quota-amounts.ts";
import { countName, type UsageRule } from "./usage-rule.ts";

const COUNT = countName("services");
const NAMES = [COUNT, "services", "services.nodeports", "services.loadbalancers"];

/** Services: their number, and what they take of the nodes' ports and of load balancers. */
export const SERVICE_USAGE: UsageRule = {
  counts: (name) => NAMES.includes(name),
  usageOf: (object) => usageOfService(typed("Service", object)),
  isInScope: () => false,
  isCharged: ({ operation, subresource }) => {
    return subresource === "" && (operation === "CREATE" || operation === "UPDATE");
  },
};

function usageOfService({ spec }: Service): QuotaUsage {
  const isBalanced = spec?.type === "LoadBalancer";
  return {
    [COUNT]: "1",
    services: "1",
    "services.nodeports": String(countNodePorts(spec)),
    "services.loadbalancers": isBalanced ? "1" : "0",
  };
}

function countNodePorts(spec: Service["spec"]): number {
  const ports = spec?.ports ?? [];
  if (spec?.type === "NodePort") return ports.length;
  if (spec?.type !== "LoadBalancer") return 0;
  if (spec.allocateLoadBalancerNodePorts !== false) return ports.length;
  return ports.filter(({ nodePort = 0 }) => nodePort !== 0).length;
}
