import { expect, it } from "vitest";
import { recordTracing } from "../../../base/__fixtures__/record-tracing.ts";
import type { PodSyncer } from "./pod-syncer.ts";
import { traceSyncer } from "./traced-syncer.ts";

const POD = { metadata: { uid: "u1", name: "web", namespace: "shop" } };
const ATTRIBUTES = {
  "k8s.pod.uid": "u1",
  "k8s.pod": "shop/web",
  "k8s.pod.name": "web",
  "k8s.namespace.name": "shop",
};
const signal = new AbortController().signal;

function setUp(work: () => Promise<void> = async () => await Promise.resolve()) {
  const { tracing, spans } = recordTracing();
  const syncer: PodSyncer = {
    async syncPod() {
      await work();
      return { terminal: true };
    },
    reportPod: () => undefined,
    syncTerminatingPod: work,
    syncTerminatedPod: work,
  };
  return { syncer, traced: traceSyncer(syncer, tracing), spans };
}

it("is the syncer itself without tracing", () => {
  const { syncer } = setUp();
  expect(traceSyncer(syncer, undefined)).toBe(syncer);
});

it("makes a trace of each work, under upstream's names", async () => {
  const { traced, spans } = setUp();
  const subject = { kind: "pod", pod: POD } as const;
  expect(await traced.syncPod({ pod: POD, signal, updateType: "create" })).toEqual({ terminal: true });
  await traced.syncPod({ pod: POD, signal });
  const ending = { subject, signal, gracePeriodSeconds: 1, statusOverride: undefined, evicted: false };
  await traced.syncTerminatingPod(ending);
  await traced.syncTerminatedPod({ subject, signal, deleted: true });
  expect(spans).toEqual(
    [
      ["syncPod", { ...ATTRIBUTES, "k8s.pod.update_type": "create" }],
      ["syncPod", { ...ATTRIBUTES, "k8s.pod.update_type": "sync" }],
      ["syncTerminatingPod", ATTRIBUTES],
      ["syncTerminatedPod", ATTRIBUTES],
    ].map(([name, attributes]) => ({ start: { name, isRoot: true, attributes }, attributes, end: "well" })),
  );
});

it("tells why a work failed, and throws it on", async () => {
  const { traced, spans } = setUp(async () => await Promise.reject(new Error("no sandbox")));
  await expect(traced.syncPod({ pod: POD, signal })).rejects.toThrow("no sandbox");
  expect(spans).toMatchObject([{ end: { failure: "no sandbox" } }]);
});
