import { beforeEach, describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import {
  claim,
  createStorageBench,
  type PodOptions,
  pod,
  type StorageBench,
  volume,
} from "./__fixtures__/storage-bench.ts";
import { createClaimProtection, createVolumeProtection } from "./use-protection.ts";

const FINALIZER = "kubernetes.io/pvc-protection";
const CLAIM = "persistentvolumeclaims data";
const protectedClaim = () => claim("data", { metadata: { finalizers: [FINALIZER], uid: "u1" } });

let bench: StorageBench;
beforeEach(() => {
  bench = createStorageBench();
});

describe("a claim that is deleted", () => {
  beforeEach(() => bench.start(createClaimProtection(bench.deps)));

  test("goes at once when no pod uses it", async () => {
    await bench.put("persistentvolumeclaims", protectedClaim());
    await bench.put("pods", pod("other", { claims: ["more"], nodeName: "n1" }));
    await bench.drop(CLAIM);
    expect(bench.at(CLAIM)).toBeUndefined();
  });

  const ephemeral = [{ name: "x", ephemeral: {} }];
  const owned = (uid: string): KubeObject["metadata"] => ({
    name: "app-x",
    finalizers: [FINALIZER],
    ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "app", uid, controller: true }],
  });
  test.each<[string, PodOptions, KubeObject["metadata"], boolean]>([
    ["a pod that runs", { claims: ["app-x"], nodeName: "n1" }, { name: "app-x" }, true],
    [
      "a pod that has ended",
      { claims: ["app-x"], nodeName: "n1", status: { phase: "Succeeded" } },
      { name: "app-x" },
      true,
    ],
    ["a pod without a node", { claims: ["app-x"] }, { name: "app-x" }, false],
    [
      "the pod that it was made for",
      { volumes: ephemeral, nodeName: "n1", metadata: { uid: "p1" } },
      owned("p1"),
      true,
    ],
    [
      "a pod that it was not made for",
      { volumes: ephemeral, nodeName: "n1", metadata: { uid: "p1" } },
      owned("p2"),
      false,
    ],
  ])("is kept by who uses it: %s", async (_case, options, metadata, isKept) => {
    await bench.put("pods", pod("app", options));
    await bench.put("persistentvolumeclaims", claim("app-x", { metadata: { finalizers: [FINALIZER], ...metadata } }));
    await bench.drop("persistentvolumeclaims app-x");
    expect(bench.at("persistentvolumeclaims app-x") !== undefined).toBe(isKept);
    await bench.drop("pods app");
    expect(bench.at("persistentvolumeclaims app-x")).toBeUndefined();
  });

  test("stays until the last pod is gone", async () => {
    await bench.put("persistentvolumeclaims", protectedClaim());
    await bench.put("pods", pod("a", { claims: ["data"], nodeName: "n1" }));
    await bench.put("pods", pod("b", { claims: ["data"], nodeName: "n2" }));
    await bench.drop(CLAIM);
    await bench.drop("pods a");
    expect(bench.at(CLAIM)?.metadata.deletionTimestamp).toBeDefined();
    await bench.drop("pods b");
    expect(bench.at(CLAIM)).toBeUndefined();
  });

  test("stays for a pod that nobody has been told of yet", async () => {
    await bench.put("persistentvolumeclaims", protectedClaim());
    const creation = bench.create("pods", pod("a", { claims: ["data"], nodeName: "n1" }));
    await Promise.all([creation, bench.drop(CLAIM)]);
    expect(bench.at(CLAIM)).toBeDefined();
  });
});

test("what was made before protection was is protected", async () => {
  await bench.put("persistentvolumeclaims", claim("data", { metadata: { finalizers: ["mine"] } }));
  await bench.put("persistentvolumes", volume("v1"));
  bench.start(createClaimProtection(bench.deps));
  bench.start(createVolumeProtection(bench.deps));
  await bench.clock.settle();
  expect(bench.at(CLAIM)?.metadata.finalizers).toEqual(["mine", FINALIZER]);
  expect(bench.at("persistentvolumes v1")?.metadata.finalizers).toEqual(["kubernetes.io/pv-protection"]);
});

test("a volume that is deleted stays while a claim is bound to it", async () => {
  bench.start(createVolumeProtection(bench.deps));
  await bench.put("persistentvolumes", volume("free"));
  await bench.put("persistentvolumes", { ...volume("v1"), status: { phase: "Bound" } });
  await bench.drop("persistentvolumes free");
  await bench.drop("persistentvolumes v1");
  expect(bench.names("persistentvolumes")).toEqual(["v1"]);
  await bench.change("persistentvolumes v1", (object) => ({ ...object, status: { phase: "Released" } }), "status");
  expect(bench.names("persistentvolumes")).toEqual([]);
});
