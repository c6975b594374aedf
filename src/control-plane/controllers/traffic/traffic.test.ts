import { beforeEach, describe, expect, it } from "vitest";
import type { EndpointSlice, Endpoints, Pod, Service } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import {
  type ControllerBench,
  createControllerBench,
  namespace,
} from "../../control-loop/__fixtures__/run-controllers.ts";
import { createEndpointsController } from "./endpoints-controller.ts";
import { createNodeLoadBalancer } from "./load-balancer.ts";
import { createEndpointSliceMirroring } from "./mirroring-controller.ts";
import { createEndpointSliceController } from "./slice-controller.ts";

const SLICES = "endpointslices.discovery.k8s.io";
const READY_SINCE = "2026-03-01T12:00:00Z";

let bench: ControllerBench;
beforeEach(async () => {
  bench = createControllerBench();
  await put("namespaces", namespace("a"));
});

function service(spec: Service["spec"] = {}, metadata: Service["metadata"] = {}): KubeObject {
  return untyped({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "a", uid: "service-uid", labels: { team: "x" }, ...metadata },
    spec: {
      selector: { app: "web" },
      clusterIP: "10.96.0.9",
      ipFamilies: ["IPv4"],
      ports: [{ name: "http", port: 80, targetPort: "web", protocol: "TCP" }],
      ...spec,
    },
  });
}

interface PodFields {
  ready?: boolean;
  port?: number;
  metadata?: Pod["metadata"];
  spec?: Partial<NonNullable<Pod["spec"]>>;
  status?: Pod["status"];
}

function pod(
  name: string,
  ip: string,
  { ready = true, port = 8080, metadata, spec, status }: PodFields = {},
): KubeObject {
  const container = { name: "c", image: "i", ports: [{ name: "web", containerPort: port, protocol: "TCP" }] };
  const condition = { type: "Ready", status: ready ? "True" : "False", lastTransitionTime: READY_SINCE };
  return untyped({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "a", uid: `uid-${name}`, labels: { app: "web" }, ...metadata },
    spec: { nodeName: "n1", containers: [container], ...spec },
    status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [condition], ...status },
  });
}

/** Writes an object as a user would, and lets the controllers finish. */
async function put(resource: string, object: KubeObject): Promise<void> {
  const { namespace: place = "", name = "" } = object.metadata;
  const current = bench.reader.get({ resource, namespace: place, name });
  if (current === undefined) await bench.create(resource, object);
  else {
    const { labels, ...metadata } = current.metadata;
    const next: KubeObject = {
      ...object,
      metadata: {
        ...metadata,
        ...object.metadata,
        resourceVersion: metadata.resourceVersion ?? "",
        uid: metadata.uid ?? "",
      },
    };
    const written = await bench.writer.update(resource, next);
    // Pods show their status through a subresource.
    if (resource === "pods") await bench.writer.update(resource, { ...next, metadata: written.metadata }, "status");
  }
  await bench.clock.advance(10);
}

async function remove(resource: string, name: string): Promise<void> {
  await bench.writer.remove({ resource, namespace: "a", name });
  await bench.clock.advance(10);
}

const slices = () => bench.reader.list(SLICES).map((object) => typed("EndpointSlice", object));
const addresses = ({ endpoints = [] }: EndpointSlice) => endpoints.map((endpoint) => endpoint.addresses[0]);
const endpoints = (): Endpoints | undefined => {
  const found = bench.reader.get({ resource: "endpoints", namespace: "a", name: "web" });
  return found && typed("Endpoints", found);
};

