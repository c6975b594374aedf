import type { FieldError } from "../../../api/field-error.ts";
import type { EndpointAddress, EndpointPort } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { checkIpAddress, checkNonSpecial } from "../../../api/validation/ip-address.ts";
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from "../../../api/validation/names.ts";
import { each, inRange, invalidEach, oneOf, required } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";

/** Endpoints, the older form of endpoint slices. */
export const endpointsKind = defineKind({
  kind: "Endpoints",
  plural: "endpoints",
  shortNames: ["ep"],
  strategy: {
    default: defaultEndpoints,
    validate: validateEndpoints,
    deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    createsOnUpdate: true,
  },
});

function defaultEndpoints(object: KubeObject): KubeObject {
  const { subsets } = typed("Endpoints", object);
  if (subsets === undefined) return object;
  const defaulted = subsets.map((subset) => {
    const ports = subset.ports?.map((port) => ({ ...port, protocol: port.protocol || "TCP" }));
    return ports ? { ...subset, ports } : subset;
  });
  return { ...object, subsets: defaulted };
}

function validateEndpoints(object: KubeObject): FieldError[] {
  const { subsets } = typed("Endpoints", object);
  return each("subsets", subsets, ({ addresses = [], notReadyAddresses = [], ports = [] }, path) => [
    ...(addresses.length + notReadyAddresses.length > 0
      ? []
      : [required(path, "must specify `addresses` or `notReadyAddresses`")]),
    ...each(`${path}.addresses`, addresses, validateAddress),
    ...each(`${path}.notReadyAddresses`, notReadyAddresses, validateAddress),
    ...each(`${path}.ports`, ports, (port, place) => validatePort(port, place, ports.length > 1)),
  ]);
}

function validateAddress({ ip, hostname = "", nodeName }: EndpointAddress, path: string): FieldError[] {
  return [
    ...invalidEach(`${path}.ip`, ip, checkIpAddress(ip)),
    ...(hostname === "" ? [] : invalidEach(`${path}.hostname`, hostname, checkDnsLabel(hostname))),
    ...(nodeName === undefined ? [] : invalidEach(`${path}.nodeName`, nodeName, checkDnsSubdomain(nodeName))),
    ...invalidEach(`${path}.ip`, ip, checkNonSpecial(ip)),
  ];
}

function validatePort(
  { name = "", port, protocol, appProtocol }: EndpointPort,
  path: string,
  needsName: boolean,
): FieldError[] {
  const named = name === "" ? [] : invalidEach(`${path}.name`, name, checkDnsLabel(name));
  return [
    ...(needsName && name === "" ? [required(`${path}.name`)] : named),
    ...inRange(`${path}.port`, port, [1, 65535]),
    ...oneOf(`${path}.protocol`, protocol, ["SCTP", "TCP", "UDP"]),
    ...(appProtocol === undefined
      ? []
      : invalidEach(`${path}.appProtocol`, appProtocol, checkQualifiedName(appProtocol))),
  ];
}
