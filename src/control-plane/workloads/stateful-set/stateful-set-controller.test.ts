import { describe, expect, test } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { StatefulSetSpec } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { planStatefulSet } from "./plan-stateful-set.ts";
import { createStatefulSetController } from "./stateful-set-controller.ts";

const SETS = "statefulsets.apps";
const CLAIMS = "persistentvolumeclaims";
const NAME = { resource: SETS, namespace: "a", name: "web" };
const labels = { app: "web" };
const templateOf = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: "c", image }] } });
const CLAIM = { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } };

function setOf(spec: Partial<StatefulSetSpec>): KubeObject {
  const defaults = {
    replicas: 3,
    serviceName: "svc",
    selector: { matchLabels: labels },
    template: templateOf("v1"),
    podManagementPolicy: "OrderedReady",
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: 2,
  };
  const metadata = { name: "web", namespace: "a", uid: "set-uid" };
  return untyped({ apiVersion: "apps/v1", kind: "StatefulSet", metadata, spec: { ...defaults, ...spec } });
}

async function setUp(spec: Partial<StatefulSetSpec> = {}) {
  let current = spec;
  const bench = createControllerBench();
  const { reader, writer, clock } = bench;
  bench.start(createStatefulSetController(bench.deps));
  await bench.create(SETS, setOf(spec));
  await clock.settle();
  const stored = () => typed("StatefulSet", reader.get(NAME) ?? setOf({}));
  const pods = () => reader.list("pods", "a").map((pod) => typed("Pod", pod));
  const report = async (name: string, status: "True" | "False", phase = "Running") => {
    const pod = reader.get({ resource: "pods", namespace: "a", name });
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    const conditions = [{ type: "Ready", status, lastTransitionTime: new Date(clock.now()).toISOString() }];
    await writer.update("pods", { ...pod, status: { phase, conditions } }, "status");
    await clock.settle();
  };
  return Object.assign(bench, {
    stored,
    pods,
    report,
    images: () => pods().map(({ metadata, spec: pod }) => `${metadata.name} ${pod?.containers[0]?.image}`),
    /** Every pod that is there runs and is ready, until nothing new comes. */
    async readyAll() {
      for (let turn = 0; turn < 20; turn++) {
        const waiting = pods().find(({ status }) => status?.phase !== "Running");
        if (waiting === undefined) return;
        await report(waiting.metadata.name ?? "", "True");
      }
    },
    async change(changes: Partial<StatefulSetSpec>) {
      current = { ...current, ...changes };
      await writer.update(SETS, setOf(current));
      await clock.settle();
    },
    revisions: () => reader.list("controllerrevisions.apps", "a").map((object) => object["revision"]),
  });
}

describe("a stateful set that asks for more pods than there can be", () => {
  const MOST = 2 ** 31 - 1;
  const circumstances = { pods: [], updateRevision: "web-1", isBlocked: () => false, now: 0 };
  const planOf = (spec: Partial<StatefulSetSpec>) => planStatefulSet(typed("StatefulSet", setOf(spec)), circumstances);

  test("makes some of them before it is looked at again", () => {
    const { create } = planOf({ replicas: MOST, podManagementPolicy: "Parallel" });
    expect(create.map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: 500 }, (_, ordinal) => ordinal));
    expect(planOf({ replicas: MOST }).create).toEqual([{ ordinal: 0, isUpdated: true }]);
  });

  test("knows its pods by their ordinals up to the last, and makes none beyond", async () => {
    const ordinals = { start: MOST - 1 };
    const { names, stored } = await setUp({ replicas: MOST, podManagementPolicy: "Parallel", ordinals });
    expect(names("pods")).toEqual([`web-${MOST - 1}`, `web-${MOST}`]);
    expect(stored().status?.replicas).toBe(2);
  });
});

describe("an ordered stateful set", () => {
  test("makes one pod after the other, each with its name", async () => {
    const { names, report, pods, stored } = await setUp();
    expect(names("pods")).toEqual(["web-0"]);
    await report("web-0", "True");
    expect(names("pods")).toEqual(["web-0", "web-1"]);
    await report("web-1", "False");
    expect(names("pods")).toEqual(["web-0", "web-1"]);
    await report("web-1", "True");
    await report("web-2", "True");
    const { currentRevision } = stored().status ?? {};
    expect(pods()[2]).toMatchObject({
      metadata: {
        labels: {
          app: "web",
          "statefulset.kubernetes.io/pod-name": "web-2",
          "apps.kubernetes.io/pod-index": "2",
          "controller-revision-hash": currentRevision,
        },
      },
      spec: { hostname: "web-2", subdomain: "svc" },
    });
    expect(stored().status).toEqual({
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      currentRevision: expect.stringMatching(/^web-[a-z0-9]+$/),
      updateRevision: currentRevision,
      collisionCount: 0,
    });
  });

  test("is made smaller from the top, one pod at a time", async () => {
    const { change, readyAll, names, writes } = await setUp();
    await readyAll();
    await change({ replicas: 1 });
    expect(names("pods")).toEqual(["web-0"]);
    expect(writes.filter((write) => write.startsWith("delete"))).toEqual(["delete pods/web-2", "delete pods/web-1"]);
  });

  test("waits until a pod has been ready for long enough", async () => {
    const { report, names, clock } = await setUp({ minReadySeconds: 10 });
    await report("web-0", "True");
    expect(names("pods")).toEqual(["web-0"]);
    await clock.advance(10_000);
    expect(names("pods")).toEqual(["web-0", "web-1"]);
  });

  test("makes a pod that failed anew", async () => {
    const { report, pods, readyAll } = await setUp({ replicas: 1 });
    await readyAll();
    const [before] = pods();
    await report("web-0", "False", "Failed");
    const [after] = pods();
    expect(after?.metadata.name).toBe("web-0");
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
  });
});

