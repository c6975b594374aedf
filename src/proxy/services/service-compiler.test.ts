import { describe, expect, it } from "vitest";
import type { EndpointSlice, Service } from "../../api/gen/types.ts";
import { silentLog } from "../../base/log.ts";
import type { RuleInput } from "../rules/rule-compiler.ts";
import { createRuleTable } from "../rules/rule-table.ts";
import { createServiceCompiler } from "./service-compiler.ts";

const OPTIONS = {
  nodeName: "n1",
  clusterCidrs: ["10.64.0.0/16"],
  serviceCidrs: ["10.96.0.0/16"],
  nodePortAddresses: [],
  masqueradeAll: false,
  masqueradeBit: 14,
};

function service(spec: Service["spec"] = {}, status: Service["status"] = {}): Service {
  return {
    metadata: { name: "web", namespace: "a" },
    spec: { clusterIP: "10.96.0.9", clusterIPs: ["10.96.0.9"], ports: [{ port: 80, protocol: "TCP" }], ...spec },
    status,
  };
}

type Conditions = NonNullable<EndpointSlice["endpoints"]>[number]["conditions"];

function slice(...endpoints: Array<[ip: string, nodeName?: string, conditions?: Conditions]>): EndpointSlice {
  return {
    metadata: { name: "web-1", namespace: "a", labels: { "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    ports: [{ name: "", port: 8080, protocol: "TCP" }],
    endpoints: endpoints.map(([ip, nodeName = "n1", conditions = { ready: true }]) => {
      return { addresses: [ip], nodeName, conditions };
    }),
  };
}

/** The statements for the service, without those that are there for every service and without the hash in names. */
function compile(...objects: Array<Service | EndpointSlice>): string[] {
  const compiler = createServiceCompiler(OPTIONS, silentLog);
  const table = createRuleTable("ip", "t");
  table.change(compiler.compile([]).fragments.ip);
  const inputs = objects.map((object) =>
    "addressType" in object
      ? { kind: "EndpointSlice" as const, change: { type: "ADDED" as const, object, previous: undefined } }
      : { kind: "Service" as const, change: { type: "ADDED" as const, object, previous: undefined } },
  );
  return table
    .change(compiler.compile(inputs).fragments.ip)
    .map((text) => text.replaceAll(/[0-9a-f]{10}-a\/web/g, "a/web"));
}

const rulesIn = (statements: readonly string[], chain: string) =>
  statements
    .filter((text) => text.startsWith(`add rule ip t ${chain} `))
    .map((text) => text.slice(`add rule ip t ${chain} `.length));
const elementsIn = (statements: readonly string[], set: string) =>
  statements
    .filter((text) => text.startsWith(`add element ip t ${set} `))
    .map((text) => text.slice(`add element ip t ${set} `.length));

it("looks at each port of a slice as often for thousands of ports as for one", () => {
  const looks = (count: number) => {
    let reads = 0;
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    const ports = numbers.map((port) => ({ name: `p${port}`, port, protocol: "TCP" }));
    const seen = ports.map(({ name, ...port }) => ({
      ...port,
      get name() {
        reads++;
        return name;
      },
    }));
    compile(service({ ports }), { ...slice(["10.64.0.2"]), ports: seen });
    return reads;
  };
  expect(looks(2_000)).toBe(2_000 * looks(1));
});

describe("a service with endpoints", () => {
  it("is an element that leads to a chain which chooses one of them", () => {
    const statements = compile(service(), slice(["10.64.0.2"], ["10.64.0.1"]));
    expect(elementsIn(statements, "service-ips")).toEqual(["{ 10.96.0.9 . tcp . 80 : goto cluster-a/web/tcp }"]);
    expect(rulesIn(statements, "cluster-a/web/tcp")).toEqual([
      "meta l4proto tcp dnat ip addr . port to numgen random mod 2 map @endpoints-cluster-a/web/tcp",
    ]);
    expect(elementsIn(statements, "endpoints-cluster-a/web/tcp")).toEqual([
      "{ 0 : 10.64.0.1 . 8080, 1 : 10.64.0.2 . 8080 }",
    ]);
    expect(elementsIn(statements, "hairpin-connections")).toEqual(["{ 10.64.0.1 . 10.64.0.1, 10.64.0.2 . 10.64.0.2 }"]);
  });

  it.each<[string, Array<[string, string?, Conditions?]>, string]>([
    ["the ready ones", [["10.64.0.1"], ["10.64.0.2", "n1", { ready: false }]], "10.64.0.1"],
    [
      "those that end and still serve, where none is ready",
      [
        ["10.64.0.1", "n1", { ready: false, serving: true, terminating: true }],
        ["10.64.0.2", "n1", { ready: false }],
      ],
      "10.64.0.1",
    ],
    ["those without a word on their readiness", [["10.64.0.1", "n1", {}]], "10.64.0.1"],
  ])("goes to %s", (_name, endpoints, ip) => {
    const statements = compile(service(), slice(...endpoints));
    expect(rulesIn(statements, "cluster-a/web/tcp")).toEqual([`meta l4proto tcp dnat to ${ip}:8080`]);
  });

  describe("goes to endpoints near this node", () => {
    type Hints = NonNullable<EndpointSlice["endpoints"]>[number]["hints"];
    const node = (zone?: string): RuleInput => {
      const labels = zone === undefined ? {} : { "topology.kubernetes.io/zone": zone };
      return {
        kind: "Node",
        change: { type: "ADDED", object: { metadata: { name: "n1", labels } }, previous: undefined },
      };
    };
    const zones = (...names: string[]): Hints => ({ forZones: names.map((name) => ({ name })) });
    const nodes = (...names: string[]): Hints => ({ forNodes: names.map((name) => ({ name })) });
    const hinted = (hints: readonly Hints[], conditions: readonly Conditions[] = []): EndpointSlice => {
      const addresses = hints.map((_, index): [string, string, Conditions] => {
        return [`10.64.0.${index + 1}`, "n2", conditions[index] ?? { ready: true }];
      });
      const bare = slice(...addresses);
      const endpoints = (bare.endpoints ?? []).map((endpoint, index) => {
        const hint = hints[index];
        return hint === undefined ? endpoint : { ...endpoint, hints: hint };
      });
      return { ...bare, endpoints };
    };
    const chosen = (inputs: readonly RuleInput[]) => {
      const compiler = createServiceCompiler(OPTIONS, silentLog);
      const table = createRuleTable("ip", "t");
      for (const input of inputs) table.change(compiler.compile([input]).fragments.ip);
      const text = table.whole().filter((statement) => / dnat | endpoints-/.test(statement));
      return [...new Set(text.join().match(/10\.64\.0\.\d+/g) ?? [])];
    };
    const objects = (endpoints: EndpointSlice): RuleInput[] => [
      { kind: "Service", change: { type: "ADDED", object: service(), previous: undefined } },
      { kind: "EndpointSlice", change: { type: "ADDED", object: endpoints, previous: undefined } },
    ];

    it.each<[string, EndpointSlice, string[]]>([
      ["of its node", hinted([nodes("n1"), nodes("n2")]), ["10.64.0.1"]],
      ["of its zone", hinted([zones("z1", "z3"), zones("z2")]), ["10.64.0.1"]],
      [
        "of its node before its zone",
        hinted([
          { ...zones("z1"), ...nodes("n2") },
          { ...zones("z1"), ...nodes("n1") },
        ]),
        ["10.64.0.2"],
      ],
      ["of all zones, where none is near", hinted([zones("z2"), zones("z3")]), ["10.64.0.1", "10.64.0.2"]],
      ["of all, where a ready one has no hint", hinted([zones("z1"), undefined]), ["10.64.0.1", "10.64.0.2"]],
      [
        "without asking those that are not ready",
        hinted([zones("z1"), zones("z2"), undefined], [undefined, undefined, { ready: false }]),
        ["10.64.0.1"],
      ],
      [
        "or to those that end, where only such are left",
        hinted([zones("z2")], [{ ready: false, serving: true, terminating: true }]),
        ["10.64.0.1"],
      ],
    ])("%s", (_name, endpoints, addresses) => {
      expect(chosen([node("z1"), ...objects(endpoints)])).toEqual(addresses);
    });

    it("anew when the node's zone becomes known or goes", () => {
      const inputs = objects(hinted([zones("z1"), zones("z2")]));
      expect(chosen(inputs)).toEqual(["10.64.0.1", "10.64.0.2"]);
      expect(chosen([...inputs, node("z1")])).toEqual(["10.64.0.1"]);
      expect(chosen([...inputs, node("z1"), node()])).toEqual(["10.64.0.1", "10.64.0.2"]);
    });
  });

  it("answers at node ports and outside addresses, masqueraded", () => {
    const spec = { type: "LoadBalancer", externalIPs: ["192.0.2.1"], ports: [{ port: 80, nodePort: 30_080 }] };
    const statements = compile(
      service(spec, { loadBalancer: { ingress: [{ ip: "192.0.2.2" }] } }),
      slice(["10.64.0.1"]),
    );
    expect(elementsIn(statements, "service-nodeports")).toEqual(["{ tcp . 30080 : goto external-a/web/tcp }"]);
    expect(elementsIn(statements, "service-ips")[0]).toContain("192.0.2.1 . tcp . 80 : goto external-a/web/tcp");
    expect(elementsIn(statements, "service-ips")[0]).toContain("192.0.2.2 . tcp . 80 : goto external-a/web/tcp");
    expect(rulesIn(statements, "external-a/web/tcp")).toEqual(["jump mark-for-masquerade", "goto cluster-a/web/tcp"]);
  });

  it("of the policy Local keeps strangers to this node, and drops them where it has none", () => {
    const spec = { type: "NodePort", externalTrafficPolicy: "Local", ports: [{ port: 80, nodePort: 30_080 }] };
    const here = compile(service(spec), slice(["10.64.0.1"], ["10.64.1.1", "n2"]));
    expect(rulesIn(here, "external-a/web/tcp").at(-1)).toBe("goto local-a/web/tcp");
    expect(rulesIn(here, "local-a/web/tcp")).toEqual(["meta l4proto tcp dnat to 10.64.0.1:8080"]);
    const away = compile(service(spec), slice(["10.64.1.1", "n2"]));
    expect(elementsIn(away, "no-endpoint-nodeports")).toEqual(["{ tcp . 30080 : drop }"]);
    expect(rulesIn(away, "external-a/web/tcp")).toEqual([
      "ip saddr { 10.64.0.0/16 } goto cluster-a/web/tcp",
      "fib saddr type local jump mark-for-masquerade",
      "fib saddr type local goto cluster-a/web/tcp",
    ]);
  });

  it("of the internal policy Local keeps everybody to this node", () => {
    const statements = compile(service({ internalTrafficPolicy: "Local" }), slice(["10.64.1.1", "n2"]));
    expect(elementsIn(statements, "no-endpoint-services")).toEqual(["{ 10.96.0.9 . tcp . 80 : drop }"]);
    expect(elementsIn(statements, "service-ips")).toEqual([]);
  });

  it("keeps clients out that may not call its load balancer", () => {
    const spec = { type: "LoadBalancer", loadBalancerSourceRanges: ["198.51.100.0/24"] };
    const statements = compile(
      service(spec, { loadBalancer: { ingress: [{ ip: "192.0.2.2" }] } }),
      slice(["10.64.0.1"]),
    );
    expect(elementsIn(statements, "firewall-ips")).toEqual(["{ 192.0.2.2 . tcp . 80 : goto firewall-a/web/tcp }"]);
    expect(rulesIn(statements, "firewall-a/web/tcp")).toEqual(["ip saddr 198.51.100.0/24 return", "drop"]);
  });
});

describe("a service that leads nowhere", () => {
  it("refuses where nobody has endpoints", () => {
    expect(elementsIn(compile(service(), slice()), "no-endpoint-services")).toEqual([
      "{ 10.96.0.9 . tcp . 80 : goto reject-packet }",
    ]);
  });

  it.each<[string, Service]>([
    ["headless", service({ clusterIP: "None", clusterIPs: ["None"] })],
    ["only a name", service({ type: "ExternalName", externalName: "example.com" })],
    [
      "of another proxy",
      {
        ...service(),
        metadata: { name: "web", namespace: "a", labels: { "service.kubernetes.io/service-proxy-name": "x" } },
      },
    ],
  ])("has no rules when it is %s", (_name, object) => {
    expect(compile(object, slice(["10.64.0.1"]))).toEqual([]);
  });
});

describe("a change", () => {
  it("touches its service only, and takes everything of it away in the end", () => {
    const compiler = createServiceCompiler(OPTIONS, silentLog);
    const table = createRuleTable("ip", "t");
    const apply = (input: RuleInput) => table.change(compiler.compile([input]).fragments.ip);
    const one = slice(["10.64.0.1"]);
    const other = slice(["10.64.0.2"]);
    const modify = (object: EndpointSlice, previous: EndpointSlice) =>
      apply({ kind: "EndpointSlice", change: { type: "MODIFIED", object, previous } });
    apply({ kind: "Service", change: { type: "ADDED", object: service(), previous: undefined } });
    apply({ kind: "EndpointSlice", change: { type: "ADDED", object: one, previous: undefined } });
    const changed = modify(other, one);
    expect(changed.map((text) => text.replaceAll(/[0-9a-f]{10}-/g, ""))).toEqual([
      "flush chain ip t cluster-a/web/tcp",
      "delete element ip t hairpin-connections { 10.64.0.1 . 10.64.0.1 }",
      "add rule ip t cluster-a/web/tcp meta l4proto tcp dnat to 10.64.0.2:8080",
      "add element ip t hairpin-connections { 10.64.0.2 . 10.64.0.2 }",
    ]);
    expect(modify(other, other)).toEqual([]);
    apply({ kind: "EndpointSlice", change: { type: "DELETED", object: other, previous: other } });
    apply({ kind: "Service", change: { type: "DELETED", object: service(), previous: service() } });
    expect(table.whole().filter((text) => text.includes("10.96.0.9") || text.includes("10.64.0.2"))).toEqual([]);
  });

  it("of a UDP service tells which flows are stale", () => {
    const compiler = createServiceCompiler(OPTIONS, silentLog);
    const udp = service({ ports: [{ port: 53, protocol: "UDP" }] });
    const of = (ips: readonly string[], port = 53): EndpointSlice => ({
      ...slice(...ips.map((ip): [string] => [ip])),
      ports: [{ name: "", port, protocol: "UDP" }],
    });
    const flows = (object: EndpointSlice, previous: EndpointSlice) =>
      compiler.compile([{ kind: "EndpointSlice", change: { type: "MODIFIED", object, previous } }]).staleFlows;
    compiler.compile([{ kind: "Service", change: { type: "ADDED", object: udp, previous: undefined } }]);
    const flow = { family: "ip", protocol: "udp", destination: "10.96.0.9", port: 53 };
    expect(flows(of(["10.64.0.1"]), of([]))).toEqual([{ ...flow, endpoint: undefined }]);
    expect(flows(of(["10.64.0.2"]), of(["10.64.0.1"]))).toEqual([{ ...flow, endpoint: { ip: "10.64.0.1", port: 53 } }]);
    // The same pod, on another port.
    expect(flows(of(["10.64.0.2"], 5353), of(["10.64.0.2"]))).toEqual([
      { ...flow, endpoint: { ip: "10.64.0.2", port: 53 } },
    ]);
  });
});

describe("a service that wants the addresses of others (CVE-2020-8554)", () => {
  const ADDRESSES = ["10.96.0.1", "10.64.0.1", "192.0.2.1"];
  it.each([
    ["with endpoints", [slice(["10.64.0.2"])], "service-ips"],
    ["without endpoints, whose callers are refused", [], "no-endpoint-services"],
  ])("is called at none of pods and services: %s", (_name, slices, map) => {
    const ingress = ADDRESSES.map((ip) => ({ ip }));
    const spec = { type: "LoadBalancer", externalIPs: ADDRESSES };
    const elements = elementsIn(compile(service(spec, { loadBalancer: { ingress } }), ...slices), map);
    expect(elements.some((text) => text.includes("192.0.2.1 . tcp . 80"))).toBe(true);
    for (const address of ADDRESSES.slice(0, 2)) {
      expect(elements.filter((text) => text.includes(`${address} . `))).toEqual([]);
    }
  });

  it("is named in the log, once", () => {
    const said: unknown[] = [];
    const compiler = createServiceCompiler(OPTIONS, { warn: (_message, fields) => said.push(fields) });
    const object = service({ externalIPs: ADDRESSES });
    compiler.compile([{ kind: "Service", change: { type: "ADDED", object, previous: undefined } }]);
    compiler.compile([{ kind: "Service", change: { type: "MODIFIED", object, previous: object } }]);
    expect(said).toEqual([{ service: "a/web", addresses: ["10.96.0.1", "10.64.0.1"] }]);
  });
});
