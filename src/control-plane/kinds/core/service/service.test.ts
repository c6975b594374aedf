import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../../api/field-error.ts";
import type { ServiceSpec, ServiceStatus } from "../../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../../api/object.ts";
import { serviceKind } from "./service.ts";

const { strategy } = serviceKind;
const raw = (spec: ServiceSpec, status?: ServiceStatus): KubeObject =>
  untyped({ apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec, ...(status && { status }) });
const service = (spec: ServiceSpec, status?: ServiceStatus) =>
  strategy.default?.(raw(spec, status)) ?? raw(spec, status);
const specOf = (object: KubeObject | undefined): ServiceSpec => typed("Service", object ?? raw({})).spec ?? {};
const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);

const WEB = { name: "web", port: 80 };
const ADDRESS: ServiceSpec = {
  clusterIP: "10.96.0.5",
  clusterIPs: ["10.96.0.5"],
  ipFamilies: ["IPv4"],
  ipFamilyPolicy: "SingleStack",
};

describe("a service by default", () => {
  it("has an address in the cluster and reaches the same port", () => {
    expect(specOf(service({ ports: [{ port: 80 }] }))).toEqual({
      sessionAffinity: "None",
      type: "ClusterIP",
      internalTrafficPolicy: "Cluster",
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
    });
  });

  it("of load balancers has node ports and takes traffic from everywhere", () => {
    expect(specOf(service({ type: "LoadBalancer", ports: [WEB] }))).toMatchObject({
      externalTrafficPolicy: "Cluster",
      allocateLoadBalancerNodePorts: true,
    });
  });

  it("keeps a client at one pod for three hours", () => {
    expect(specOf(service({ sessionAffinity: "ClientIP" })).sessionAffinityConfig).toEqual({
      clientIP: { timeoutSeconds: 10_800 },
    });
  });

  it("of an external name has no traffic policy", () => {
    expect(specOf(service({ type: "ExternalName", externalName: "a.b" }))).not.toHaveProperty("internalTrafficPolicy");
  });

  it("is the same when it is defaulted twice", () => {
    const once = service({ type: "LoadBalancer", ports: [WEB] }, { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } });
    expect(strategy.default?.(once)).toEqual(once);
    expect(typed("Service", once).status?.loadBalancer?.ingress).toEqual([{ ip: "10.0.0.1", ipMode: "VIP" }]);
  });

  it("is created without a load balancer's status, and with its address in both fields", () => {
    const created = strategy.prepareCreate?.(
      service({ clusterIP: "None" }, { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } }),
    );
    expect(specOf(created)).toMatchObject({ clusterIP: "None", clusterIPs: ["None"] });
    expect(created?.["status"]).toEqual({ loadBalancer: {} });
  });
});