describe("a pod that its node refuses", () => {
  const SPEC: Partial<StatefulSetSpec> = { replicas: 2, podManagementPolicy: "Parallel" };

  async function setUpRefused(spec: Partial<StatefulSetSpec> = SPEC) {
    const bench = await setUp(spec);
    const uidOf = (name: string) => bench.pods().find(({ metadata }) => metadata.name === name)?.metadata.uid;
    const refusePod = async () => {
      await bench.report("web-0", "False", "Failed");
      return uidOf("web-0");
    };
    return Object.assign(bench, { uidOf, refusePod });
  }

  test("is replaced at once, then later each time, and shows why meanwhile", async () => {
    const { uidOf, refusePod, clock, pods } = await setUpRefused({ ...SPEC, podManagementPolicy: "OrderedReady" });
    const first = uidOf("web-0");
    expect(await refusePod()).not.toBe(first);
    for (const waitMs of [1_000, 2_000, 4_000]) {
      const before = await refusePod();
      await clock.advance(waitMs - 1);
      expect(uidOf("web-0")).toBe(before);
      expect(pods().map(({ status }) => status?.phase)).toEqual(["Failed"]);
      await clock.advance(1);
      expect(uidOf("web-0")).not.toBe(before);
    }
  });

  test("holds up no other one of a parallel set, nor one that ran", async () => {
    const { uidOf, refusePod, reader, writer, clock } = await setUpRefused();
    await refusePod();
    const waiting = await refusePod();
    const ran = reader.get({ resource: "pods", namespace: "a", name: "web-1" });
    const containerStatuses = [{ name: "c", image: "i", imageID: "", ready: false, restartCount: 0 }];
    for (let turn = 0; turn < 3; turn++) {
      const pod = reader.get({ resource: "pods", namespace: "a", name: "web-1" }) ?? untyped({ metadata: {} });
      await writer.update("pods", { ...pod, status: { phase: "Failed", containerStatuses } }, "status");
      await clock.settle();
    }
    expect(uidOf("web-1")).not.toBe(ran?.metadata.uid);
    expect(uidOf("web-0")).toBe(waiting);
  });

  test("goes at once when the set is made smaller, or its pods are made differently", async () => {
    const { uidOf, refusePod, change, names, reader, writer, clock } = await setUpRefused();
    await refusePod();
    const waiting = await refusePod();
    const set = reader.get(NAME) ?? setOf({});
    await writer.update(SETS, { ...set, metadata: { ...set.metadata, generation: 2 } });
    await clock.settle();
    expect(uidOf("web-0")).not.toBe(waiting);
    await refusePod();
    await change({ replicas: 0 });
    expect(names("pods")).toEqual([]);
  });
});

describe("an update of a stateful set", () => {
  test("goes from the top down, and waits for each pod", async () => {
    const { change, readyAll, images, report, stored, revisions } = await setUp();
    await readyAll();
    const { currentRevision } = stored().status ?? {};
    await change({ template: templateOf("v2") });
    expect(images()).toEqual(["web-0 v1", "web-1 v1", "web-2 v2"]);
    expect(stored().status).toMatchObject({ currentRevision, currentReplicas: 2, updatedReplicas: 1 });
    await report("web-2", "True");
    expect(images()).toEqual(["web-0 v1", "web-1 v2", "web-2 v2"]);
    await readyAll();
    expect(images()).toEqual(["web-0 v2", "web-1 v2", "web-2 v2"]);
    expect(stored().status?.currentRevision).toBe(stored().status?.updateRevision);
    expect(stored().status?.currentRevision).not.toBe(currentRevision);
    expect(revisions().sort()).toEqual([1, 2]);
  });

  test("stops at the partition, and keeps pods below it on their revision", async () => {
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 2 } };
    const { change, readyAll, images, writer, clock } = await setUp({ updateStrategy });
    await readyAll();
    await change({ template: templateOf("v2") });
    await readyAll();
    expect(images()).toEqual(["web-0 v1", "web-1 v1", "web-2 v2"]);
    await writer.remove({ resource: "pods", namespace: "a", name: "web-0" });
    await clock.settle();
    await readyAll();
    expect(images()).toEqual(["web-0 v1", "web-1 v1", "web-2 v2"]);
  });

  test("is left to whoever deletes the pods, if the set says so", async () => {
    const { change, readyAll, images, writer, clock } = await setUp({ updateStrategy: { type: "OnDelete" } });
    await readyAll();
    await change({ template: templateOf("v2") });
    expect(images()).toEqual(["web-0 v1", "web-1 v1", "web-2 v1"]);
    await writer.remove({ resource: "pods", namespace: "a", name: "web-1" });
    await clock.settle();
    expect(images()).toEqual(["web-0 v1", "web-1 v2", "web-2 v1"]);
  });

  test("back takes the older revision, and the history keeps as many as it may", async () => {
    const { change, readyAll, revisions, stored, names } = await setUp({ replicas: 1 });
    await readyAll();
    const { currentRevision } = stored().status ?? {};
    for (const image of ["v2", "v3", "v4"]) {
      await change({ template: templateOf(image) });
      await readyAll();
    }
    expect(revisions().toSorted()).toEqual([2, 3, 4]);
    await change({ template: templateOf("v2") });
    await readyAll();
    expect(revisions().toSorted()).toEqual([3, 4, 5]);
    expect(names("controllerrevisions.apps")).not.toContain(currentRevision);
  });
});

