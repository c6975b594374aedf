import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../api/object.ts";
import { typed, untyped } from "../../../api/object.ts";
import { IP_ADDRESSES, ipAddressFor, SERVICE_RANGE_FINALIZER, SERVICE_RANGES } from "../../../api/service-addresses.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { createAddressRepair } from "./address-repair.ts";
import { createDefaultRangeKeeper, ensureDefaultRange } from "./default-range-keeper.ts";
import { createServiceRangeController } from "./service-range-controller.ts";

const GROUP = "networking.k8s.io/v1";
const service = (name: string, ...clusterIPs: string[]): KubeObject => {
  const metadata = { name, namespace: "a" };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { type: "ClusterIP", clusterIP: clusterIPs[0], clusterIPs },
  };
};
const addressOf = (name: string, ip: string) => untyped(ipAddressFor(typed("Service", service(name)), ip));
const range = (name: string, ...cidrs: string[]): KubeObject => {
  return { apiVersion: GROUP, kind: "ServiceCIDR", metadata: { name }, spec: { cidrs } };
};
type Bench = ReturnType<typeof createControllerBench>;
const rangeNamed = ({ reader }: Bench, name: string) => {
  return reader.get({ resource: SERVICE_RANGES, namespace: "", name });
};
const readyOf = (bench: Bench, name: string) => {
  const found = rangeNamed(bench, name);
  const [ready] = (found && typed("ServiceCIDR", found).status?.conditions) ?? [];
  return ready && [ready.status, ready.reason];
};
const reasons = ({ reader }: Bench) => reader.list("events").map((event) => event["reason"]);
const remove = async ({ writer }: Bench, resource: string, name: string, namespace = "") => {
  await writer.remove({ resource, namespace, name });
};

describe("ranges of service addresses", () => {
  const setUp = async () => {
    const bench = createControllerBench();
    bench.start(createServiceRangeController(bench.deps));
    await bench.create(SERVICE_RANGES, range("one", "10.96.0.0/24"));
    await bench.clock.settle();
    return bench;
  };

  it("become ready, and are protected", async () => {
    const bench = await setUp();
    expect(readyOf(bench, "one")).toEqual(["True", ""]);
    expect(rangeNamed(bench, "one")?.metadata.finalizers).toEqual([SERVICE_RANGE_FINALIZER]);
  });

  it("go at once where no service has an address of theirs", async () => {
    const bench = await setUp();
    await bench.create(IP_ADDRESSES, addressOf("s", "10.97.0.1"));
    await remove(bench, SERVICE_RANGES, "one");
    await bench.clock.settle();
    expect(bench.names(SERVICE_RANGES)).toEqual([]);
  });

  it("wait for the last service, and are not ready until then", async () => {
    const bench = await setUp();
    await bench.create(IP_ADDRESSES, addressOf("s", "10.96.0.9"));
    await remove(bench, SERVICE_RANGES, "one");
    await bench.clock.settle();
    expect(readyOf(bench, "one")).toEqual(["False", "Terminating"]);
    await remove(bench, IP_ADDRESSES, "10.96.0.9");
    await bench.clock.settle();
    expect(bench.names(SERVICE_RANGES)).toEqual([]);
  });

  it.each([
    ["contains it", "10.96.0.0/16"],
    ["has the addresses that are used", "10.96.0.8/29"],
  ])("go as soon as another range %s", async (_, cidr) => {
    const bench = await setUp();
    await bench.create(IP_ADDRESSES, addressOf("s", "10.96.0.9"));
    await remove(bench, SERVICE_RANGES, "one");
    await bench.clock.settle();
    await bench.create(SERVICE_RANGES, range("two", cidr));
    await bench.clock.settle();
    expect(bench.names(SERVICE_RANGES)).toEqual(["two"]);
  });

  it("do not wait for addresses that others keep for themselves", async () => {
    const bench = await setUp();
    const spec = { parentRef: { group: "example.com", resource: "gateways", name: "g" } };
    await bench.create(IP_ADDRESSES, { apiVersion: GROUP, kind: "IPAddress", metadata: { name: "10.96.0.9" }, spec });
    await remove(bench, SERVICE_RANGES, "one");
    await bench.clock.settle();
    expect(bench.names(SERVICE_RANGES)).toEqual([]);
  });
});

