import { describe, expect, it } from "vitest";
import type { EndpointSlice, Service } from "../../api/gen/types.ts";
import { silentLog } from "../../base/log.ts";
import type { RuleInput } from "../rules/rule-compiler.ts";
import { createRuleTable } from "../rules/rule-table.ts";
import { createServiceCompiler } from "./service-compiler.ts";

const OPTIONS = {
  nodeName: "n1",
  clusterCidrs: [],
  serviceCidrs: [],
  nodePortAddresses: [],
  masqueradeAll: false,
  masqueradeBit: 14,
};

const countedPorts = (count: number) => {
  return Array.from({ length: count }, (_, index) => ({ name: `p${index}`, port: index + 1, protocol: "TCP" }));
};

function serviceInput(spec: Service["spec"]): RuleInput {
  const object: Service = {
    metadata: { name: "web", namespace: "a" },
    spec: { clusterIP: "10.96.0.9", clusterIPs: ["10.96.0.9"], ...spec },
  };
  return { kind: "Service", change: { type: "ADDED", object, previous: undefined } };
}

function sliceInput(ips: readonly string[], ports: NonNullable<EndpointSlice["ports"]>): RuleInput {
  const object: EndpointSlice = {
    metadata: { name: "web-1", namespace: "a", labels: { "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    ports,
    endpoints: ips.map((ip) => ({ addresses: [ip], nodeName: "n1", conditions: { ready: true } })),
  };
  return { kind: "EndpointSlice", change: { type: "ADDED", object, previous: undefined } };
}

/** A table that takes in objects, one after the other, and says what it is. */
function createTable() {
  const compiler = createServiceCompiler(OPTIONS, silentLog);
  const table = createRuleTable("ip", "t");
  table.change(compiler.compile([]).fragments.ip);
  return {
    take(...inputs: RuleInput[]) {
      for (const input of inputs) table.change(compiler.compile([input]).fragments.ip);
      return table.whole().filter((text) => text.includes("web"));
    },
  };
}

describe.each([
  ["without affinity", {}, { maps: 20, clientSets: 0 }],
  ["with affinity", { sessionAffinity: "ClientIP" }, { maps: 0, clientSets: 1 }],
])("a service of many ports and endpoints %s", (_name, spec, { maps, clientSets }) => {
  const ports = countedPorts(20);
  const ips = Array.from({ length: 30 }, (_, index) => `10.64.0.${index + 1}`);
  const statements = createTable().take(serviceInput({ ...spec, ports }), sliceInput(ips, ports));

  it("has no more maps than ports, and one set for its clients", () => {
    expect(statements.filter((text) => text.startsWith("add map "))).toHaveLength(maps);
    expect(statements.filter((text) => text.startsWith("add set "))).toHaveLength(clientSets);
  });

  it("has no map within a rule, for which the kernel looks at the whole transaction", () => {
    const rules = statements.filter((text) => text.startsWith("add rule "));
    expect(rules.filter((text) => / v?map \{/.test(text))).toEqual([]);
    expect(rules.filter((text) => / map @/.test(text))).toHaveLength(maps);
  });

  it("has nothing that nft of Debian 11 does not take: no map that leads from a chance to a verdict", () => {
    expect(statements.filter((text) => /typeof .*verdict/.test(text))).toEqual([]);
  });
});

describe("clients of a service with affinity", () => {
  const ports = [{ name: "", port: 80, protocol: "TCP" }];
  const sticky = (seconds: number) => {
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: seconds } };
    return serviceInput({ sessionAffinity: "ClientIP", sessionAffinityConfig, ports });
  };
  /** The numbers by which the clients of each endpoint are remembered, and looked up. */
  const numbersIn = (statements: readonly string[]) => {
    const found = new Map<string, string>();
    for (const text of statements) {
      const [, ip = "", number = ""] =
        / (?:endpoint-\S*\/([\d.]+)\/80) update @\S+ \{ .* \| (0x\w+) timeout/.exec(text) ?? [];
      if (ip !== "") found.set(ip, number);
    }
    return found;
  };

  it("are remembered for the time of the service, and looked up before anything is chosen", () => {
    const statements = createTable().take(sticky(60), sliceInput(["10.64.0.1", "10.64.0.2"], ports));
    const readable = statements
      .filter((text) => text.startsWith("add rule "))
      .map((text) => text.replaceAll(/[0-9a-f]{10}-/g, ""));
    expect(readable).toEqual([
      "add rule ip t endpoint-a/web/tcp/10.64.0.1/80 update @clients-a/web { ip saddr . meta mark & 0x0 | 0x1 timeout 60s }",
      "add rule ip t endpoint-a/web/tcp/10.64.0.1/80 meta l4proto tcp dnat to 10.64.0.1:80",
      "add rule ip t endpoint-a/web/tcp/10.64.0.2/80 update @clients-a/web { ip saddr . meta mark & 0x0 | 0x2 timeout 60s }",
      "add rule ip t endpoint-a/web/tcp/10.64.0.2/80 meta l4proto tcp dnat to 10.64.0.2:80",
      "add rule ip t cluster-a/web/tcp ip saddr . meta mark & 0x0 | 0x1 @clients-a/web goto endpoint-a/web/tcp/10.64.0.1/80",
      "add rule ip t cluster-a/web/tcp ip saddr . meta mark & 0x0 | 0x2 @clients-a/web goto endpoint-a/web/tcp/10.64.0.2/80",
      "add rule ip t cluster-a/web/tcp numgen random mod 2 0 goto endpoint-a/web/tcp/10.64.0.1/80",
      "add rule ip t cluster-a/web/tcp goto endpoint-a/web/tcp/10.64.0.2/80",
    ]);
  });

  it("stay with an endpoint while it is there, and choose anew where it was away", () => {
    const table = createTable();
    const both = numbersIn(table.take(sticky(60), sliceInput(["10.64.0.1", "10.64.0.2"], ports)));
    const one = numbersIn(table.take(sliceInput(["10.64.0.2"], ports)));
    const again = numbersIn(table.take(sliceInput(["10.64.0.1", "10.64.0.2"], ports)));
    expect(one.get("10.64.0.2")).toBe(both.get("10.64.0.2"));
    expect(again.get("10.64.0.2")).toBe(both.get("10.64.0.2"));
    expect([...both.values()]).not.toContain(again.get("10.64.0.1"));
  });

  it("choose anew when the time of the service changes", () => {
    const table = createTable();
    const before = numbersIn(table.take(sticky(60), sliceInput(["10.64.0.1", "10.64.0.2"], ports)));
    const after = numbersIn(table.take(sticky(90)));
    expect(after.size).toBe(2);
    for (const number of after.values()) expect([...before.values()]).not.toContain(number);
  });
});
