import type { FieldError } from "../../../../api/field-error.ts";
import type { ServiceSpec } from "../../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../../api/object.ts";
import { checkIpAddress } from "../../../../api/validation/ip-address.ts";
import { checkDnsSubdomain } from "../../../../api/validation/names.ts";
import { each, forbidden, invalid, invalidEach } from "../../../../api/validation/problems.ts";
import { isExternalName, isHeadless, needsHealthCheck, serviceSpec } from "./service-traits.ts";

/** The problems of an update. A service keeps its addresses as long as it has any, because clients know them. */
export function validateServiceUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  const spec = serviceSpec(typed("Service", next));
  const old = serviceSpec(typed("Service", current));
  const errors = [...validateClusterIps(spec, old), ...validateFamilies(spec, old), ...validateClass(spec, old)];
  const isHealthChecked = needsHealthCheck(old) && needsHealthCheck(spec);
  if (isHealthChecked && (spec.healthCheckNodePort ?? 0) !== (old.healthCheckNodePort ?? 0)) {
    errors.push(forbidden("spec.healthCheckNodePort", "field is immutable"));
  }
  return errors;
}

function validateClusterIps(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (isExternalName(spec) || isExternalName(old) || (isHeadless(spec) && isHeadless(old))) return [];
  const path = "spec.clusterIPs";
  const { clusterIPs: addresses = [], ipFamilyPolicy } = spec;
  const { clusterIPs: before = [] } = old;
  if (before.length > 0 && addresses.length === 0)
    return [invalid(`${path}[0]`, [], "primary clusterIP can not be unset")];
  const kept = before.slice(0, addresses.length);
  const errors = kept.flatMap((address, index) => {
    return address === addresses[index] ? [] : [invalid(`${path}[${index}]`, addresses, "may not change once set")];
  });
  if (addresses.length < before.length && ipFamilyPolicy !== "SingleStack") {
    const detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
    errors.push(invalid("spec.ipFamilyPolicy", ipFamilyPolicy ?? null, detail));
  }
  return errors;
}

/** The problems of changed families. They belong to the addresses, and may change without an address. */
function validateFamilies(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (isExternalName(spec) || isExternalName(old) || isHeadless(spec) || isHeadless(old)) return [];
  const { ipFamilies: families = [], ipFamilyPolicy } = spec;
  const { ipFamilies: before = [] } = old;
  const kept = before.slice(0, families.length);
  const errors = kept.flatMap((family, index) => {
    return family === families[index] ? [] : [invalid("spec.ipFamilies[0]", families, "may not change once set")];
  });
  if (families.length < before.length && ipFamilyPolicy !== "SingleStack") {
    const detail = "must be set to 'SingleStack' when releasing the secondary ipFamily";
    errors.push(invalid("spec.ipFamilyPolicy", ipFamilyPolicy ?? null, detail));
  }
  return errors;
}

/** The problems of a changed class. The load balancer's controller is chosen together with the type. */
function validateClass(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (old.type !== "LoadBalancer" || spec.type !== "LoadBalancer") return [];
  if (old.loadBalancerClass === spec.loadBalancerClass) return [];
  return [invalid("spec.loadBalancerClass", spec.loadBalancerClass ?? null, "may not change once set")];
}

/** The problems of the status that a load balancer's controller reports. */
export function validateServiceStatusUpdate(next: KubeObject): FieldError[] {
  const { spec, status } = typed("Service", next);
  const path = "status.loadBalancer.ingress";
  const ingress = status?.loadBalancer?.ingress ?? [];
  if (ingress.length > 0 && spec?.type !== "LoadBalancer") {
    return [forbidden(path, 'may only be used when `spec.type` is "LoadBalancer"')];
  }
  return each(path, ingress, ({ ip = "", hostname = "", ipMode }, place) => {
    const errors = ip === "" ? [] : invalidEach(`${place}.ip`, ip, checkIpAddress(ip));
    if (ip !== "" && ipMode === undefined)
      errors.push(invalid(`${place}.ipMode`, null, "must be specified when `ip` is set"));
    if (ip === "" && ipMode !== undefined)
      errors.push(forbidden(`${place}.ipMode`, "may not be specified when `ip` is not set"));
    if (hostname === "") return errors;
    return [...errors, ...invalidEach(`${place}.hostname`, hostname, checkDnsSubdomain(hostname))];
  });
}