describe("a service", () => {
  it.each<[string, ServiceSpec, string[]]>([
    ["is fine with one port", { ports: [{ port: 80 }] }, []],
    ["needs a port", {}, ["spec.ports: Required value"]],
    ["without an address needs none", { clusterIP: "None", clusterIPs: ["None"] }, []],
    [
      "names its ports when there are several",
      { ports: [{ port: 80 }, { port: 81 }] },
      ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
    ],
    [
      "has every name and port once",
      { ports: [WEB, WEB] },
      ['spec.ports[1].name: Duplicate value: "web"', 'spec.ports[1]: Duplicate value: {"protocol":"TCP","port":80}'],
    ],
    [
      "has one port of two protocols",
      {
        ports: [
          { ...WEB, name: "a" },
          { ...WEB, name: "b", protocol: "UDP" },
        ],
      },
      [],
    ],
    [
      "has ports in range",
      { ports: [{ port: 70_000 }] },
      [
        "spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
        "spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
      ],
    ],
    [
      "is of a known type",
      { type: "Magic", ports: [WEB] },
      [
        'spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
    [
      "in the cluster has no node ports",
      { ports: [{ ...WEB, nodePort: 30_000 }] },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      "has every node port once",
      {
        type: "NodePort",
        ports: [
          { ...WEB, nodePort: 30_000 },
          { name: "b", port: 81, nodePort: 30_000 },
        ],
      },
      ["spec.ports[1].nodePort: Duplicate value: 30000"],
    ],
    [
      "of nodes has an address",
      { type: "NodePort", clusterIP: "None", clusterIPs: ["None"], ports: [WEB] },
      ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"],
    ],
    ["of an external name has that", { type: "ExternalName" }, ["spec.externalName: Required value"]],
    [
      "of an external name has nothing else",
      { type: "ExternalName", externalName: "a.b.", clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] },
      [
        "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
        "spec.ipFamilies: Forbidden: may not be set for ExternalName services",
      ],
    ],
    [
      "has good addresses",
      { clusterIP: "10.96.0", clusterIPs: ["10.96.0"], ports: [WEB] },
      ['spec.clusterIPs[0]: Invalid value: "10.96.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [
      "has the same address in both fields",
      { clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.2"], ports: [WEB] },
      ['spec.clusterIPs: Invalid value: ["10.96.0.2"]: first value must match `clusterIP`'],
    ],
    [
      "has addresses of its families",
      { clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1"], ipFamilies: ["IPv6"], ports: [WEB] },
      ['spec.clusterIPs[0]: Invalid value: "10.96.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`'],
    ],
    [
      "is reached at addresses of others",
      { externalIPs: ["127.0.0.1"], ports: [WEB] },
      ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ],
    [
      "in the cluster takes no traffic from outside",
      { externalTrafficPolicy: "Local", ports: [WEB] },
      ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
    ],
    [
      "keeps clients for a while only",
      { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 90_000 } }, ports: [WEB] },
      [
        "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 90000: must be greater than 0 and less than 86400",
      ],
    ],
    [
      "without a load balancer has no use for its sources",
      { loadBalancerSourceRanges: ["10.0.0.0/8"], ports: [WEB] },
      ["spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [
      "has good source ranges",
      { type: "LoadBalancer", loadBalancerSourceRanges: [" 10.0.0.0/8 ", "x"], ports: [WEB] },
      [
        'spec.LoadBalancerSourceRanges[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      "without a load balancer has no class of one",
      { loadBalancerClass: "a/b", ports: [WEB] },
      ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(show(strategy.validate?.(service(spec)))).toEqual(errors);
  });

  it.each([
    ["web", []],
    ["1web", []],
    ["a.b", ["must not contain dots"]],
  ])("may be called %s: %j", (name, problems) => {
    expect((strategy.checkName?.(name) ?? []).map((problem) => problem.slice(0, 29))).toEqual(problems);
  });
});

describe("an update of a service", () => {
  const update = (before: ServiceSpec, after: ServiceSpec) => {
    const current = service(before);
    const next = strategy.prepareUpdate?.(service(after), current) ?? service(after);
    return {
      spec: specOf(next),
      errors: show([...(strategy.validate?.(next) ?? []), ...(strategy.validateUpdate?.(next, current) ?? [])]),
    };
  };
  const NODE_PORT: ServiceSpec = {
    ...ADDRESS,
    type: "NodePort",
    ports: [{ ...WEB, protocol: "TCP", nodePort: 30_001 }],
  };

  it.each<[string, ServiceSpec]>([
    ["its node ports kept", { type: "NodePort" }],
    ["its node ports dropped", { type: "ClusterIP" }],
  ])("looks at each port that was there a few times at most, with %s", (_name, after) => {
    let looks = 0;
    const ports = Array.from({ length: 1_000 }, (_, index) => ({
      name: `p${index}`,
      port: index + 1,
      protocol: "TCP",
    }));
    const before = ports.map((entry, index) => ({
      ...entry,
      get nodePort() {
        looks++;
        return 30_000 + index;
      },
    }));
    const current = raw({ ...ADDRESS, type: "NodePort", ports: before });
    const given = after.type === "NodePort" ? ports : before;
    strategy.prepareUpdate?.(service({ ...after, ports: given }), current);
    expect(looks).toBeLessThan(10 * ports.length);
  });

  it("keeps the address and the node ports that it leaves out", () => {
    const { spec, errors } = update(NODE_PORT, { type: "NodePort", ports: [{ name: "new", port: 81 }, WEB] });
    expect(errors).toEqual([]);
    expect(spec).toMatchObject(ADDRESS);
    expect(spec.ports?.map(({ nodePort }) => nodePort)).toEqual([undefined, 30_001]);
  });

  it("of a client that knows one address keeps the list", () => {
    expect(update({ ...ADDRESS, ports: [WEB] }, { clusterIP: "10.96.0.5", ports: [WEB] })).toMatchObject({
      spec: ADDRESS,
      errors: [],
    });
  });

  it("may not change the address", () => {
    expect(update({ ...ADDRESS, ports: [WEB] }, { clusterIP: "10.96.0.6", ports: [WEB] }).errors).toEqual([
      'spec.clusterIPs[0]: Invalid value: ["10.96.0.6"]: may not change once set',
    ]);
  });

  it("to a type without them gives node ports up", () => {
    const { spec, errors } = update(NODE_PORT, { ...NODE_PORT, type: "ClusterIP", externalTrafficPolicy: "Cluster" });
    expect(errors).toEqual([]);
    expect(spec.ports).toEqual([{ ...WEB, protocol: "TCP", targetPort: 80 }]);
    expect(spec).not.toHaveProperty("externalTrafficPolicy");
  });

  it("to an external name gives the address up", () => {
    const { spec, errors } = update(
      { ...ADDRESS, ports: [WEB] },
      { ...ADDRESS, type: "ExternalName", externalName: "a.b" },
    );
    expect(errors).toEqual([]);
    expect(spec).not.toHaveProperty("clusterIP");
    expect(spec).not.toHaveProperty("ipFamilies");
  });

  it("may not change the class of a load balancer", () => {
    const balancer: ServiceSpec = { ...ADDRESS, type: "LoadBalancer", ports: [WEB] };
    expect(update(balancer, { ...balancer, loadBalancerClass: "a/b" }).errors).toEqual([
      'spec.loadBalancerClass: Invalid value: "a/b": may not change once set',
    ]);
  });
});

describe("the status of a service", () => {
  const validate = serviceKind.subresources.find(({ name }) => name === "status")?.validateUpdate;

  it.each<[string, string, ServiceStatus, string[]]>([
    [
      "has the addresses of a load balancer",
      "LoadBalancer",
      { loadBalancer: { ingress: [{ ip: "10.0.0.1", ipMode: "VIP" }] } },
      [],
    ],
    [
      "has none without one",
      "ClusterIP",
      { loadBalancer: { ingress: [{ ip: "10.0.0.1", ipMode: "VIP" }] } },
      ['status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is "LoadBalancer"'],
    ],
    [
      "says a mode of addresses only",
      "LoadBalancer",
      { loadBalancer: { ingress: [{ hostname: "a.b", ipMode: "VIP" }] } },
      ["status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not set"],
    ],
  ])("%s", (_name, type, status, errors) => {
    expect(show(validate?.(raw({ type }, status), raw({ type })))).toEqual(errors);
  });
});

describe("warnings of a service", () => {
  it("name what a headless one has no use for", () => {
    expect(strategy.warnings?.(raw({ clusterIP: "None", externalIPs: ["10.0.0.1"] }))).toEqual([
      "spec.externalIPs is ignored for headless services",
    ]);
  });
});
