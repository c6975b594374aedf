import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { HTTPIngressPath, IngressClassSpec, IngressSpec, NetworkPolicySpec } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { NETWORKING_KINDS } from "./networking-kinds.ts";

const [ingressKind, CLASSES, POLICIES] = NETWORKING_KINDS;
const objectOf = (kind: string, spec: object, metadata: object = {}): KubeObject => {
  return { apiVersion: "networking.k8s.io/v1", kind, metadata: { name: "x", ...metadata }, spec };
};
const create = (row: ResourceKind | undefined, object: KubeObject) => row?.strategy.default?.(object) ?? object;
const refusals = (row: ResourceKind | undefined, object: KubeObject) => {
  return (row?.strategy.validate?.(create(row, object)) ?? []).map(formatFieldError);
};

describe("networking.k8s.io", () => {
  it("is served as upstream serves it", () => {
    const rows = NETWORKING_KINDS.map(({ plural, shortNames, namespaced, subresources, strategy }) => {
      return [plural, shortNames.join(), namespaced, subresources.map(({ name }) => name).join(), strategy.generation];
    });
    expect(rows).toEqual([
      ["ingresses", "ing", true, "status", true],
      ["ingressclasses", "", false, "", true],
      ["networkpolicies", "netpol", true, "", true],
      ["ipaddresses", "ip", false, "", undefined],
      ["servicecidrs", "", false, "status", undefined],
    ]);
  });
});

const backend = { service: { name: "web", port: { number: 80 } } };
const ingressAt = (path: HTTPIngressPath): IngressSpec => ({
  rules: [{ host: "a.example.com", http: { paths: [path] } }],
});
const AT = "spec.rules[0].http.paths[0]";
const WILDCARD_RULE =
  /^spec\.rules\[0\]\.host: Invalid value: "\*\.\*\.com": a wildcard DNS-1123 subdomain must start with '\*\.'/;

describe("an ingress", () => {
  it.each<[string, IngressSpec, unknown[]]>([
    ["sends all traffic to one place", { defaultBackend: backend }, []],
    ["sends it by host and path", ingressAt({ path: "/a", pathType: "Prefix", backend }), []],
    ["leaves a path's meaning to its controller", ingressAt({ pathType: "ImplementationSpecific", backend }), []],
    ["sends it somewhere", {}, ["spec: Invalid value: []: either `defaultBackend` or `rules` must be specified"]],
    [
      "says how paths match",
      ingressAt({ path: "/", pathType: "", backend }),
      [`${AT}.pathType: Required value: pathType must be specified`],
    ],
    [
      "has paths that cannot be read in two ways",
      ingressAt({ path: "a//b/..", pathType: "Exact", backend }),
      [
        `${AT}.path: Invalid value: "a//b/..": must be an absolute path`,
        `${AT}.path: Invalid value: "a//b/..": must not contain '//'`,
        `${AT}.path: Invalid value: "a//b/..": cannot end with '/..'`,
      ],
    ],
    [
      "names a service's port once",
      { defaultBackend: { service: { name: "web", port: { number: 80, name: "http" } } } },
      ['spec.defaultBackend: Invalid value: "": cannot set both port name & port number'],
    ],
    [
      "names a service's port",
      { defaultBackend: { service: { name: "web" } } },
      ["spec.defaultBackend: Required value: port name or number is required"],
    ],
    [
      "has one kind of backend",
      { defaultBackend: { ...backend, resource: { kind: "Bucket", name: "b" } } },
      ['spec.defaultBackend: Invalid value: "": cannot set both resource and service backends'],
    ],
    [
      "has hosts by name",
      { rules: [{ host: "10.0.0.1" }] },
      ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    ],
    ["has one star at most", { rules: [{ host: "*.*.com" }] }, [expect.stringMatching(WILDCARD_RULE)]],
    ["has a star for a whole label", { rules: [{ host: "*.example.com" }], tls: [{ hosts: ["*.example.com"] }] }, []],
  ])("%s", (_name, spec, errors) => {
    expect(refusals(ingressKind, objectOf("Ingress", spec))).toEqual(errors);
  });

  it("names its class in one way, or in both the same, when it is new", () => {
    const annotations = { "kubernetes.io/ingress.class": "nginx" };
    const spec = { defaultBackend: backend, ingressClassName: "haproxy" };
    const fresh = objectOf("Ingress", spec, { annotations });
    expect(refusals(ingressKind, fresh)).toEqual([
      'annotations.kubernetes.io/ingress.class: Invalid value: "nginx": must match `ingressClassName` when both are specified',
    ]);
    expect(refusals(ingressKind, objectOf("Ingress", spec, { annotations, resourceVersion: "3" }))).toEqual([]);
    expect(ingressKind?.strategy.warnings?.(fresh)).toEqual([
      "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead",
    ]);
  });
});