describe("the default range", () => {
  it("is there before the first service, ready, and comes back", async () => {
    const bench = createControllerBench();
    await ensureDefaultRange(bench.deps, ["10.96.0.0/16"]);
    expect(readyOf(bench, "kubernetes")).toEqual(["True", ""]);
    bench.start(createDefaultRangeKeeper(bench.deps, { cidrs: ["10.96.0.0/16"] }));
    await remove(bench, SERVICE_RANGES, "kubernetes");
    await bench.clock.settle();
    expect(readyOf(bench, "kubernetes")).toEqual(["True", ""]);
  });

  it("gets a second family, and keeps other addresses than those of the start", async () => {
    const bench = createControllerBench();
    await ensureDefaultRange(bench.deps, ["10.96.0.0/16"]);
    expect(await ensureDefaultRange(bench.deps, ["10.96.0.0/16", "fd00::/112"])).toBe("agrees");
    expect(rangeNamed(bench, "kubernetes")?.["spec"]).toEqual({ cidrs: ["10.96.0.0/16", "fd00::/112"] });
    bench.start(createDefaultRangeKeeper(bench.deps, { cidrs: ["10.97.0.0/16"] }));
    await bench.clock.settle();
    expect(rangeNamed(bench, "kubernetes")?.["spec"]).toEqual({ cidrs: ["10.96.0.0/16", "fd00::/112"] });
    expect(reasons(bench)).toEqual(["KubernetesDefaultServiceCIDRInconsistent"]);
  });
});

describe("addresses of services that were changed by hand", () => {
  const setUp = async (...objects: [resource: string, object: KubeObject][]) => {
    const bench = createControllerBench();
    await bench.create(SERVICE_RANGES, range("kubernetes", "10.96.0.0/24"));
    for (const [resource, object] of objects) await bench.create(resource, object);
    bench.start(createAddressRepair(bench.deps));
    await bench.clock.settle();
    return bench;
  };
  const parentOf = ({ reader }: Bench, name: string) => {
    const found = reader.get({ resource: IP_ADDRESSES, namespace: "", name });
    return found && typed("IPAddress", found).spec?.parentRef.name;
  };

  it("get the objects that they lack, as after a start with services of an older version", async () => {
    const bench = await setUp(["services", service("s", "10.96.0.9")], ["services", service("none", "None")]);
    expect([bench.names(IP_ADDRESSES), parentOf(bench, "10.96.0.9")]).toEqual([["10.96.0.9"], "s"]);
    await remove(bench, IP_ADDRESSES, "10.96.0.9");
    await bench.clock.settle();
    expect(bench.names(IP_ADDRESSES)).toEqual(["10.96.0.9"]);
  });

  it("get them back from whom they do not belong to", async () => {
    const gone = addressOf("gone", "10.96.0.9");
    const bench = await setUp([IP_ADDRESSES, gone], ["services", service("s", "10.96.0.9")]);
    expect(parentOf(bench, "10.96.0.9")).toBe("s");
  });

  it("get their labels back", async () => {
    const bare = { ...addressOf("s", "10.96.0.9"), metadata: { name: "10.96.0.9" } };
    const bench = await setUp([IP_ADDRESSES, bare], ["services", service("s", "10.96.0.9")]);
    const [object] = bench.reader.list(IP_ADDRESSES);
    expect(object?.metadata.labels).toEqual(addressOf("s", "10.96.0.9").metadata.labels);
  });

  it("stay with the first of two services, and the second is told", async () => {
    const objects = ["first", "second"].map((name): [string, KubeObject] => ["services", service(name, "10.96.0.9")]);
    const bench = await setUp([IP_ADDRESSES, addressOf("first", "10.96.0.9")], ...objects);
    expect(parentOf(bench, "10.96.0.9")).toBe("first");
    expect(reasons(bench)).toEqual(["ClusterIPAlreadyAllocated"]);
  });

  it("that no range has get no object, and an event", async () => {
    const bench = await setUp(["services", service("s", "10.97.0.9")]);
    expect([bench.names(IP_ADDRESSES), reasons(bench)]).toEqual([[], ["ClusterIPOutOfRange"]]);
  });

  it.each<[string, KubeObject, readonly KubeObject[]]>([
    ["whose service is gone", addressOf("gone", "10.96.0.9"), []],
    ["whose service has another", addressOf("s", "10.96.0.9"), [service("s", "10.96.0.5")]],
    [
      "of the allocator for something else",
      untyped({ ...addressOf("s", "10.96.0.9"), spec: { parentRef: { resource: "pods", name: "p" } } }),
      [],
    ],
  ])("go %s", async (_, address, services) => {
    const others = services.map((one): [string, KubeObject] => ["services", one]);
    const bench = await setUp([IP_ADDRESSES, address], ...others);
    expect(bench.names(IP_ADDRESSES)).not.toContain("10.96.0.9");
  });

  it("of others stay", async () => {
    const spec = { parentRef: { group: "example.com", resource: "gateways", name: "g" } };
    const theirs = { apiVersion: GROUP, kind: "IPAddress", metadata: { name: "10.96.0.9" }, spec };
    const bench = await setUp([IP_ADDRESSES, theirs]);
    expect([bench.names(IP_ADDRESSES), reasons(bench)]).toEqual([["10.96.0.9"], []]);
  });
});
