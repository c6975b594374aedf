import type { FieldError } from "../../../../api/field-error.ts";
import type { Service } from "../../../../api/gen/types.ts";
import { checkCidr } from "../../../../api/validation/ip-address.ts";
import { checkQualifiedName } from "../../../../api/validation/names.ts";
import { each, forbidden, invalidEach, required } from "../../../../api/validation/problems.ts";
import { serviceSpec } from "./service-traits.ts";

const SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";
const BALANCERS_ONLY = "may only be used when `type` is 'LoadBalancer'";

/** The problems of the fields that only load balancers use. */
export function validateLoadBalancer(service: Service): FieldError[] {
  const spec = serviceSpec(service);
  const isBalancer = spec.type === "LoadBalancer";
  const { allocateLoadBalancerNodePorts, loadBalancerClass } = spec;
  const errors = validateSourceRanges(service);
  if (!isBalancer && allocateLoadBalancerNodePorts !== undefined) {
    errors.push(forbidden("spec.allocateLoadBalancerNodePorts", BALANCERS_ONLY));
  }
  if (isBalancer && allocateLoadBalancerNodePorts === undefined) errors.push(required("allocateLoadBalancerNodePorts"));
  if (loadBalancerClass === undefined) return errors;
  if (!isBalancer) return [...errors, forbidden("spec.loadBalancerClass", BALANCERS_ONLY)];
  return [
    ...errors,
    ...invalidEach("spec.loadBalancerClass", loadBalancerClass, checkQualifiedName(loadBalancerClass)),
  ];
}

/**
 * The problems of source ranges. They may be padded with spaces, because the annotation that was their first form
 * allowed it.
 */
function validateSourceRanges(service: Service): FieldError[] {
  const { type, loadBalancerSourceRanges: ranges = [] } = serviceSpec(service);
  const annotation = service.metadata?.annotations?.[SOURCE_RANGES];
  if (ranges.length === 0 && annotation === undefined) return [];
  const path = ranges.length > 0 ? "spec.LoadBalancerSourceRanges" : `metadata.annotations[${SOURCE_RANGES}]`;
  const errors = type === "LoadBalancer" ? [] : [forbidden(path, BALANCERS_ONLY)];
  if (ranges.length > 0) {
    return [
      ...errors,
      ...each(path, ranges, (range, place) => invalidEach(place, range.trim(), checkCidr(range.trim()))),
    ];
  }
  const listed = annotation?.trim() ? annotation.split(",").map((range) => range.trim()) : [];
  return [...errors, ...listed.flatMap((range) => invalidEach(path, range, checkCidr(range)))];
}
