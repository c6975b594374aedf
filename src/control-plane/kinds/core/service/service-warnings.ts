import { type KubeObject, typed } from "../../../../api/object.ts";
import { isExternalName, isHeadless, serviceSpec } from "./service-traits.ts";

/** The warnings about fields that are allowed but have no effect, or will not be allowed for long. */
export function serviceWarnings(object: KubeObject): string[] {
  const service = typed("Service", object);
  const spec = serviceSpec(service);
  const { annotations = {} } = service.metadata ?? {};
  const warnings: string[] = [];
  if (annotations["service.kubernetes.io/topology-aware-hints"] !== undefined) {
    warnings.push(
      "metadata.annotations[service.kubernetes.io/topology-aware-hints]: please use service.kubernetes.io/topology-mode instead",
    );
  }
  if (isHeadless(spec)) {
    if (spec.loadBalancerIP) warnings.push("spec.loadBalancerIP is ignored for headless services");
    if (spec.externalIPs?.length) warnings.push("spec.externalIPs is ignored for headless services");
    if (spec.sessionAffinity && spec.sessionAffinity !== "None") {
      warnings.push("spec.SessionAffinity is ignored for headless services");
    }
  }
  if (isExternalName(spec) && spec.externalIPs?.length) {
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (spec.externalName && !isExternalName(spec)) {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (spec.trafficDistribution === "PreferClose") {
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return warnings;
}