describe("endpoint slices", () => {
  beforeEach(() => void bench.start(createEndpointSliceController(bench.deps)));

  it("show the pods of a service as upstream's do", async () => {
    await put("services", service());
    await put("pods", pod("p1", "10.0.0.1"));
    expect(slices()).toMatchObject([
      {
        metadata: {
          generateName: "web-",
          labels: {
            team: "x",
            "kubernetes.io/service-name": "web",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
          },
          annotations: { "endpoints.kubernetes.io/last-change-trigger-time": READY_SINCE },
          ownerReferences: [{ kind: "Service", name: "web", uid: "service-uid", controller: true }],
        },
        addressType: "IPv4",
        ports: [{ name: "http", port: 8080, protocol: "TCP" }],
        endpoints: [
          {
            addresses: ["10.0.0.1"],
            conditions: { ready: true, serving: true, terminating: false },
            nodeName: "n1",
            targetRef: { kind: "Pod", namespace: "a", name: "p1", uid: "uid-p1" },
          },
        ],
      },
    ]);
  });

  it.each<[string | undefined, object]>([
    ["PreferClose", { hints: { forZones: [{ name: "z1" }] } }],
    ["PreferSameZone", { hints: { forZones: [{ name: "z1" }] } }],
    ["PreferSameNode", { hints: { forZones: [{ name: "z1" }], forNodes: [{ name: "n1" }] } }],
    [undefined, {}],
  ])("say of ready endpoints whom they are for where the distribution is %s", async (trafficDistribution, hints) => {
    const labels = { "topology.kubernetes.io/zone": "z1" };
    await put("nodes", untyped({ apiVersion: "v1", kind: "Node", metadata: { name: "n1", labels } }));
    await put("pods", pod("p1", "10.0.0.1"));
    await put("pods", pod("p2", "10.0.0.2", { ready: false }));
    await put("services", service(trafficDistribution === undefined ? {} : { trafficDistribution }));
    const found = slices().flatMap((slice) => slice.endpoints ?? []);
    const hinted = (ip: string) => found.find(({ addresses: [address] }) => address === ip)?.hints;
    expect({ p1: hinted("10.0.0.1"), p2: hinted("10.0.0.2") }).toEqual({
      p1: "hints" in hints ? hints.hints : undefined,
      p2: undefined,
    });
  });

  it("are there without endpoints, too", async () => {
    await put("services", service({ clusterIP: "None" }));
    expect(slices()).toMatchObject([
      { metadata: { labels: { "service.kubernetes.io/headless": "" } }, ports: [], endpoints: [] },
    ]);
  });

  it.each<[string, PodFields, Service["spec"], object]>([
    ["not ready", { ready: false }, {}, { ready: false, serving: false, terminating: false }],
    [
      "not ready and published all the same",
      { ready: false },
      { publishNotReadyAddresses: true },
      { ready: true, serving: false, terminating: false },
    ],
    [
      "terminating and serving",
      { metadata: { deletionTimestamp: READY_SINCE, finalizers: ["x/y"] } },
      {},
      { ready: false, serving: true, terminating: true },
    ],
  ])("tell of a pod that is %s", async (_name, fields, spec, conditions) => {
    await put("services", service(spec));
    await put("pods", pod("p1", "10.0.0.1", fields));
    expect(slices()[0]?.endpoints?.[0]?.conditions).toEqual(conditions);
  });

  it("leave out pods that have ended, have no address or are not selected", async () => {
    await put("services", service());
    await put("pods", pod("ended", "10.0.0.1", { status: { phase: "Succeeded", podIP: "10.0.0.1" } }));
    await put("pods", pod("waiting", "", { status: { phase: "Pending" } }));
    await put("pods", pod("other", "10.0.0.3", { metadata: { labels: { app: "db" } } }));
    expect(slices().flatMap(addresses)).toEqual([]);
  });

  it("hold at most a hundred endpoints, and an endpoint stays where it is", async () => {
    await put("services", service());
    for (let index = 0; index < 120; index++) await put("pods", pod(`p${index}`, `10.0.1.${index}`));
    expect(slices().map((slice) => slice.endpoints?.length)).toEqual([100, 20]);
    const before = slices().map(({ metadata }) => metadata?.resourceVersion);
    await put("pods", pod("p0", "10.0.1.0", { ready: false }));
    const after = slices().map(({ metadata }) => metadata?.resourceVersion);
    expect(after.filter((version, index) => version !== before[index])).toHaveLength(1);
  });

  it("are several where a named port differs from pod to pod", async () => {
    await put("services", service());
    await put("pods", pod("p1", "10.0.0.1"));
    await put("pods", pod("p2", "10.0.0.2", { port: 9090 }));
    expect(
      slices()
        .map((slice) => [slice.ports?.[0]?.port, addresses(slice)])
        .sort(),
    ).toEqual([
      [8080, ["10.0.0.1"]],
      [9090, ["10.0.0.2"]],
    ]);
  });

  it("name a pod's host where its subdomain is the service", async () => {
    await put("services", service({ clusterIP: "None" }));
    await put("pods", pod("p1", "10.0.0.1", { spec: { hostname: "one", subdomain: "web" } }));
    await put("pods", pod("p2", "10.0.0.2", { spec: { hostname: "two", subdomain: "db" } }));
    expect(slices()[0]?.endpoints?.map(({ hostname }) => hostname)).toEqual(["one", undefined]);
  });

  it("are of each family that the service has", async () => {
    await put("services", service({ ipFamilies: ["IPv4", "IPv6"] }));
    const podIPs = [{ ip: "10.0.0.1" }, { ip: "fd00::1" }];
    await put("pods", pod("p1", "10.0.0.1", { status: { phase: "Running", podIP: "10.0.0.1", podIPs } }));
    expect(slices().map((slice) => [slice.addressType, addresses(slice)])).toEqual([
      ["IPv4", ["10.0.0.1"]],
      ["IPv6", ["fd00::1"]],
    ]);
  });

  it("are put back when somebody deletes or edits them, and left alone without a selector", async () => {
    await put("services", service());
    await put("pods", pod("p1", "10.0.0.1"));
    const [slice] = bench.reader.list(SLICES);
    if (slice === undefined) throw new Error("there is no slice");
    await put(SLICES, { ...slice, endpoints: [] });
    expect(slices().flatMap(addresses)).toEqual(["10.0.0.1"]);
    await remove(SLICES, slice.metadata.name ?? "");
    expect(slices().flatMap(addresses)).toEqual(["10.0.0.1"]);
    const { selector: _, ...spec } = typed("Service", service()).spec ?? {};
    await put("services", { ...service(), spec });
    await put("pods", pod("p2", "10.0.0.2"));
    expect(slices().flatMap(addresses)).toEqual(["10.0.0.1"]);
  });
});

