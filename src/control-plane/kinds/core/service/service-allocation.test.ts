import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Service, ServiceSpec } from "../../../../api/gen/types.ts";
import { contains } from "../../../../api/validation/ip-address.ts";
import { allocateService, type ServiceRanges, type TakenServices } from "./service-allocation.ts";

const RANGES: ServiceRanges = { families: ["IPv4"], cidrs: ["10.96.0.0/16"], nodePorts: [30_000, 32_767] };
const NONE: TakenServices = { hasAddress: () => false, nodePorts: new Set() };
const takenBy = (...addresses: string[]) => ({ ...NONE, hasAddress: (one: string) => addresses.includes(one) });

interface Case {
  spec: ServiceSpec;
  current?: ServiceSpec;
  taken?: TakenServices;
  ranges?: ServiceRanges;
  random?: number;
}

function allocate({ spec, current, taken = NONE, ranges = RANGES, random = 0 }: Case): ServiceSpec {
  const service = (of: ServiceSpec): Service => ({ kind: "Service", metadata: { name: "s" }, spec: of });
  const before = current && service(current);
  return allocateService(service(spec), before, taken, { ranges, random: () => random }).spec ?? {};
}

const DUAL: ServiceRanges = { ...RANGES, families: ["IPv4", "IPv6"], cidrs: ["10.96.0.0/16", "fd00::/112"] };
const V4 = "10.96.1.1";
const V6 = "fd00::101";

