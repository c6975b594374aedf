import { describe, expect, it } from "vitest";
import type { EndpointSlice, Service, ServiceSpec } from "../../api/gen/types.ts";
import { RECORD_TYPES } from "../wire/record.ts";
import { resolveName, type ZoneAnswer } from "./resolve-name.ts";
import { createServiceDirectory } from "./service-directory.ts";

const service = (name: string, spec: ServiceSpec, namespace = "default"): Service => ({
  metadata: { name, namespace },
  spec,
});

const PORTS = [
  { name: "https", protocol: "TCP", port: 443 },
  { name: "stats", protocol: "UDP", port: 8125 },
];

const SERVICES: readonly Service[] = [
  service("web", { clusterIP: "10.3.0.1", clusterIPs: ["10.3.0.1", "fd00::1"], ports: [...PORTS, { port: 80 }] }),
  service("db", { clusterIP: "None", ports: [{ name: "https", port: 443 }] }),
  service("idle", { clusterIP: "None", ports: [{ name: "https", port: 443 }] }),
  service("early", { clusterIP: "None", publishNotReadyAddresses: true }),
  service("out", { type: "ExternalName", externalName: "www.Example.com." }),
  service("fixed", { type: "ExternalName", externalName: "192.0.2.53" }),
  service("web", { clusterIP: "10.3.0.9" }, "other"),
];

const slice = (owner: string, name: string, fields: Partial<EndpointSlice>): EndpointSlice => ({
  metadata: { name, namespace: "default", labels: { "kubernetes.io/service-name": owner } },
  addressType: "IPv4",
  ports: [{ name: "https", protocol: "TCP", port: 8443 }],
  ...fields,
});

const SLICES: readonly EndpointSlice[] = [
  slice("db", "db-1", {
    endpoints: [
      { addresses: ["10.3.0.100"], hostname: "my-pet" },
      { addresses: ["10.3.0.101"], conditions: { ready: true } },
      { addresses: ["10.3.0.102"], conditions: { ready: false } },
    ],
  }),
  slice("db", "db-2", { addressType: "IPv6", endpoints: [{ addresses: ["fd00::5"], hostname: "my-pet" }] }),
  slice("idle", "idle-1", { endpoints: [{ addresses: ["10.3.0.103"], conditions: { ready: false } }] }),
  slice("early", "early-1", { endpoints: [{ addresses: ["10.3.0.104"], conditions: { ready: false } }] }),
];

const added = <T>(objects: readonly T[]) =>
  objects.map((object) => ({ type: "ADDED", object, previous: undefined }) as const);

function createZone() {
  const names = createServiceDirectory();
  names.changeNamespaces(added([{ metadata: { name: "default" } }, { metadata: { name: "other" } }]));
  // Slices may come before their service.
  names.changeSlices(added(SLICES));
  names.changeServices(added(SERVICES));
  return { domain: "cluster.local", names, serverAddress: "10.3.0.10", serial: () => 7 };
}

/** What a lookup says, shortly: the data of its records, or how it was denied. */
function describeAnswer(answer: ZoneAnswer): string {
  if (answer.kind === "alias") return `alias ${answer.target}`;
  if (answer.kind !== "records") return answer.kind;
  const data = answer.records.map((record) => {
    if (record.type === "SRV") return `${record.data.weight} ${record.data.port} ${record.data.target}`;
    return record.type === "SOA" || record.type === "HINFO" ? record.type : record.data;
  });
  return data.toSorted().join(", ");
}

const ask = (name: string, type: keyof typeof RECORD_TYPES, zone = createZone()) =>
  describeAnswer(resolveName(zone, name, RECORD_TYPES[type]));

describe("the specification of Kubernetes' DNS, version 1.1.0", () => {
  it.each<[string, string, keyof typeof RECORD_TYPES, string]>([
    ["2.2 schema version", "dns-version.cluster.local", "TXT", "1.1.0"],
    ["2.3.1 A", "web.default.svc.cluster.local", "A", "10.3.0.1"],
    ["2.3.1 AAAA", "web.default.svc.cluster.local", "AAAA", "fd00::1"],
    ["2.3.1 of its own namespace", "web.other.svc.cluster.local", "A", "10.3.0.9"],
    ["2.3.2 SRV", "_https._tcp.web.default.svc.cluster.local", "SRV", "100 443 web.default.svc.cluster.local"],
    [
      "2.3.2 SRV over UDP",
      "_stats._udp.web.default.svc.cluster.local",
      "SRV",
      "100 8125 web.default.svc.cluster.local",
    ],
    ["2.3.3 PTR", "1.0.3.10.in-addr.arpa", "PTR", "web.default.svc.cluster.local"],
    ["2.3.3 PTR of IPv6", `1.${"0.".repeat(27)}0.0.d.f.ip6.arpa`, "PTR", "web.default.svc.cluster.local"],
    ["2.4.1 A of a headless service", "db.default.svc.cluster.local", "A", "10.3.0.100, 10.3.0.101"],
    ["2.4.1 AAAA of a headless service", "db.default.svc.cluster.local", "AAAA", "fd00::5"],
    ["2.4.1 nobody is ready", "idle.default.svc.cluster.local", "A", "no-such-name"],
    ["2.4.1 not ready, and published", "early.default.svc.cluster.local", "A", "10.3.0.104"],
    ["2.4.1 by host name", "my-pet.db.default.svc.cluster.local", "A", "10.3.0.100"],
    ["2.4.1 by host name, IPv6", "my-pet.db.default.svc.cluster.local", "AAAA", "fd00::5"],
    ["2.4.1 without a host name", "10-3-0-101.db.default.svc.cluster.local", "A", "10.3.0.101"],
    [
      "2.4.2 SRV of a headless service",
      "_https._tcp.db.default.svc.cluster.local",
      "SRV",
      "50 8443 10-3-0-101.db.default.svc.cluster.local, 50 8443 my-pet.db.default.svc.cluster.local",
    ],
    ["2.4.3 PTR of an endpoint", "100.0.3.10.in-addr.arpa", "PTR", "my-pet.db.default.svc.cluster.local"],
    ["2.5 external name", "out.default.svc.cluster.local", "A", "alias www.example.com"],
    ["2.5 external name, CNAME", "out.default.svc.cluster.local", "CNAME", "alias www.example.com"],
    ["2.5 external name that is an address", "fixed.default.svc.cluster.local", "A", "192.0.2.53"],
    ["2.6 pod", "10-64-0-7.default.pod.cluster.local", "A", "10.64.0.7"],
    ["2.6 pod, IPv6", "fd00--7.default.pod.cluster.local", "AAAA", "fd00::7"],
  ])("%s: %s %s", (_, name, type, expected) => {
    expect(ask(name, type)).toBe(expected);
  });
});

