import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { Endpoint, EndpointSlice } from "../../../api/gen/types.ts";
import { untyped } from "../../../api/object.ts";
import { DISCOVERY_KINDS } from "./discovery-kinds.ts";

const [SLICES] = DISCOVERY_KINDS;
const slice = (fields: Partial<EndpointSlice>) => {
  const metadata = { name: "web-abcde" };
  return untyped({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata,
    addressType: "IPv4",
    ...fields,
  });
};
const refusals = (fields: Partial<EndpointSlice>) => {
  const object = slice(fields);
  const defaulted = SLICES?.strategy.default?.(object) ?? object;
  return (SLICES?.strategy.validate?.(defaulted) ?? []).map(formatFieldError);
};
const times = <Item>(count: number, make: (index: number) => Item) => Array.from({ length: count }, (_, i) => make(i));
const endpoint = (fields: Partial<Endpoint>): Partial<EndpointSlice> => {
  return { endpoints: [{ addresses: ["10.0.0.1"], ...fields }] };
};

describe("an endpoint slice", () => {
  it("has TCP ports without a name where its author says nothing, and a port that may be any", () => {
    const ports = [{}, { port: 53, protocol: "UDP", name: "dns" }];
    expect(SLICES?.strategy.default?.(slice({ ports }))).toMatchObject({
      ports: [
        { name: "", protocol: "TCP" },
        { port: 53, protocol: "UDP", name: "dns" },
      ],
    });
  });

  it("has no topology of old when it is new", () => {
    const old = slice(endpoint({ deprecatedTopology: { zone: "a" }, zone: "a" }));
    expect(SLICES?.strategy.prepareCreate?.(old)).toEqual(slice(endpoint({ zone: "a" })));
  });

  it.each<[string, Partial<EndpointSlice>, string[]]>([
    ["may be empty", {}, []],
    ["holds addresses of one kind", { addressType: "IPv6", endpoints: [{ addresses: ["fd00::1"] }] }, []],
    ["holds names", { addressType: "FQDN", endpoints: [{ addresses: ["a.example.com"] }] }, []],
    [
      "says which kind",
      { addressType: "IP" },
      ['addressType: Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6"'],
    ],
    ["does not leave it open", { addressType: "" }, ["addressType: Required value"]],
    [
      "has an address for each endpoint",
      endpoint({ addresses: [] }),
      ["endpoints[0].addresses: Required value: must contain at least 1 address"],
    ],
    [
      "mixes no kinds",
      endpoint({ addresses: ["fd00::1"] }),
      ['endpoints[0].addresses[0]: Invalid value: "fd00::1": must be a valid IPv4 address'],
    ],
    [
      "has addresses that others reach",
      endpoint({ addresses: ["127.0.0.1"] }),
      [
        'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    ],
    [
      "has at most a hundred addresses an endpoint",
      endpoint({ addresses: times(101, (index) => `10.0.0.${index + 1}`) }),
      ["endpoints[0].addresses: Too many: 101: must have at most 100 items"],
    ],
    [
      "has at most a thousand endpoints",
      { endpoints: times(1001, () => ({ addresses: ["10.0.0.1"] })) },
      ["endpoints: Too many: 1001: must have at most 1000 items"],
    ],
    [
      "has host names that are labels",
      endpoint({ hostname: "a.b" }),
      ['endpoints[0].hostname: Invalid value: "a.b": must not contain dots'],
    ],
    [
      "hints at a zone once",
      endpoint({ hints: { forZones: [{ name: "a" }, { name: "a" }] } }),
      ['endpoints[0].hints.forZones[1].name: Duplicate value: "a"'],
    ],
    [
      "hints at eight zones at most",
      endpoint({ hints: { forZones: times(9, (index) => ({ name: `z${index}` })) } }),
      ["endpoints[0].hints.forZones: Too many: 9: must have at most 8 items"],
    ],
    [
      "has ports with names of their own",
      { ports: [{ port: 80 }, { port: 81 }] },
      ['ports[1].name: Duplicate value: ""'],
    ],
    [
      "has ports of protocols that there are",
      { ports: [{ port: 80, protocol: "HTTP" }] },
      ['ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
    ],
  ])("%s", (_name, fields, errors) => {
    expect(refusals(fields)).toEqual(errors);
  });

  it("keeps its kind of addresses", () => {
    const errors = SLICES?.strategy.validateUpdate?.(slice({ addressType: "IPv6" }), slice({}));
    expect(errors?.map(formatFieldError)).toEqual(['addressType: Invalid value: "IPv6": field is immutable']);
  });
});