describe("a parallel stateful set", () => {
  test("makes and deletes all pods at once, from its first ordinal", async () => {
    const { names, change } = await setUp({ podManagementPolicy: "Parallel", ordinals: { start: 5 } });
    expect(names("pods")).toEqual(["web-5", "web-6", "web-7"]);
    await change({ replicas: 1 });
    expect(names("pods")).toEqual(["web-5"]);
  });
});

describe("the claims of a stateful set", () => {
  test("are made before the pod, stay when it goes, and are found again", async () => {
    const { names, pods, writes, change, readyAll, reader } = await setUp({
      replicas: 2,
      volumeClaimTemplates: [CLAIM],
    });
    await readyAll();
    expect(names(CLAIMS)).toEqual(["data-web-0", "data-web-1"]);
    expect(reader.list(CLAIMS)[0]).toMatchObject({ metadata: { labels: { app: "web" } }, spec: CLAIM.spec });
    expect(pods()[0]?.spec?.volumes).toEqual([{ name: "data", persistentVolumeClaim: { claimName: "data-web-0" } }]);
    expect(writes.indexOf("create persistentvolumeclaims/data-web-0")).toBeLessThan(
      writes.indexOf("create pods/web-0"),
    );
    await change({ replicas: 0 });
    expect([names("pods"), names(CLAIMS)]).toEqual([[], ["data-web-0", "data-web-1"]]);
  });

  test.each<[string, string, string[], string[]]>([
    ["Retain", "Retain", [], []],
    ["Delete", "Retain", ["StatefulSet web"], ["StatefulSet web"]],
    ["Retain", "Delete", [], ["Pod web-1"]],
    ["Delete", "Delete", ["StatefulSet web"], ["Pod web-1"]],
  ])("deleted: %s, scaled: %s", async (whenDeleted, whenScaled, kept, scaled) => {
    const persistentVolumeClaimRetentionPolicy = { whenDeleted, whenScaled };
    const volumeClaimTemplates = [CLAIM];
    const bench = await setUp({ replicas: 2, volumeClaimTemplates, persistentVolumeClaimRetentionPolicy });
    const ownersOf = (name: string) => {
      const { ownerReferences = [] } = bench.reader.get({ resource: CLAIMS, namespace: "a", name })?.metadata ?? {};
      return ownerReferences.map((reference) => `${reference.kind} ${reference.name}`);
    };
    await bench.readyAll();
    expect(ownersOf("data-web-1")).toEqual(kept);
    await bench.change({ replicas: 1 });
    expect([ownersOf("data-web-0"), ownersOf("data-web-1")]).toEqual([kept, scaled]);
    expect(bench.names("pods")).toEqual(["web-0"]);
    // The garbage collector has not come yet: the claim is of the pod that is gone.
    await bench.change({ replicas: 2 });
    expect(bench.names("pods")).toEqual(whenScaled === "Delete" ? ["web-0"] : ["web-0", "web-1"]);
    if (whenScaled !== "Delete") return;
    await bench.writer.remove({ resource: CLAIMS, namespace: "a", name: "data-web-1" });
    await bench.clock.settle();
    expect([bench.names("pods"), bench.names(CLAIMS)]).toEqual([
      ["web-0", "web-1"],
      ["data-web-0", "data-web-1"],
    ]);
  });
});

test("a stateful set comes to what it should be although writes fail", async () => {
  const bench = await setUp({ volumeClaimTemplates: [CLAIM] });
  let turn = 0;
  bench.refuse = ({ resource, subresource }) => {
    turn += 1;
    const isNode = resource === "pods" && subresource === "status";
    return !isNode && resource !== "events" && turn % 3 === 0 ? new ApiError("InternalError", "no") : undefined;
  };
  for (let round = 0; round < 12; round++) {
    await bench.readyAll();
    await bench.clock.advance(60_000);
  }
  expect(bench.names("pods")).toEqual(["web-0", "web-1", "web-2"]);
  expect(bench.names(CLAIMS)).toEqual(["data-web-0", "data-web-1", "data-web-2"]);
  expect(bench.stored().status).toMatchObject({ replicas: 3, readyReplicas: 3 });
});