describe("denials", () => {
  it.each<[string, keyof typeof RECORD_TYPES, string]>([
    ["cluster.local", "A", "nothing"],
    ["cluster.local", "SOA", "SOA"],
    ["cluster.local", "NS", "ns.dns.cluster.local"],
    ["ns.dns.cluster.local", "A", "10.3.0.10"],
    ["svc.cluster.local", "A", "nothing"],
    ["pod.cluster.local", "A", "nothing"],
    ["default.svc.cluster.local", "A", "nothing"],
    ["absent.svc.cluster.local", "A", "no-such-name"],
    ["default.pod.cluster.local", "A", "nothing"],
    ["10-64-0-7.absent.pod.cluster.local", "A", "no-such-name"],
    ["10-64-0.default.pod.cluster.local", "A", "no-such-name"],
    ["x.10-64-0-7.default.pod.cluster.local", "A", "no-such-name"],
    ["web.default.svc.cluster.local", "TXT", "nothing"],
    ["web.default.svc.cluster.local", "CNAME", "nothing"],
    ["absent.default.svc.cluster.local", "A", "no-such-name"],
    ["nobody.db.default.svc.cluster.local", "A", "no-such-name"],
    ["10-3-0-102.db.default.svc.cluster.local", "A", "no-such-name"],
    ["_tcp.web.default.svc.cluster.local", "SRV", "nothing"],
    ["_sctp.web.default.svc.cluster.local", "SRV", "no-such-name"],
    ["_http._tcp.web.default.svc.cluster.local", "SRV", "no-such-name"],
    ["_https._udp.web.default.svc.cluster.local", "SRV", "no-such-name"],
    ["_https._tcp.web.default.svc.cluster.local", "A", "nothing"],
    ["x._https._tcp.web.default.svc.cluster.local", "SRV", "no-such-name"],
    ["x.out.default.svc.cluster.local", "A", "no-such-name"],
    ["dns-version.cluster.local", "A", "nothing"],
    ["absent.cluster.local", "A", "no-such-name"],
    // With a search path, these are asked before the name that was meant.
    ["www.example.com.default.svc.cluster.local", "A", "no-such-name"],
    ["www.example.com.svc.cluster.local", "A", "no-such-name"],
    ["www.example.com.cluster.local", "A", "no-such-name"],
    ["www.example.com", "A", "elsewhere"],
    ["notcluster.local", "A", "elsewhere"],
    ["200.0.3.10.in-addr.arpa", "PTR", "elsewhere"],
    ["1.0.3.10.in-addr.arpa", "A", "nothing"],
    ["3.10.in-addr.arpa", "PTR", "elsewhere"],
    ["", "NS", "elsewhere"],
  ])("%s %s: %s", (name, type, expected) => {
    expect(ask(name, type)).toBe(expected);
  });
});

describe("changes", () => {
  it("follow services, slices and namespaces as they come and go", () => {
    const zone = createZone();
    const [web] = SERVICES;
    const [first] = SLICES;
    if (web === undefined || first === undefined) throw new Error("the fixtures are empty");
    zone.names.changeServices([{ type: "DELETED", object: web, previous: web }]);
    expect(ask("web.default.svc.cluster.local", "A", zone)).toBe("no-such-name");
    expect(ask("1.0.3.10.in-addr.arpa", "PTR", zone)).toBe("elsewhere");
    const moved = { ...first, metadata: { ...first.metadata, labels: { "kubernetes.io/service-name": "idle" } } };
    zone.names.changeSlices([{ type: "MODIFIED", object: moved, previous: first }]);
    expect(ask("db.default.svc.cluster.local", "A", zone)).toBe("nothing");
    expect(ask("idle.default.svc.cluster.local", "A", zone)).toBe("10.3.0.100, 10.3.0.101");
    expect(ask("100.0.3.10.in-addr.arpa", "PTR", zone)).toBe("my-pet.idle.default.svc.cluster.local");
    zone.names.changeSlices([{ type: "DELETED", object: moved, previous: moved }]);
    expect(ask("100.0.3.10.in-addr.arpa", "PTR", zone)).toBe("elsewhere");
    const other = { metadata: { name: "other" } };
    zone.names.changeNamespaces([{ type: "DELETED", object: other, previous: other }]);
    expect(ask("other.svc.cluster.local", "A", zone)).toBe("no-such-name");
  });

  it("count an address once while it moves from slice to slice", () => {
    const zone = createZone();
    const [first] = SLICES;
    if (first === undefined) throw new Error("the fixtures are empty");
    zone.names.changeSlices(added([{ ...first, metadata: { ...first.metadata, name: "db-3" } }]));
    expect(ask("db.default.svc.cluster.local", "A", zone)).toBe("10.3.0.100, 10.3.0.101");
  });
});