describe("Endpoints", () => {
  beforeEach(() => void bench.start(createEndpointsController(bench.deps)));

  it("have ready and other addresses apart", async () => {
    await put("services", service());
    await put("pods", pod("p1", "10.0.0.1"));
    await put("pods", pod("p2", "10.0.0.2", { ready: false }));
    expect(endpoints()).toMatchObject({
      metadata: { labels: { team: "x", "endpoints.kubernetes.io/managed-by": "endpoint-controller" } },
      subsets: [
        {
          addresses: [{ ip: "10.0.0.1", nodeName: "n1", targetRef: { name: "p1" } }],
          notReadyAddresses: [{ ip: "10.0.0.2" }],
          ports: [{ name: "http", port: 8080, protocol: "TCP" }],
        },
      ],
    });
  });

  it("are cut at a thousand addresses, and say so", async () => {
    await put("services", service());
    for (let index = 0; index < 1_002; index++) {
      await bench.create("pods", pod(`p${index}`, `10.1.${index >> 8}.${index & 255}`, { ready: index > 1 }));
    }
    await bench.clock.advance(10);
    const [subset] = endpoints()?.subsets ?? [];
    expect([subset?.addresses?.length, subset?.notReadyAddresses]).toEqual([1_000, undefined]);
    expect(endpoints()?.metadata?.annotations).toMatchObject({ "endpoints.kubernetes.io/over-capacity": "truncated" });
  });

  it("go with their service", async () => {
    await put("services", service());
    expect(endpoints()).toBeDefined();
    await remove("services", "web");
    expect(endpoints()).toBeUndefined();
  });
});

