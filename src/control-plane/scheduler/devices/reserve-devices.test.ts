import { describe, expect, test } from "vitest";
import { conflictError } from "../../../api/api-error.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { node, type PodOptions, pod } from "../__fixtures__/objects.ts";
import { createScheduler } from "../scheduler.ts";

const CLAIMS = "resourceclaims.resource.k8s.io";
const SLICES = "resourceslices.resource.k8s.io";
const named = (...names: string[]): PodOptions => ({
  resourceClaims: names.map((name) => ({ name, resourceClaimName: name })),
});
const resource = (kind: string, name: string, fields: object): KubeObject => ({
  apiVersion: "resource.k8s.io/v1",
  kind,
  metadata: { name, ...(kind === "ResourceClaim" && { namespace: "default" }) },
  ...fields,
});
const claim = (name: string, status: object = {}) => {
  const exactly = { deviceClassName: "any", allocationMode: "ExactCount", count: 1 };
  return resource("ResourceClaim", name, { spec: { devices: { requests: [{ name: "r", exactly }] } }, status });
};
const slice = (...names: string[]) => {
  const pool = { name: "p", generation: 1, resourceSliceCount: 1 };
  const devices = names.map((name) => ({ name }));
  return resource("ResourceSlice", "s", { spec: { driver: "d", pool, nodeName: "n1", devices } });
};

async function setUp() {
  const bench = createControllerBench();
  const bind = async (object: KubeObject, nodeName: string) => {
    const bound = typed("Pod", object);
    await bench.writer.update(
      "pods",
      untyped({ ...bound, spec: { containers: [], ...bound.spec, nodeName } }),
      "binding",
    );
  };
  bench.start(createScheduler({ ...bench.deps, bind }));
  const put = async (plural: string, object: KubeObject) => {
    await bench.create(plural, object);
    await bench.clock.settle();
  };
  const createPod = (name: string, options: PodOptions) => put("pods", untyped(pod({ name, ...options })));
  const read = (plural: string, name: string) => bench.reader.get({ resource: plural, namespace: "default", name });
  const nodeOf = (name: string) => typed("Pod", read("pods", name) ?? expect.fail()).spec?.nodeName;
  const statusOf = (name: string) => typed("ResourceClaim", read(CLAIMS, name) ?? expect.fail()).status ?? {};
  await put("nodes", untyped(node()));
  await put("deviceclasses.resource.k8s.io", resource("DeviceClass", "any", { spec: {} }));
  return Object.assign(bench, { put, createPod, read, nodeOf, statusOf });
}

const deviceOf = ({ allocation }: ReturnType<Awaited<ReturnType<typeof setUp>>["statusOf"]>) =>
  allocation?.devices?.results?.map(({ device }) => device);

describe("a pod with claims of devices", () => {
  test("waits for them, and is bound after its claims are written", async () => {
    const bench = await setUp();
    await bench.createPod("a", named("c"));
    await bench.put(CLAIMS, claim("c"));
    expect(bench.nodeOf("a")).toBeUndefined();
    await bench.put(SLICES, slice("x"));
    expect(bench.nodeOf("a")).toBe("n1");
    const status = bench.statusOf("c");
    expect(deviceOf(status)).toEqual(["x"]);
    expect(status.reservedFor).toEqual([{ resource: "pods", name: "a", uid: "uid-a" }]);
    expect(bench.read(CLAIMS, "c")?.metadata.finalizers).toEqual(["resource.kubernetes.io/delete-protection"]);
    const order = ["resourceclaims.resource.k8s.io/c status", "pods/a binding"].map((write) => {
      return bench.writes.indexOf(`update ${write}`);
    });
    expect(order).toEqual(order.filter((place) => place >= 0).sort((a, b) => a - b));
  });

  test("shares a claim with other pods, and no device with other claims", async () => {
    const bench = await setUp();
    await bench.put(SLICES, slice("x"));
    await bench.put(CLAIMS, claim("c"));
    await bench.put(CLAIMS, claim("e"));
    await Promise.all([
      bench.createPod("a", named("c")),
      bench.createPod("b", named("c")),
      bench.createPod("z", named("e")),
    ]);
    await bench.clock.advance(1_000);
    expect([bench.nodeOf("a"), bench.nodeOf("b"), bench.nodeOf("z")]).toEqual(["n1", "n1", undefined]);
    expect(
      bench
        .statusOf("c")
        .reservedFor?.map(({ name }) => name)
        .sort(),
    ).toEqual(["a", "b"]);
    expect(bench.statusOf("e")).toEqual({});
  });

  test("gives back what it got when somebody was faster with another claim, and tries again", async () => {
    const bench = await setUp();
    await bench.put(SLICES, slice("x", "y"));
    await bench.put(CLAIMS, claim("c"));
    await bench.put(CLAIMS, claim("e"));
    let refusals = 0;
    bench.refuse = ({ object, subresource }) => {
      if (object.metadata.name !== "e" || subresource !== "status" || refusals++ > 0) return undefined;
      return conflictError({ group: "resource.k8s.io", resource: "resourceclaims" }, "e", "too late");
    };
    await bench.createPod("a", named("c", "e"));
    expect(bench.nodeOf("a")).toBeUndefined();
    expect(bench.statusOf("c")).toEqual({});
    await bench.clock.advance(10_000);
    expect(bench.nodeOf("a")).toBe("n1");
    expect([deviceOf(bench.statusOf("c")), deviceOf(bench.statusOf("e"))]).toEqual([["x"], ["y"]]);
  });

  test("goes on with a claim that was reserved for it before the scheduler ended", async () => {
    const bench = await setUp();
    const results = [{ request: "r", driver: "d", pool: "p", device: "x" }];
    const reservedFor = [{ resource: "pods", name: "a", uid: "uid-a" }];
    await bench.put(CLAIMS, claim("c", { allocation: { devices: { results } }, reservedFor }));
    await bench.createPod("a", named("c"));
    expect(bench.nodeOf("a")).toBe("n1");
    expect(bench.statusOf("c").reservedFor).toEqual(reservedFor);
  });

  test("gives devices back that are where it cannot be, and gets others", async () => {
    const bench = await setUp();
    const term = { matchFields: [{ key: "metadata.name", operator: "In", values: ["gone"] }] };
    const results = [{ request: "r", driver: "d", pool: "old", device: "x" }];
    await bench.put(SLICES, slice("y"));
    await bench.put(
      CLAIMS,
      claim("c", { allocation: { devices: { results }, nodeSelector: { nodeSelectorTerms: [term] } } }),
    );
    await bench.createPod("a", named("c"));
    await bench.clock.advance(10_000);
    expect(bench.nodeOf("a")).toBe("n1");
    expect(deviceOf(bench.statusOf("c"))).toEqual(["y"]);
  });
});
