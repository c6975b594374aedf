import { describe, expect, it } from "vitest";
import type { Namespace, NetworkPolicy, NetworkPolicySpec, Pod, PodSpec } from "../../api/gen/types.ts";
import type { RuleInput } from "../rules/rule-compiler.ts";
import { createRuleTable } from "../rules/rule-table.ts";
import { createPolicyCompiler } from "./policy-compiler.ts";

const pod = (
  name: string,
  ips: readonly string[],
  labels: Record<string, string> = {},
  more: Partial<PodSpec> = {},
): Pod => ({
  metadata: { name, namespace: name.startsWith("other") ? "other" : "default", labels },
  spec: { containers: [{ name: "main", ports: [{ name: "web", containerPort: 8080 }] }], ...more },
  status: { phase: "Running", podIPs: ips.map((ip) => ({ ip })) },
});
const policy = (spec: NetworkPolicySpec, name = "one"): NetworkPolicy => ({
  metadata: { name, namespace: "default" },
  spec,
});
const added = <Kind extends string, T>(kind: Kind, ...objects: T[]) =>
  objects.map((object) => ({ kind, change: { type: "ADDED", object, previous: undefined } }) as const);

const PLACE = { nodeName: "n1", podCidrs: ["10.64.0.0/16", "fd00::/64"] };
const PODS: readonly Pod[] = [
  pod("web", ["10.64.0.2", "fd00::2"], { app: "web" }),
  pod("db", ["10.64.0.3"], { app: "db" }),
  pod("other-web", ["10.64.0.4"], { app: "web" }),
  pod("host", ["192.0.2.1"], { app: "web" }, { hostNetwork: true }),
];
const NAMESPACES: readonly Namespace[] = [
  { metadata: { name: "default", labels: { team: "a" } } },
  { metadata: { name: "other", labels: { team: "b" } } },
];
const CLUSTER: readonly RuleInput[] = [...added("Namespace", ...NAMESPACES), ...added("Pod", ...PODS)];

/** The rules of the policy's chains, and the elements of its sets by the end of their names. */
function describePolicy(spec: NetworkPolicySpec) {
  const { fragments } = createPolicyCompiler(PLACE).compile([...CLUSTER, ...added("NetworkPolicy", policy(spec))]);
  const fragment = fragments.ip.get("policy default/one");
  const sets = new Map<string, string[]>();
  for (const [key, ofPod] of fragments.ip) {
    if (!key.startsWith("policy-pod ")) continue;
    for (const { set, key } of ofPod?.elements ?? []) sets.set(set, [...(sets.get(set) ?? []), key]);
  }
  const chains = new Map(
    (fragment?.chains ?? []).map(({ name, rules }) => [name.replace("policy-1-default-one-", ""), rules]),
  );
  return { chains: Object.fromEntries(chains), sets: Object.fromEntries(sets) };
}

const P = "policy-1-default-one";

