import { expect, it } from "vitest";
import type { CSIDriver } from "../../../api/gen/types.ts";
import type { KubeResource } from "../../../api/kube-resource.ts";
import { AbortedError, aborted } from "../../../base/abort.ts";
import { silentLog } from "../../../base/log.ts";
import { createSeededRandom } from "../../../base/random.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { type KubeClient, KubeUnreachableError, type WatchEvent, type WatchOptions } from "../../../kube/port.ts";
import { createCsiDriverObjects } from "./csi-driver-objects.ts";

function createRig() {
  const clock = createFakeClock();
  let isAway = true;
  let tell: (type: "ADDED" | "MODIFIED" | "DELETED", object: CSIDriver) => void = () => undefined;
  const client: Pick<KubeClient, "list" | "watch"> = {
    async list(resource) {
      if (isAway) throw new KubeUnreachableError("unreachable", "connection refused");
      return { items: [resource.read(driver("a", 10))], resourceVersion: "1" };
    },
    async watch<T>(resource: KubeResource<T>, options: WatchOptions, onEvent: (event: WatchEvent<T>) => void) {
      let version = 1;
      tell = (type, object) => {
        const resourceVersion = String(++version);
        onEvent({
          type,
          object: resource.read({ ...object, metadata: { ...object.metadata, resourceVersion } }),
          resourceVersion,
        });
      };
      await aborted(options.signal ?? AbortSignal.abort());
      throw new AbortedError();
    },
  };
  const objects = createCsiDriverObjects({ client, clock, random: createSeededRandom(1), log: silentLog });
  const controller = new AbortController();
  return {
    clock,
    objects,
    tell: (type: "ADDED" | "MODIFIED" | "DELETED", object: CSIDriver) => tell(type, object),
    comeBack: () => {
      isAway = false;
    },
    run: () => objects.run(controller.signal),
    stop: () => controller.abort(),
  };
}

const driver = (name: string, seconds: number): CSIDriver => ({
  metadata: { name, resourceVersion: "1" },
  spec: { nodeAllocatableUpdatePeriodSeconds: seconds },
});

it("has each driver's object, and tells which changed", async () => {
  const rig = createRig();
  const told: string[] = [];
  const unsubscribe = rig.objects.subscribe((name) => told.push(name));
  rig.comeBack();
  const ended = rig.run();
  await rig.clock.settle();
  expect(rig.objects.get("a")?.spec.nodeAllocatableUpdatePeriodSeconds).toBe(10);
  rig.tell("ADDED", driver("b", 20));
  rig.tell("MODIFIED", driver("a", 30));
  rig.tell("DELETED", driver("b", 20));
  expect(told).toEqual(["a", "b", "a", "b"]);
  expect(rig.objects.get("a")?.spec.nodeAllocatableUpdatePeriodSeconds).toBe(30);
  expect(rig.objects.get("b")).toBeUndefined();
  unsubscribe();
  rig.tell("ADDED", driver("c", 1));
  expect(told).toHaveLength(4);
  rig.stop();
  await ended;
});

it("has who comes before the first list wait for it", async () => {
  const rig = createRig();
  const ended = rig.run();
  let isSynced = false;
  const waiting = rig.objects.waitForSync(new AbortController().signal).then(() => {
    isSynced = true;
  });
  await rig.clock.settle();
  expect(isSynced).toBe(false);
  rig.comeBack();
  await rig.clock.advance(2_000);
  expect(isSynced).toBe(true);
  await waiting;
  await rig.objects.waitForSync(AbortSignal.abort());
  rig.stop();
  await ended;
  expect(rig.clock.pendingTimers).toBe(0);
});

it("has nobody wait longer than ten seconds, or than they want to", async () => {
  const rig = createRig();
  const ended = rig.run();
  const rejection = expect(rig.objects.waitForSync(new AbortController().signal)).rejects.toMatchObject({
    code: "not-synced",
    message: "failed to sync csidriver cache: timed out waiting for the condition",
  });
  const gone = new AbortController();
  const left = expect(rig.objects.waitForSync(gone.signal)).rejects.toMatchObject({ name: "AbortError" });
  gone.abort();
  await left;
  await rig.clock.advance(10_000);
  await rejection;
  rig.stop();
  await ended;
});
