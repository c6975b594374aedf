import type { FieldError } from "../../../api/field-error.ts";
import type { DiscoveryEndpointPort, Endpoint, EndpointSlice } from "../../../api/gen/types.ts";
import { checkNonSpecial } from "../../../api/validation/ip-address.ts";
import { validateLabels } from "../../../api/validation/metadata.ts";
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  checkQualifiedName,
  isIpAddress,
} from "../../../api/validation/names.ts";
import { duplicate, each, invalidEach, oneOf, required, tooMany } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";

const MAX_ENDPOINTS = 1000;
const MAX_PORTS = 20_000;
const MAX_ADDRESSES = 100;
const MAX_TOPOLOGY_LABELS = 16;
const MAX_HINTS = 8;

export const DISCOVERY_KINDS: readonly ResourceKind[] = [
  defineKind({
    group: "discovery.k8s.io",
    kind: "EndpointSlice",
    plural: "endpointslices",
    strategy: strategyOf("EndpointSlice", {
      generation: true,
      default({ ports }) {
        for (const port of ports ?? []) {
          port.name ??= "";
          port.protocol ??= "TCP";
        }
      },
      // The values of the field have moved to nodeName and zone. Only older slices still have it.
      prepareCreate({ endpoints }) {
        for (const endpoint of endpoints ?? []) delete endpoint.deprecatedTopology;
      },
      validate: validateSlice,
      validateUpdate: (next, current) => immutable("addressType", next.addressType, current.addressType),
    }),
  }),
];

function validateSlice({ addressType, endpoints = [], ports = [] }: EndpointSlice): FieldError[] {
  return [
    ...oneOf("addressType", addressType, ["FQDN", "IPv4", "IPv6"]),
    ...(endpoints.length > MAX_ENDPOINTS
      ? [tooMany("endpoints", endpoints.length, MAX_ENDPOINTS)]
      : each("endpoints", endpoints, (endpoint, path) => validateEndpoint(path, endpoint, addressType))),
    ...(ports.length > MAX_PORTS
      ? [tooMany("ports", ports.length, MAX_PORTS)]
      : each("ports", ports, (port, path) => validatePort(path, port, ports))),
  ];
}

function validateEndpoint(path: string, endpoint: Endpoint, addressType: string): FieldError[] {
  const { addresses, nodeName, hostname, hints, deprecatedTopology = {} } = endpoint;
  const errors: FieldError[] = [];
  const at = `${path}.addresses`;
  if (addresses.length === 0) errors.push(required(at, "must contain at least 1 address"));
  if (addresses.length > MAX_ADDRESSES) errors.push(tooMany(at, addresses.length, MAX_ADDRESSES));
  errors.push(
    ...each(at, addresses, (address, place) => invalidEach(place, address, checkAddress(address, addressType))),
  );
  if (nodeName !== undefined) {
    errors.push(...invalidEach(`${path}.nodeName`, nodeName, checkDnsSubdomain(nodeName)));
  }
  const labels = Object.keys(deprecatedTopology).length;
  if (labels > MAX_TOPOLOGY_LABELS) {
    errors.push(tooMany(`${path}.deprecatedTopology`, labels, MAX_TOPOLOGY_LABELS));
  }
  errors.push(...validateLabels(`${path}.deprecatedTopology`, deprecatedTopology));
  if (hostname !== undefined) errors.push(...invalidEach(`${path}.hostname`, hostname, checkDnsLabel(hostname)));
  return [
    ...errors,
    ...validateHints(`${path}.hints.forZones`, hints?.forZones ?? [], checkLabelValue),
    ...validateHints(`${path}.hints.forNodes`, hints?.forNodes ?? [], checkDnsSubdomain),
  ];
}

function checkAddress(address: string, addressType: string): string[] {
  if (addressType === "FQDN") return checkDomainName(address);
  const isOfType = isIpAddress(address) && address.includes(":") === (addressType === "IPv6");
  const wrong = isOfType ? [] : [`must be a valid ${addressType} address`];
  return addressType === "IPv4" || addressType === "IPv6" ? [...wrong, ...checkNonSpecial(address)] : [];
}

function checkDomainName(name: string): string[] {
  const problems = checkDnsSubdomain(name.replace(/\.$/, ""));
  if (problems.length > 0) return problems;
  return name.includes(".") ? [] : ["should be a domain with at least two segments separated by dots"];
}

function validateHints(
  path: string,
  hints: ReadonlyArray<{ name: string }>,
  check: (name: string) => string[],
): FieldError[] {
  if (hints.length > MAX_HINTS) return [tooMany(path, hints.length, MAX_HINTS)];
  const names = hints.map(({ name }) => name);
  return each(path, names, (name, at) => [
    ...(names.indexOf(name) === indexIn(at) ? [] : [duplicate(`${at}.name`, name)]),
    ...invalidEach(`${at}.name`, name, check(name)),
  ]);
}

/** The index in a path: 3 for `ports[3]`. */
function indexIn(path: string): number {
  return Number(/\[(\d+)\]$/.exec(path)?.[1]);
}

function validatePort(
  path: string,
  { name = "", protocol, appProtocol }: DiscoveryEndpointPort,
  ports: readonly DiscoveryEndpointPort[],
): FieldError[] {
  const isRepeated = ports.findIndex((port) => (port.name ?? "") === name) !== indexIn(path);
  return [
    ...(name === "" ? [] : invalidEach(`${path}.name`, name, checkDnsLabel(name))),
    ...(isRepeated ? [duplicate(`${path}.name`, name)] : []),
    ...oneOf(`${path}.protocol`, protocol, ["SCTP", "TCP", "UDP"]),
    ...(appProtocol === undefined
      ? []
      : invalidEach(`${path}.appProtocol`, appProtocol, checkQualifiedName(appProtocol))),
  ];
}
