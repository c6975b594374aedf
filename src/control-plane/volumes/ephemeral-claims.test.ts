import { beforeEach, expect, test } from "vitest";
import { forbiddenError } from "../../api/api-error.ts";
import type { Volume } from "../../api/gen/types.ts";
import { claim, createStorageBench, type PodOptions, pod, type StorageBench } from "./__fixtures__/storage-bench.ts";
import { createEphemeralClaims } from "./ephemeral-claims.ts";

const VOLUME: Volume = {
  name: "scratch",
  ephemeral: {
    volumeClaimTemplate: {
      metadata: { labels: { kind: "scratch" }, annotations: { note: "x" } },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
  },
};
const CLAIM = "persistentvolumeclaims app-scratch";

let bench: StorageBench;
beforeEach(() => {
  bench = createStorageBench();
  bench.start(createEphemeralClaims(bench.deps));
});

const putPod = (options: PodOptions = {}) => bench.put("pods", pod("app", { volumes: [VOLUME], ...options }));

test("a pod's ephemeral volume gets a claim that the pod owns", async () => {
  await putPod({ metadata: { uid: "u1" } });
  expect(bench.at(CLAIM)).toMatchObject({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: "app-scratch",
      namespace: "default",
      labels: { kind: "scratch" },
      annotations: { note: "x" },
      ownerReferences: [
        { apiVersion: "v1", kind: "Pod", name: "app", uid: "u1", controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  expect(bench.events()).toEqual([]);
});

test("one that is deleted is made anew", async () => {
  await putPod();
  const { uid } = bench.at(CLAIM)?.metadata ?? {};
  await bench.drop(CLAIM);
  expect(bench.at(CLAIM)).toBeDefined();
  expect(bench.at(CLAIM)?.metadata.uid).not.toBe(uid);
});

test("somebody else's claim of that name is left alone, and the pod hears of it; it gets its own when that is gone", async () => {
  await bench.put("persistentvolumeclaims", claim("app-scratch"));
  await putPod();
  expect(bench.at(CLAIM)?.metadata.ownerReferences).toBeUndefined();
  expect(bench.events()).toEqual([
    "Warning FailedBinding: ephemeral volume scratch: PVC default/app-scratch was not created for pod default/app (pod is not owner)",
  ]);
  await bench.drop(CLAIM);
  expect(bench.at(CLAIM)?.metadata.ownerReferences).toHaveLength(1);
});

test.each<[string, PodOptions]>([
  ["has ended", { status: { phase: "Succeeded" } }],
  ["is on its way out", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] } }],
  ["has no such volume", { volumes: [{ name: "scratch", emptyDir: {} }] }],
])("a pod that %s gets none", async (_case, options) => {
  await putPod(options);
  expect(bench.names("persistentvolumeclaims")).toEqual([]);
});

test("a refusal is told and tried again", async () => {
  let isRefused = true;
  bench.refuse = ({ verb, resource }) => {
    if (!isRefused || verb !== "create" || resource !== "persistentvolumeclaims") return undefined;
    return forbiddenError({ group: "", resource }, "app-scratch", "exceeded quota: storage");
  };
  await putPod();
  expect(bench.events()).toEqual([
    'Warning FailedBinding: ephemeral volume scratch: create PVC app-scratch: persistentvolumeclaims "app-scratch" is forbidden: exceeded quota: storage',
  ]);
  isRefused = false;
  await bench.clock.advance(60_000);
  expect(bench.at(CLAIM)).toBeDefined();
});
