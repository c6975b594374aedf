import { describe, expect, it } from "vitest";
import type { Service, ServiceSpec } from "../../../api/gen/types.ts";
import { computeServiceVariables } from "./service-variables.ts";

const makeService = (namespace: string, name: string, spec: ServiceSpec): Service => ({
  metadata: { namespace, name },
  spec,
});
const API = makeService("default", "kubernetes", { clusterIP: "10.96.0.1", ports: [{ name: "https", port: 443 }] });
const WEB = makeService("ns", "my-web", {
  clusterIP: "10.96.0.50",
  ports: [
    { name: "http-alt", port: 80, protocol: "TCP" },
    { name: "dns", port: 53, protocol: "UDP" },
  ],
});

function compute(services: readonly Service[], { namespace = "ns", links = true } = {}) {
  const source = { list: (wanted: string) => services.filter(({ metadata }) => metadata?.namespace === wanted) };
  return computeServiceVariables(source, namespace, links).map(({ name, value }) => `${name}=${value}`);
}
const hosts = (services: readonly Service[], options: Parameters<typeof compute>[1] = {}) =>
  compute(services, options).filter((variable) => variable.includes("_SERVICE_HOST="));

describe("computeServiceVariables", () => {
  it("computes those of a service once, however many pods start", () => {
    let looks = 0;
    const service = makeService("ns", "web", {
      clusterIP: "10.96.0.9",
      get ports() {
        looks++;
        return [{ name: "http", port: 80 }];
      },
    });
    const first = compute([API, service]);
    expect(compute([API, service])).toEqual(first);
    expect(looks).toBe(1);
    expect(compute([API, { ...service, spec: { ...service.spec, clusterIP: "10.96.0.8" } }])).not.toEqual(first);
  });

  it("leaves services out beyond what an environment may have", () => {
    const ports = Array.from({ length: 5_000 }, (_, index) => ({ name: `p${index}`, port: index + 1 }));
    const many = ["a", "b", "c"].map((name) => makeService("ns", name, { clusterIP: "10.96.0.9", ports }));
    const names = new Set(compute(many).map((variable) => variable.slice(0, 1)));
    expect(names).toEqual(new Set(["A", "B"]));
  });

  it("names address and ports, in Kubernetes' way and in Docker's", () => {
    expect(compute([WEB])).toEqual([
      "MY_WEB_SERVICE_HOST=10.96.0.50",
      "MY_WEB_SERVICE_PORT=80",
      "MY_WEB_SERVICE_PORT_HTTP_ALT=80",
      "MY_WEB_SERVICE_PORT_DNS=53",
      "MY_WEB_PORT=tcp://10.96.0.50:80",
      "MY_WEB_PORT_80_TCP=tcp://10.96.0.50:80",
      "MY_WEB_PORT_80_TCP_PROTO=tcp",
      "MY_WEB_PORT_80_TCP_PORT=80",
      "MY_WEB_PORT_80_TCP_ADDR=10.96.0.50",
      "MY_WEB_PORT_53_UDP=udp://10.96.0.50:53",
      "MY_WEB_PORT_53_UDP_PROTO=udp",
      "MY_WEB_PORT_53_UDP_PORT=53",
      "MY_WEB_PORT_53_UDP_ADDR=10.96.0.50",
    ]);
  });

  it("puts brackets around an IPv6 address, but not where it stands alone", () => {
    const variables = compute([makeService("ns", "six", { clusterIP: "fd00::1", ports: [{ port: 80 }] })]);
    expect(variables).toEqual([
      "SIX_SERVICE_HOST=fd00::1",
      "SIX_SERVICE_PORT=80",
      "SIX_PORT=tcp://[fd00::1]:80",
      "SIX_PORT_80_TCP=tcp://[fd00::1]:80",
      "SIX_PORT_80_TCP_PROTO=tcp",
      "SIX_PORT_80_TCP_PORT=80",
      "SIX_PORT_80_TCP_ADDR=fd00::1",
    ]);
  });

  const ownApi = makeService("ns", "kubernetes", { clusterIP: "10.96.0.9", ports: [{ port: 1 }] });
  const other = makeService("default", "other", { clusterIP: "10.96.0.8", ports: [{ port: 1 }] });
  it.each<{ why: string; services: Service[]; options?: Parameters<typeof compute>[1]; expected: string[] }>([
    {
      why: "the API server for every pod, others of its own namespace only",
      services: [WEB, other, API],
      expected: ["KUBERNETES_SERVICE_HOST=10.96.0.1", "MY_WEB_SERVICE_HOST=10.96.0.50"],
    },
    {
      why: "only the API server without service links",
      services: [WEB, other, API, ownApi],
      options: { links: false },
      expected: ["KUBERNETES_SERVICE_HOST=10.96.0.1"],
    },
    {
      why: "in the default namespace each once",
      services: [other, API],
      options: { namespace: "default" },
      expected: ["KUBERNETES_SERVICE_HOST=10.96.0.1", "OTHER_SERVICE_HOST=10.96.0.8"],
    },
    {
      why: "a pod's own `kubernetes` in the place of the API server",
      services: [ownApi, API],
      expected: ["KUBERNETES_SERVICE_HOST=10.96.0.9"],
    },
    {
      why: "none that has no address",
      services: [
        makeService("ns", "headless", { clusterIP: "None", ports: [{ port: 1 }] }),
        makeService("ns", "alias", { type: "ExternalName", externalName: "example.org" }),
        makeService("ns", "pending", { clusterIP: "", ports: [{ port: 1 }] }),
        makeService("ns", "portless", { clusterIP: "10.96.0.7" }),
      ],
      expected: [],
    },
  ])("shows $why", ({ services, options, expected }) => {
    expect(hosts(services, options)).toEqual(expected);
  });
});
