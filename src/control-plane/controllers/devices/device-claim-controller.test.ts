import { beforeEach, expect, test } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { Pod } from "../../../api/gen/types.ts";
import { type KubeObject, untyped } from "../../../api/object.ts";
import { type ControllerBench, createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { createDeviceClaimController } from "./device-claim-controller.ts";

const CLAIMS = "resourceclaims.resource.k8s.io";
const TEMPLATES = "resourceclaimtemplates.resource.k8s.io";
const FINALIZER = "resource.kubernetes.io/delete-protection";
const spec = { devices: { requests: [{ name: "r", exactly: { deviceClassName: "any" } }] } };
const allocation = { devices: { results: [{ request: "r", driver: "d", pool: "p", device: "x" }] } };

let bench: ControllerBench;
beforeEach(() => {
  bench = createControllerBench();
  bench.start(createDeviceClaimController(bench.deps));
});

const put = async (resource: string, object: KubeObject) => {
  await bench.create(resource, object);
  await bench.clock.settle();
};
const read = (resource: string, name: string) => bench.reader.get({ resource, namespace: "default", name });
const claims = () => bench.reader.list(CLAIMS, "default");
const events = () => bench.reader.list("events").map((event) => `${event["reason"]}: ${event["message"]}`);
const template = (): KubeObject => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceClaimTemplate",
  metadata: { name: "t", namespace: "default" },
  spec: { metadata: { labels: { a: "b" } }, spec },
});
const podOf = (parts: Partial<Pod> = {}): KubeObject => {
  const own = { resourceClaims: [{ name: "d", resourceClaimTemplateName: "t" }], containers: [], ...parts.spec };
  const header = { apiVersion: "v1", kind: "Pod" };
  return untyped({ ...header, metadata: { name: "p", namespace: "default" }, ...parts, spec: own });
};
const change = async (resource: string, name: string, fields: object, subresource?: string) => {
  const current = read(resource, name);
  if (current === undefined) expect.fail(`there is no ${name}`);
  await bench.writer.update(resource, { ...current, ...fields }, subresource);
  await bench.clock.settle();
};
const claimOf = (status: object, metadata: object = {}): KubeObject => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceClaim",
  metadata: { name: "c", namespace: "default", finalizers: [FINALIZER], ...metadata },
  spec,
  status,
});

test("a pod gets a claim of each template, owns it, and tells its name", async () => {
  await put(TEMPLATES, template());
  await put("pods", podOf());
  const [claim] = claims();
  const { uid } = read("pods", "p")?.metadata ?? {};
  expect(claim).toMatchObject({
    metadata: {
      generateName: "p-d-",
      labels: { a: "b" },
      annotations: { "resource.kubernetes.io/pod-claim-name": "d" },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid, controller: true }],
    },
    spec,
  });
  expect(read("pods", "p")?.["status"]).toMatchObject({
    resourceClaimStatuses: [{ name: "d", resourceClaimName: claim?.metadata.name }],
  });
});

test("a claim that was made before its pod could tell is found again", async () => {
  await put(TEMPLATES, template());
  bench.refuse = ({ resource, subresource }) => {
    const isStatus = resource === "pods" && subresource === "status";
    return isStatus ? new ApiError("InternalError", "later") : undefined;
  };
  await put("pods", podOf());
  expect(claims()).toHaveLength(1);
  bench.refuse = () => undefined;
  await bench.clock.advance(60_000);
  expect(claims()).toHaveLength(1);
  expect(read("pods", "p")?.["status"]).toMatchObject({ resourceClaimStatuses: [{ name: "d" }] });
});

test("a template that is missing is told, and waited for", async () => {
  await put("pods", podOf());
  expect(events()).toEqual([
    'FailedResourceClaimCreation: PodResourceClaim d: resourceclaimtemplates.resource.k8s.io "t" not found',
  ]);
  await put(TEMPLATES, template());
  expect(claims()).toHaveLength(1);
});

test("names are shortened in proportion", async () => {
  await put(TEMPLATES, template());
  await put("pods", podOf({ metadata: { name: "p".repeat(100), namespace: "default" } }));
  expect(claims()[0]?.metadata.generateName).toBe(`${"p".repeat(55)}-`);
});

test("a claim gives its devices back with its last user", async () => {
  const users = ["p", "gone"].map((name) => ({ resource: "pods", name, uid: `uid-${name}` }));
  const named = { resourceClaims: [{ name: "d", resourceClaimName: "c" }], containers: [], nodeName: "n" };
  await put("pods", podOf({ metadata: { name: "p", namespace: "default", uid: "uid-p" }, spec: named }));
  await put(CLAIMS, claimOf({ allocation, reservedFor: users }));
  expect(read(CLAIMS, "c")?.["status"]).toEqual({ allocation, reservedFor: [users[0]] });
  await change("pods", "p", { status: { phase: "Succeeded" } }, "status");
  expect(read(CLAIMS, "c")?.["status"]).toEqual({});
  expect(read(CLAIMS, "c")?.metadata.finalizers).toEqual([]);
});

test("users that are no pods, and claims that nobody reserved, are left alone", async () => {
  const other = { apiGroup: "example.com", resource: "jobs", name: "j", uid: "1" };
  await put(CLAIMS, claimOf({ allocation, reservedFor: [other] }));
  expect(read(CLAIMS, "c")?.["status"]).toEqual({ allocation, reservedFor: [other] });
  await put(CLAIMS, claimOf({ allocation }, { name: "idle" }));
  expect(read(CLAIMS, "idle")?.["status"]).toEqual({ allocation });
});

test("a deleted claim goes when nobody uses it", async () => {
  await put(CLAIMS, claimOf({ allocation }));
  await bench.writer.remove({ resource: CLAIMS, namespace: "default", name: "c" });
  await bench.clock.settle();
  expect(read(CLAIMS, "c")).toBeUndefined();
});

test("a claim that was made for a pod goes when the pod has ended, and is not made anew", async () => {
  await put(TEMPLATES, template());
  await put("pods", podOf());
  await change("pods", "p", { status: { ...Object(read("pods", "p")?.["status"]), phase: "Failed" } }, "status");
  expect(claims()).toEqual([]);
});

test("a pod that was put on its node by somebody else gets its claims reserved", async () => {
  const named = { resourceClaims: [{ name: "d", resourceClaimName: "c" }], containers: [], nodeName: "n" };
  await put("pods", podOf({ metadata: { name: "p", namespace: "default", uid: "uid-p" }, spec: named }));
  await put(CLAIMS, claimOf({ allocation }));
  expect(read(CLAIMS, "c")?.["status"]).toEqual({
    allocation,
    reservedFor: [{ resource: "pods", name: "p", uid: "uid-p" }],
  });
});