describe("an ingress class", () => {
  const controller = "example.com/lb";
  it.each<[string, IngressClassSpec, string[]]>([
    ["has a controller", {}, ["spec.controller: Required value"]],
    [
      "has a controller of somebody's",
      { controller: "lb" },
      ['spec.controller: Invalid value: "lb": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    ["has parameters of the whole cluster", { controller, parameters: { kind: "Params", name: "p" } }, []],
    [
      "has parameters of a namespace that is named",
      { controller, parameters: { kind: "Params", name: "p", scope: "Namespace" } },
      ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
    ],
    [
      "has parameters of the cluster or of a namespace",
      { controller, parameters: { kind: "Params", name: "p", scope: "Cluster", namespace: "a" } },
      ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(refusals(CLASSES, objectOf("IngressClass", spec))).toEqual(errors);
  });

  it("stays with its controller", () => {
    const [current, next] = [controller, "example.com/other"].map((name) =>
      objectOf("IngressClass", { controller: name }),
    );
    if (current === undefined || next === undefined) throw new Error("two classes were made");
    expect((CLASSES?.strategy.validateUpdate?.(next, current) ?? []).map(formatFieldError)).toEqual([
      'spec.controller: Invalid value: "example.com/other": field is immutable',
    ]);
  });
});

describe("a network policy", () => {
  it.each<[string, NetworkPolicySpec, object]>([
    ["is about what comes in", {}, { policyTypes: ["Ingress"] }],
    ["is about both when it has rules for what goes out", { egress: [{}] }, { policyTypes: ["Ingress", "Egress"] }],
    ["is about what its author says", { policyTypes: ["Egress"] }, { policyTypes: ["Egress"] }],
    ["means TCP", { ingress: [{ ports: [{ port: 80 }] }] }, { ingress: [{ ports: [{ port: 80, protocol: "TCP" }] }] }],
  ])("%s", (_name, spec, expected) => {
    expect(create(POLICIES, objectOf("NetworkPolicy", spec))["spec"]).toMatchObject(expected);
  });

  const ports = "spec.ingress[0].ports[0]";
  const from = "spec.egress[0].to[0]";
  const block = (cidr: string, ...except: string[]) => ({ egress: [{ to: [{ ipBlock: { cidr, except } }] }] });
  it.each<[string, NetworkPolicySpec, string[]]>([
    ["takes a range of ports", { ingress: [{ ports: [{ port: 80, endPort: 90 }] }] }, []],
    [
      "takes no range from a name",
      { ingress: [{ ports: [{ port: "http", endPort: 90 }] }] },
      [`${ports}.endPort: Invalid value: 90: may not be specified when \`port\` is non-numeric`],
    ],
    [
      "takes no range from nowhere",
      { ingress: [{ ports: [{ endPort: 90 }] }] },
      [`${ports}.endPort: Invalid value: 90: may not be specified when \`port\` is not specified`],
    ],
    [
      "has ports that there are",
      { ingress: [{ ports: [{ port: 70000 }] }] },
      [`${ports}.port: Invalid value: 70000: must be between 1 and 65535, inclusive`],
    ],
    ["names its peers", { egress: [{ to: [{}] }] }, [`${from}: Required value: must specify a peer`]],
    ["takes a range of addresses without a part of it", block("10.0.0.0/8", "10.1.0.0/16"), []],
    [
      "leaves out only what is inside",
      block("10.0.0.0/8", "10.0.0.0/8", "11.0.0.0/16"),
      [
        `${from}.ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``,
        `${from}.ipBlock.except[1]: Invalid value: "11.0.0.0/16": must be a strict subset of \`cidr\``,
      ],
    ],
    [
      "tells addresses from pods",
      { egress: [{ to: [{ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }] }] },
      [`${from}: Forbidden: may not specify both ipBlock and another peer`],
    ],
    [
      "has types that there are",
      { policyTypes: ["Inward"] },
      ['spec.policyTypes[0]: Unsupported value: "Inward": supported values: "Ingress", "Egress"'],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(refusals(POLICIES, objectOf("NetworkPolicy", spec))).toEqual(errors);
  });
});