describe("the families of a service in a cluster of both", () => {
  it.each<[string, ServiceSpec, Partial<ServiceSpec>]>([
    ["one by default", {}, { clusterIPs: [V4], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" }],
    ["the one that is named", { ipFamilies: ["IPv6"] }, { clusterIPs: [V6], ipFamilies: ["IPv6"] }],
    ["both where it prefers that", { ipFamilyPolicy: "PreferDualStack" }, { clusterIP: V4, clusterIPs: [V4, V6] }],
    [
      "both in the order that is named",
      { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6", "IPv4"] },
      { clusterIP: V6, clusterIPs: [V6, V4] },
    ],
    [
      "both where the first is named",
      { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6"] },
      { clusterIPs: [V6, V4], ipFamilies: ["IPv6", "IPv4"] },
    ],
    [
      "those of its addresses",
      { ipFamilyPolicy: "PreferDualStack", clusterIP: "fd00::5", clusterIPs: ["fd00::5"] },
      { clusterIPs: ["fd00::5", V4], ipFamilies: ["IPv6", "IPv4"] },
    ],
    [
      "both without an address",
      { clusterIP: "None", selector: { a: "b" }, ipFamilyPolicy: "PreferDualStack" },
      { clusterIPs: ["None"], ipFamilies: ["IPv4", "IPv6"] },
    ],
  ])("are %s", (_, spec, expected) => {
    expect(allocate({ spec, ranges: DUAL })).toMatchObject(expected);
  });

  const single = { type: "ClusterIP", clusterIP: V4, clusterIPs: [V4], ipFamilies: ["IPv4"] };
  const dual = { ...single, clusterIPs: [V4, V6], ipFamilies: ["IPv4", "IPv6"] };

  it.each<[string, ServiceSpec, ServiceSpec, readonly string[]]>([
    [
      "get a second when it is required",
      { ...single, ipFamilyPolicy: "SingleStack" },
      { ...single, ipFamilyPolicy: "RequireDualStack" },
      [V4, V6],
    ],
    [
      "lose the second when one is wanted",
      { ...dual, ipFamilyPolicy: "RequireDualStack" },
      { ...dual, ipFamilyPolicy: "SingleStack" },
      [V4],
    ],
    [
      "stay one of a preference that the cluster could not meet",
      { ...single, ipFamilyPolicy: "PreferDualStack" },
      { ...single, ipFamilyPolicy: "PreferDualStack" },
      [V4],
    ],
    ["stay as they are where the policy is left out", { ...dual, ipFamilyPolicy: "PreferDualStack" }, dual, [V4, V6]],
  ])("%s", (_, current, spec, expected) => {
    const { clusterIPs, ipFamilies } = allocate({ spec, current, ranges: DUAL });
    expect([clusterIPs, ipFamilies?.length]).toEqual([expected, expected.length]);
  });
});

const WEB = { port: 80, protocol: "TCP" };

describe("the address of a service", () => {
  it("is one of the range, above what is left to those who ask", () => {
    expect(allocate({ spec: { type: "ClusterIP" } })).toMatchObject({
      clusterIP: "10.96.1.1",
      clusterIPs: ["10.96.1.1"],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    });
  });

  it("is never the network's, the broadcast's or another service's", () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const taken = fc.uniqueArray(fc.integer({ min: 1, max: 61 }));
    fc.assert(
      fc.property(random, taken, (value, offsets) => {
        const others = offsets.map((offset) => `10.96.0.${offset}`);
        const ranges = { ...RANGES, cidrs: ["10.96.0.0/26"] };
        const { clusterIP = "" } = allocate({ spec: {}, taken: takenBy(...others), ranges, random: value });
        expect(contains("10.96.0.0/26", clusterIP)).toBe(true);
        expect(["10.96.0.0", "10.96.0.63", ...others]).not.toContain(clusterIP);
      }),
    );
  });

  it("comes from what is left when there is nothing else", () => {
    const ranges = { ...RANGES, cidrs: ["10.96.0.0/29"] };
    const others = [1, 2, 3, 5, 6].map((last) => `10.96.0.${last}`);
    expect(allocate({ spec: {}, ranges, taken: takenBy(...others) }).clusterIP).toBe("10.96.0.4");
    expect(() => allocate({ spec: {}, ranges, taken: takenBy(...others, "10.96.0.4") })).toThrow(
      'failed to allocate a serviceIP for Service "s": range is full',
    );
  });

  it("comes from another range when the first is used up, and may be asked for of any", () => {
    const ranges = { ...RANGES, cidrs: ["10.96.0.0/30", "10.97.0.0/24"] };
    const taken = takenBy("10.96.0.1", "10.96.0.2");
    expect(allocate({ spec: {}, ranges, taken }).clusterIP).toBe("10.97.0.17");
    expect(allocate({ spec: { clusterIP: "10.97.0.9" }, ranges, taken }).clusterIP).toBe("10.97.0.9");
    expect(() => allocate({ spec: {}, ranges: { ...RANGES, cidrs: [] } })).toThrow("range is full");
  });

  it("may be any of a range of IPv6, however large that is", () => {
    const ranges: ServiceRanges = { ...RANGES, families: ["IPv6"], cidrs: ["fd00::/64"] };
    expect(allocate({ spec: {}, ranges, random: 0.5 }).clusterIP).toBe("fd00::8000:0:0:80");
    expect(allocate({ spec: {}, ranges, random: 0 }).clusterIP).toBe("fd00::101");
  });

  it("may be asked for", () => {
    expect(allocate({ spec: { clusterIP: "10.96.0.10" } })).toMatchObject({
      clusterIP: "10.96.0.10",
      clusterIPs: ["10.96.0.10"],
    });
  });

  it("stays what it was, in the range or not", () => {
    const current = { clusterIP: "172.16.0.1", clusterIPs: ["172.16.0.1"] };
    expect(allocate({ spec: current, current })).toMatchObject(current);
  });

  it("is of IPv6 where the range is", () => {
    const ranges: ServiceRanges = { ...RANGES, families: ["IPv6"], cidrs: ["fd00:10:96::/112"] };
    expect(allocate({ spec: {}, ranges })).toMatchObject({ clusterIP: "fd00:10:96::101", ipFamilies: ["IPv6"] });
  });

  it("is none for headless services, which may have endpoints of both families", () => {
    expect(allocate({ spec: { clusterIP: "None", selector: { a: "b" } } })).toMatchObject({
      clusterIP: "None",
      clusterIPs: ["None"],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    });
    expect(allocate({ spec: { clusterIP: "None" } })).toMatchObject({
      ipFamilies: ["IPv4", "IPv6"],
      ipFamilyPolicy: "RequireDualStack",
    });
  });

  it("is none for external names", () => {
    const spec = { type: "ExternalName", externalName: "a.b" };
    expect(allocate({ spec })).toEqual(spec);
  });

  it.each<[string, Case, string]>([
    [
      "another service's",
      { spec: { clusterIP: "10.96.0.10" }, taken: takenBy("10.96.0.10") },
      'Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.10"]: failed to allocate IP 10.96.0.10: provided IP is already allocated',
    ],
    [
      "of another range",
      { spec: { clusterIP: "10.0.0.1" } },
      'Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.1"]: failed to allocate IP 10.0.0.1: the provided network does not match the current range',
    ],
    [
      "the network's own",
      { spec: { clusterIP: "10.96.0.0" } },
      "failed to allocate IP 10.96.0.0: the provided network does not match the current range",
    ],
    [
      "another's in another spelling",
      { spec: { clusterIP: "FD00:0::1", ipFamilies: ["IPv6"] }, ranges: DUAL, taken: takenBy("fd00::1") },
      "failed to allocate IP FD00:0::1: provided IP is already allocated",
    ],
    [
      "two where the policy wants one",
      { spec: { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4", "IPv6"] }, ranges: DUAL },
      "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
    ],
    [
      "of a family that is not there",
      { spec: { ipFamilies: ["IPv6"] } },
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ],
    [
      "of a family that is not there, by its spelling",
      { spec: { clusterIP: "fd00::1", clusterIPs: ["fd00::1"] } },
      'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
    ],
    [
      "of two families",
      { spec: { ipFamilyPolicy: "RequireDualStack" } },
      "this cluster is not configured for dual-stack services",
    ],
  ])("cannot be %s", (_name, request, message) => {
    expect(() => allocate(request)).toThrow(message);
  });
});

describe("the node ports of a service", () => {
  const type = "NodePort";

  it("are of the range, above what is left to those who ask", () => {
    expect(
      allocate({ spec: { type, ports: [WEB, { port: 81, protocol: "TCP" }] } }).ports?.map(({ nodePort }) => nodePort),
    ).toEqual([30_086, 30_087]);
  });

  it("are the same for all protocols of a port", () => {
    const ports = [
      { port: 53, protocol: "UDP" },
      { port: 53, protocol: "TCP" },
    ];
    expect(allocate({ spec: { type, ports } }).ports?.map(({ nodePort }) => nodePort)).toEqual([30_086, 30_086]);
  });

  it("are there for a load balancer unless it wants none", () => {
    expect(allocate({ spec: { type: "LoadBalancer", ports: [WEB] } }).ports?.[0]?.nodePort).toBe(30_086);
    const spec = { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports: [WEB] };
    expect(allocate({ spec }).ports).toEqual([WEB]);
  });

  it("are one more where a load balancer asks nodes how they are", () => {
    const spec = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [WEB] };
    expect(allocate({ spec }).healthCheckNodePort).toBe(30_087);
  });

  it("are never another service's", () => {
    const taken = { ...NONE, nodePorts: new Set([30_086, 30_087]) };
    expect(allocate({ spec: { type, ports: [WEB] }, taken }).ports?.[0]?.nodePort).toBe(30_088);
  });

  it("stay what they were", () => {
    const spec = { type, clusterIP: "10.96.0.5", ports: [{ ...WEB, nodePort: 29_000 }] };
    expect(allocate({ spec, current: spec }).ports).toEqual(spec.ports);
  });

  it.each<[string, Case, string]>([
    [
      "of another range",
      { spec: { type, ports: [{ ...WEB, nodePort: 80 }] } },
      'Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    ],
    [
      "another service's",
      { spec: { type, ports: [{ ...WEB, nodePort: 30_001 }] }, taken: { ...NONE, nodePorts: new Set([30_001]) } },
      'Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated',
    ],
    [
      "more than there are",
      {
        spec: { type, ports: [WEB] },
        ranges: { ...RANGES, nodePorts: [30_000, 30_000] },
        taken: { ...NONE, nodePorts: new Set([30_000]) },
      },
      "failed to allocate a nodePort: range is full",
    ],
  ])("cannot be %s", (_name, request, message) => {
    expect(() => allocate(request)).toThrow(message);
  });
});