describe("mirrored slices", () => {
  const written = (metadata: Endpoints["metadata"] = {}): KubeObject =>
    untyped({
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name: "web", namespace: "a", ...metadata },
      subsets: [
        {
          addresses: [{ ip: "192.0.2.1" }],
          notReadyAddresses: [{ ip: "192.0.2.2" }],
          ports: [{ name: "db", port: 5432 }],
        },
      ],
    });
  const { selector: _, ...withoutSelector } = typed("Service", service()).spec ?? {};
  const unselecting: KubeObject = { ...service(), spec: withoutSelector };
  beforeEach(() => void bench.start(createEndpointSliceMirroring(bench.deps)));

  it("show what a user writes into Endpoints", async () => {
    await put("services", unselecting);
    await put("endpoints", written());
    expect(slices()).toMatchObject([
      {
        metadata: {
          labels: { "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io" },
          ownerReferences: [{ kind: "Endpoints", name: "web" }],
        },
        ports: [{ name: "db", port: 5432, protocol: "TCP" }],
        endpoints: [
          { addresses: ["192.0.2.1"], conditions: { ready: true } },
          { addresses: ["192.0.2.2"], conditions: { ready: false } },
        ],
      },
    ]);
  });

  it.each<[string, KubeObject, KubeObject]>([
    ["of a service with a selector", service(), written()],
    [
      "with the label that says so",
      unselecting,
      written({ labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } }),
    ],
    [
      "of another controller",
      unselecting,
      written({ labels: { "endpoints.kubernetes.io/managed-by": "endpoint-controller" } }),
    ],
  ])("do not show Endpoints %s", async (_name, of, object) => {
    await put("services", of);
    await put("endpoints", object);
    expect(slices()).toEqual([]);
  });

  it("go with the Endpoints", async () => {
    await put("services", unselecting);
    await put("endpoints", written());
    await remove("endpoints", "web");
    expect(slices()).toEqual([]);
  });
});

describe("a load balancer", () => {
  const balanced = (name: string, spec: Service["spec"] = {}) =>
    service({ type: "LoadBalancer", ...spec }, { name, uid: name, creationTimestamp: READY_SINCE });
  const ingress = (name: string) => {
    const found = bench.reader.get({ resource: "services", namespace: "a", name });
    return found && typed("Service", found).status?.loadBalancer?.ingress?.map(({ ip }) => ip);
  };
  const conditions = (name: string) => {
    const found = bench.reader.get({ resource: "services", namespace: "a", name });
    return found && (typed("Service", found).status?.conditions ?? []);
  };
  beforeEach(async () => {
    bench.start(createNodeLoadBalancer(bench.deps));
    const addresses = [
      { type: "InternalIP", address: "192.0.2.10" },
      { type: "Hostname", address: "n1" },
    ];
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n1" }, status: { addresses } };
    await put("nodes", untyped(node));
  });

  it("has the node's address, and loses it with its type", async () => {
    await put("services", balanced("one"));
    expect(ingress("one")).toEqual(["192.0.2.10"]);
    const [object] = bench.reader.list("services");
    await put("services", { ...balanced("one", { type: "ClusterIP" }), status: object?.["status"] });
    expect(ingress("one")).toBeUndefined();
  });

  it("waits while another one has its port, and is not ours where it has a class", async () => {
    await put("services", balanced("one"));
    await put("services", balanced("two"));
    await put("services", balanced("classy", { loadBalancerClass: "example.com/x", ports: [{ port: 81 }] }));
    expect([ingress("one"), ingress("two"), ingress("classy")]).toEqual([["192.0.2.10"], undefined, undefined]);
    const message = "the node's port TCP 80 belongs to the service a/one: it gets an address when that is gone";
    expect(conditions("two")).toMatchObject([{ type: "LoadBalancerPortsError", status: "True", message }]);
    expect(bench.reader.list("events")).toMatchObject([
      { involvedObject: { name: "two" }, type: "Warning", reason: "SyncLoadBalancerFailed", message, count: 1 },
    ]);
    await remove("services", "one");
    expect(ingress("two")).toEqual(["192.0.2.10"]);
    expect(conditions("two")).toEqual([]);
  });
});