describe("a policy", () => {
  it.each<[string, NetworkPolicySpec, Record<string, string[]>]>([
    ["that allows nothing", { podSelector: {} }, { ingress: [] }],
    ["of both ways", { podSelector: {}, policyTypes: ["Ingress", "Egress"] }, { ingress: [], egress: [] }],
    [
      "with rules for egress and no word of types",
      { podSelector: {}, egress: [{}] },
      { ingress: [], egress: ["accept"] },
    ],
    ["that allows everything", { podSelector: {}, ingress: [{}] }, { ingress: ["accept"] }],
    [
      "with ports",
      {
        podSelector: {},
        ingress: [{ ports: [{ port: 80 }, { protocol: "UDP", port: 90, endPort: 99 }, { protocol: "SCTP" }] }],
      },
      { ingress: ["tcp dport 80 accept", "udp dport 90-99 accept", "meta l4proto sctp accept"] },
    ],
    [
      "with blocks, of which this family's count",
      {
        podSelector: {},
        ingress: [
          {
            from: [
              { ipBlock: { cidr: "192.0.2.0/24", except: ["192.0.2.0/28", "192.0.2.64/28"] } },
              { ipBlock: { cidr: "2001:db8::/32" } },
            ],
            ports: [{ port: 80 }],
          },
        ],
      },
      { ingress: ["ip saddr { 192.0.2.16-192.0.2.63, 192.0.2.80-192.0.2.255 } tcp dport 80 accept"] },
    ],
    [
      "with ports and blocks that overlap or touch each other",
      {
        podSelector: {},
        ingress: [
          {
            from: ["10.0.0.0/8", "10.1.0.0/16", "11.0.0.0/8", "192.0.2.7/32", "192.0.2.9/30"].map((cidr) => ({
              ipBlock: { cidr },
            })),
            ports: [
              { port: 80 },
              { port: 82 },
              { port: 81 },
              { port: 8000, endPort: 8010 },
              { port: 8005, endPort: 9000 },
            ],
          },
        ],
      },
      { ingress: ["ip saddr { 10.0.0.0/7, 192.0.2.7-192.0.2.11 } tcp dport { 80-82, 8000-9000 } accept"] },
    ],
    [
      "with exceptions that overlap, and one that another block takes back",
      {
        podSelector: {},
        ingress: [
          {
            from: [
              {
                ipBlock: {
                  cidr: "0.0.0.0/0",
                  except: ["10.0.0.0/8", "10.0.0.0/16", "0.0.0.0/1", "255.255.255.255/32"],
                },
              },
              { ipBlock: { cidr: "10.0.0.9/32" } },
            ],
          },
        ],
      },
      { ingress: ["ip saddr { 10.0.0.9, 128.0.0.0-255.255.255.254 } accept"] },
    ],
    [
      "with a protocol as a whole and ports of it",
      { podSelector: {}, ingress: [{ ports: [{ port: 80 }, { protocol: "TCP" }, { protocol: "UDP", port: 53 }] }] },
      { ingress: ["meta l4proto tcp accept", "udp dport 53 accept"] },
    ],
    [
      "whose peers are all of the other family",
      { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "2001:db8::/32" } }] }] },
      { ingress: [] },
    ],
    [
      "of egress",
      { podSelector: {}, policyTypes: ["Egress"], egress: [{ to: [{ podSelector: {} }], ports: [{ port: "web" }] }] },
      {
        egress: [
          [
            `ip daddr . meta mark & 0x0 | 0x1 @${P}-egress-peers`,
            `ip daddr . meta l4proto . th dport . meta mark & 0x0 | 0x1 @${P}-egress-ports accept`,
          ].join(" "),
        ],
      },
    ],
  ])("%s", (_, spec, chains) => {
    expect(describePolicy(spec).chains).toEqual(chains);
  });

  it.each<[string, NetworkPolicySpec, Record<string, string[]>]>([
    [
      "the pods of its namespace that it selects, without those of the host network",
      { podSelector: { matchLabels: { app: "web" } } },
      {
        [`${P}-pods`]: ["10.64.0.2"],
        "policy-self": ["10.64.0.2 . 10.64.0.2"],
        "policy-isolated-ingress": ["10.64.0.2"],
      },
    ],
    [
      "peers of its own namespace",
      { podSelector: { matchLabels: { app: "none" } }, ingress: [{ from: [{ podSelector: {} }] }] },
      { [`${P}-ingress-peers`]: ["10.64.0.2 . 0x1", "10.64.0.3 . 0x1"] },
    ],
    [
      "peers of other namespaces",
      {
        podSelector: { matchLabels: { app: "none" } },
        ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: "b" } } }] }],
      },
      { [`${P}-ingress-peers`]: ["10.64.0.4 . 0x1"] },
    ],
    [
      "peers by both selectors",
      {
        podSelector: { matchLabels: { app: "none" } },
        ingress: [{ from: [{ namespaceSelector: {}, podSelector: { matchLabels: { app: "web" } } }] }],
      },
      { [`${P}-ingress-peers`]: ["10.64.0.2 . 0x1", "10.64.0.4 . 0x1"] },
    ],
  ])("names %s in sets", (_, spec, sets) => {
    expect(describePolicy(spec).sets).toEqual(sets);
  });

  it.each(["ip", "ip6"] as const)("has as many rules of %s for thousands of ports and blocks as for one", (family) => {
    const numbers = Array.from({ length: 3_000 }, (_, index) => 2 * index + 1);
    const cidrs = numbers.map((number) => `10.${number >> 8}.${number & 255}.0/24`);
    const from = cidrs.flatMap((cidr) => [
      { ipBlock: { cidr } },
      { ipBlock: { cidr: `2001:db8:${cidr.split(".")[1]}::/48` } },
    ]);
    const spec = { podSelector: {}, ingress: [{ from, ports: numbers.map((port) => ({ port })) }] };
    const changes = [...CLUSTER, ...added("NetworkPolicy", policy(spec))];
    const { fragments } = createPolicyCompiler(PLACE).compile(changes);
    const rules = fragments[family].get("policy default/one")?.chains?.flatMap((chain) => chain.rules) ?? [];
    expect(rules).toHaveLength(1);
  });

  it("resolves named ports by the pods that are called", () => {
    const spec: NetworkPolicySpec = {
      podSelector: { matchLabels: { app: "db" } },
      ingress: [{ ports: [{ port: "web" }, { protocol: "UDP", port: "web" }] }],
    };
    expect(describePolicy(spec).sets[`${P}-ingress-ports`]).toEqual(["10.64.0.3 . tcp . 8080 . 0x1"]);
  });
});

describe("the table", () => {
  const start = () => {
    const compiler = createPolicyCompiler(PLACE);
    const table = createRuleTable("ip", "t");
    const change = (...changes: RuleInput[]) => table.change(compiler.compile(changes).fragments.ip);
    return { table, change };
  };

  it("has nothing of policies while there are none, and nothing left after the last", () => {
    const { table, change } = start();
    expect(change(...CLUSTER)).toEqual([]);
    const one = policy({ podSelector: {} });
    expect(change(...added("NetworkPolicy", one)).length).toBeGreaterThan(0);
    expect([...table.chains().keys()]).toContain("policy-forward-ingress");
    change({ kind: "NetworkPolicy", change: { type: "DELETED", object: one, previous: one } });
    expect([...table.chains().keys(), ...table.sets().keys()]).toEqual([]);
    expect(table.elementsOf("policy-self").count).toBe(0);
  });

  it("closes the ways past policies on the pods' bridge, and on no other", () => {
    const chainsOf = (podBridge?: string) => {
      const compiler = createPolicyCompiler({ ...PLACE, ...(podBridge !== undefined && { podBridge }) });
      const { fragments } = compiler.compile([...CLUSTER, ...added("NetworkPolicy", policy({ podSelector: {} }))]);
      const rulesOf = (family: "ip" | "ip6", chain: string) =>
        (fragments[family].get("policy")?.chains ?? []).find(({ name }) => name === chain)?.rules ?? [];
      return (["policy-forward-egress", "policy-input-egress"] as const).flatMap((chain) => [
        ...rulesOf("ip", chain),
        ...rulesOf("ip6", chain),
      ]);
    };
    const many = 'iifname "br0" fib daddr type { broadcast, multicast } drop';
    const own = ['iifname "br0" ip6 saddr fe80::/10 drop', 'iifname "br0" ip6 daddr { fe80::/10, ff00::/8 } drop'];
    expect(chainsOf("br0").filter((rule) => rule.includes("br0"))).toEqual([many, ...own, many, ...own]);
    expect(chainsOf().filter((rule) => rule.includes("iifname"))).toEqual([]);
  });

  it("changes in its sets alone when pods come and go, and not at all when nothing of them matters", () => {
    const { change } = start();
    change(
      ...CLUSTER,
      ...added("NetworkPolicy", policy({ podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] })),
    );
    const late = pod("late", ["10.64.0.9"]);
    const statements = change(...added("Pod", late));
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.filter((statement) => !statement.startsWith("add element "))).toEqual([]);
    const touched = { ...late, metadata: { ...late.metadata, annotations: { a: "b" } } };
    expect(change({ kind: "Pod", change: { type: "MODIFIED", object: touched, previous: late } })).toEqual([]);
    const ended: Pod = { ...late, status: { ...late.status, phase: "Succeeded" } };
    const removed = change({ kind: "Pod", change: { type: "MODIFIED", object: ended, previous: late } });
    expect(removed.filter((statement) => !statement.startsWith("delete element "))).toEqual([]);
  });

  it("has as many sets for thousands of rules as for one", () => {
    const { table, change } = start();
    const ingress = Array.from({ length: 3_000 }, (_, index) => {
      return {
        from: [{ podSelector: { matchLabels: { app: "web" } } }],
        ports: [{ port: index + 1 }, { port: "web" }],
      };
    });
    change(...CLUSTER, ...added("NetworkPolicy", policy({ podSelector: {}, ingress })));
    expect([...table.sets().keys()].filter((name) => name.startsWith(P))).toEqual([
      `${P}-pods`,
      `${P}-ingress-peers`,
      `${P}-ingress-ports`,
    ]);
    expect(table.elementsOf(`${P}-ingress-peers`).count).toBe(3_000);
  });

  it("looks at no pod again when another one changes", () => {
    const { change } = start();
    let looks = 0;
    const labels = {
      get app() {
        looks++;
        return "db";
      },
    };
    const ingress = [{ from: [{ podSelector: { matchLabels: { app: "web" } } }] }];
    change(
      ...added("Namespace", ...NAMESPACES),
      ...added("Pod", pod("db", ["10.64.0.3"], labels)),
      ...added("NetworkPolicy", policy({ podSelector: { matchLabels: { app: "db" } }, ingress })),
    );
    expect(looks).toBeGreaterThan(0);
    looks = 0;
    const statements = change(...added("Pod", pod("web", ["10.64.0.2"], { app: "web" })));
    expect(statements).toContain(`add element ip t ${P}-ingress-peers { 10.64.0.2 . 0x1 }`);
    expect(looks).toBe(0);
  });

  it("closes a pod of two policies until both are gone", () => {
    const { table, change } = start();
    const one = policy({ podSelector: {} });
    change(...CLUSTER, ...added("NetworkPolicy", one, policy({ podSelector: {} }, "two")));
    expect(table.elementsOf("policy-isolated-ingress").count).toBe(2);
    change({ kind: "NetworkPolicy", change: { type: "DELETED", object: one, previous: one } });
    expect(table.elementsOf("policy-isolated-ingress").count).toBe(2);
  });

  describe("while a pod starts on this node whose address nobody knows yet", () => {
    const starting = (
      name: string,
      more: Partial<PodSpec> = {},
      labels: Record<string, string> = { app: "late" },
    ): Pod => ({
      ...pod(name, [], labels, { nodeName: "n1", ...more }),
      status: { phase: "Pending" },
    });
    const closesLate = (spec: Partial<NetworkPolicySpec> = {}) =>
      policy({ podSelector: { matchLabels: { app: "late" } }, ...spec });
    const guards = (table: ReturnType<typeof start>["table"]) => {
      return ["ingress", "egress"].flatMap((way) => table.chains().get(`policy-unknown-${way}`)?.rules ?? []);
    };
    const CLOSED = "ip daddr { 10.64.0.0/16 } ip daddr != @policy-known-pods drop";

    it.each<[string, Pod, Partial<NetworkPolicySpec>, string[]]>([
      ["closes addresses of no known pod, where a policy is about it", starting("late"), {}, [CLOSED]],
      [
        "in the directions that its policies close",
        starting("late"),
        { policyTypes: ["Egress"] },
        ["ip saddr { 10.64.0.0/16 } ip saddr != @policy-known-pods drop"],
      ],
      ["closes nothing for a pod of no policy", starting("late", {}, {}), {}, []],
      ["closes nothing for a pod of another node", starting("late", { nodeName: "n2" }), {}, []],
      ["closes nothing for a pod of no node yet", starting("late", { nodeName: "" }), {}, []],
      ["closes nothing for a pod of the host network", starting("late", { hostNetwork: true }), {}, []],
    ])("%s", (_, late, spec, rules) => {
      const { table, change } = start();
      change(...CLUSTER, ...added("NetworkPolicy", closesLate(spec)), ...added("Pod", late));
      expect(guards(table)).toEqual(rules);
      expect(table.elementsOf("policy-known-pods").count).toBe(3);
    });

    it("opens them again in the transaction that closes the pod's own", () => {
      const { table, change } = start();
      const late = starting("late");
      change(...CLUSTER, ...added("NetworkPolicy", closesLate()), ...added("Pod", late));
      expect(guards(table)).toEqual([CLOSED]);
      const object: Pod = { ...late, status: { phase: "Pending", podIPs: [{ ip: "10.64.0.9" }] } };
      const statements = change({ kind: "Pod", change: { type: "MODIFIED", object, previous: late } });
      expect(guards(table)).toEqual([]);
      expect(statements).toContain("add element ip t policy-isolated-ingress { 10.64.0.9 }");
      expect(statements).toContain("add element ip t policy-known-pods { 10.64.0.9 }");
    });
  });
});
