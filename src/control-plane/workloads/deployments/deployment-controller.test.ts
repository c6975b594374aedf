import { expect, test } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { DeploymentSpec } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { createDeployments } from "./deployment-controller.ts";

const DEPLOYMENTS = "deployments.apps";
const SETS = "replicasets.apps";
const NAMED = { resource: DEPLOYMENTS, namespace: "a", name: "web" };
const template = (image: string) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "c", image }] },
});
const deployment = (spec: Partial<DeploymentSpec> = {}): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "a", generation: 1, annotations: { note: "mine" } },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: "web" } },
    template: template("v1"),
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
    ...spec,
  },
});

async function setUp(spec: Partial<DeploymentSpec> = {}) {
  const bench = createControllerBench();
  const { reader, writer, clock, deps } = bench;
  bench.start(createDeployments(deps));
  const read = () => typed("Deployment", reader.get(NAMED) ?? deployment());
  const sets = () => reader.list(SETS, "a").map((set) => typed("ReplicaSet", set));
  const imageOf = (set: ReturnType<typeof sets>[number]) => set.spec?.template?.spec?.containers[0]?.image ?? "";
  const tools = {
    sets,
    read,
    status: () => read().status,
    /** The number of replicas of each version that has any. */
    sizes: () =>
      Object.fromEntries(sets().flatMap((set) => (set.spec?.replicas ? [[imageOf(set), set.spec.replicas]] : []))),
    condition: (type: string) => read().status?.conditions?.find((condition) => condition.type === type),
    async change(changes: Partial<DeploymentSpec>) {
      const { metadata, spec: current, status: _status, ...rest } = read();
      const { resourceVersion: _any, ...newest } = metadata;
      const generation = (metadata.generation ?? 0) + 1;
      await writer.update(DEPLOYMENTS, {
        ...rest,
        metadata: { ...newest, generation },
        spec: { ...current, ...changes },
      });
      await clock.settle();
    },
    /** What the controller of replica sets does: all pods are there, and those of these versions are available. */
    async runPods(...versions: string[]) {
      for (const set of sets()) {
        const replicas = set.spec?.replicas ?? 0;
        const ready = versions.includes(imageOf(set)) ? replicas : 0;
        const counts = { replicas, readyReplicas: ready, availableReplicas: ready, terminatingReplicas: 0 };
        const status = { ...counts, observedGeneration: set.metadata.generation ?? 1 };
        const { resourceVersion: _any, ...metadata } = set.metadata;
        await writer.update(SETS, { ...set, metadata, status }, "status");
      }
      await clock.settle();
    },
    async complete(version: string) {
      for (let turn = 0; turn < 12; turn++) await tools.runPods("v1", version);
    },
    events: () => reader.list("events").map((event) => typed("Event", event).message),
  };
  await bench.create(DEPLOYMENTS, deployment(spec));
  await clock.settle();
  return Object.assign(bench, tools);
}

test("a deployment makes a set of its template, and is complete when its pods are available", async () => {
  const { sets, status, read, runPods, condition, events } = await setUp();
  const [set] = sets();
  const hash = set?.metadata.labels?.["pod-template-hash"] ?? "";
  expect(set).toMatchObject({
    metadata: {
      name: `web-${hash}`,
      labels: { app: "web", "pod-template-hash": hash },
      ownerReferences: [{ kind: "Deployment", name: "web", controller: true }],
      annotations: {
        note: "mine",
        "deployment.kubernetes.io/revision": "1",
        "deployment.kubernetes.io/desired-replicas": "4",
        "deployment.kubernetes.io/max-replicas": "5",
      },
    },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: "web", "pod-template-hash": hash } },
      template: { metadata: { labels: { app: "web", "pod-template-hash": hash } } },
    },
  });
  expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
  expect(read().metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "1" });
  expect(status()).toMatchObject({ unavailableReplicas: 4, observedGeneration: 1, terminatingReplicas: 0 });
  expect(condition("Available")).toMatchObject({ status: "False", reason: "MinimumReplicasUnavailable" });
  expect(condition("Progressing")).toMatchObject({ status: "True", reason: "NewReplicaSetCreated" });
  await runPods("v1");
  expect(status()).toMatchObject({ replicas: 4, updatedReplicas: 4, readyReplicas: 4, availableReplicas: 4 });
  expect(condition("Available")).toMatchObject({ status: "True", message: "Deployment has minimum availability." });
  expect(condition("Progressing")).toMatchObject({
    reason: "NewReplicaSetAvailable",
    message: `ReplicaSet "web-${hash}" has successfully progressed.`,
  });
  expect(events()).toEqual([`Scaled up replica set web-${hash} from 0 to 4`]);
});

test("a rolling update keeps within its limits at every step", async () => {
  const { change, runPods, sizes, status } = await setUp();
  await runPods("v1");
  await change({ template: template("v2") });
  // The pods of the old set are there until its controller says otherwise.
  expect(sizes()).toEqual({ v1: 3, v2: 1 });
  await runPods("v1");
  expect(sizes()).toEqual({ v1: 3, v2: 2 });
  const seen: unknown[] = [];
  for (let turn = 0; turn < 8; turn++) {
    await runPods("v1", "v2");
    seen.push(sizes());
  }
  expect(seen.filter((size, index) => JSON.stringify(size) !== JSON.stringify(seen[index - 1]))).toEqual([
    { v1: 1, v2: 2 },
    { v1: 1, v2: 4 },
    { v2: 4 },
  ]);
  expect(status()).toMatchObject({ replicas: 4, updatedReplicas: 4, availableReplicas: 4 });
});

test("a template that never works stops the update where it is, and says so when its time is over", async () => {
  const { change, runPods, sizes, clock, condition } = await setUp();
  await runPods("v1");
  await change({ template: template("v2") });
  for (let turn = 0; turn < 4; turn++) await runPods("v1");
  expect(sizes()).toEqual({ v1: 3, v2: 2 });
  expect(condition("Progressing")).toMatchObject({ status: "True", reason: "ReplicaSetUpdated" });
  await clock.advance(602_000);
  expect(condition("Progressing")).toMatchObject({ status: "False", reason: "ProgressDeadlineExceeded" });
  expect(condition("Progressing")?.message).toMatch(/^ReplicaSet "web-\w+" has timed out progressing\.$/);
  await change({ template: template("v1") });
  for (let turn = 0; turn < 4; turn++) await runPods("v1");
  expect(sizes()).toEqual({ v1: 4 });
});

test("a rollback gives the old set the newest revision, and remembers what it was", async () => {
  const { change, complete, sets, read } = await setUp();
  await complete("v1");
  await change({ template: template("v2") });
  await complete("v2");
  await change({ template: template("v1") });
  await complete("v1");
  const annotations = sets().map(({ metadata }) => metadata.annotations ?? {});
  expect(annotations.map((own) => own["deployment.kubernetes.io/revision"]).sort()).toEqual(["2", "3"]);
  expect(annotations.map((own) => own["deployment.kubernetes.io/revision-history"])).toContain("1");
  expect(read().metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("3");
});

test("a revision beyond the numbers of JavaScript is counted on", async () => {
  const { change, complete, sets, read, writer } = await setUp();
  await complete("v1");
  for (const set of sets()) {
    const { resourceVersion: _any, annotations, ...metadata } = set.metadata;
    const revision = { "deployment.kubernetes.io/revision": "3546343826724305832" };
    await writer.update(SETS, { ...set, metadata: { ...metadata, annotations: { ...annotations, ...revision } } });
  }
  await change({ template: template("v2") });
  await complete("v2");
  expect(read().metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("3546343826724305833");
});

test("old sets go beyond the history", async () => {
  const { change, complete, sets } = await setUp({ revisionHistoryLimit: 1 });
  for (const version of ["v1", "v2", "v3", "v4"]) {
    await change({ template: template(version) });
    await complete(version);
  }
  const images = sets().map(({ spec }) => spec?.template?.spec?.containers[0]?.image);
  expect(images.sort()).toEqual(["v3", "v4"]);
});

test("recreating ends all old pods first", async () => {
  const { change, runPods, sizes, sets } = await setUp({ strategy: { type: "Recreate" } });
  await runPods("v1");
  await change({ template: template("v2") });
  expect(sizes()).toEqual({});
  expect(sets()).toHaveLength(1);
  await runPods();
  expect(sizes()).toEqual({ v2: 4 });
});

test("a paused deployment is scaled, and rolls out when it is resumed", async () => {
  const { change, runPods, sizes, condition } = await setUp();
  await runPods("v1");
  await change({ paused: true });
  await change({ template: template("v2"), replicas: 6 });
  expect(sizes()).toEqual({ v1: 6 });
  expect(condition("Progressing")).toMatchObject({ status: "Unknown", reason: "DeploymentPaused" });
  await runPods("v1");
  await change({ paused: false });
  expect(sizes()).toEqual({ v1: 5, v2: 1 });
  expect(condition("Progressing")?.reason).toBe("NewReplicaSetCreated");
  await runPods("v1");
  expect(sizes()).toEqual({ v1: 5, v2: 2 });
});

test("a deployment that is scaled in the middle of a rollout keeps its proportions", async () => {
  const { change, runPods, sizes } = await setUp({ replicas: 10 });
  await runPods("v1");
  await change({ template: template("v2") });
  for (let turn = 0; turn < 3; turn++) await runPods("v1");
  expect(sizes()).toEqual({ v1: 9, v2: 2 });
  await change({ replicas: 20 });
  expect(sizes()).toEqual({ v1: 17, v2: 4 });
  await change({ replicas: 0 });
  expect(sizes()).toEqual({});
});

test("another's set of the same name counts as a collision, and the next has another name", async () => {
  const { change, sets, writer, status } = await setUp();
  const [first] = sets();
  await change({ template: template("v2") });
  const second = sets().find(({ metadata }) => metadata.name !== first?.metadata.name);
  const name = second?.metadata.name ?? "";
  await writer.remove({ resource: SETS, namespace: "a", name });
  const foreign = { ...second, apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name, namespace: "a" } };
  await writer.create(SETS, foreign);
  await change({ paused: false });
  expect(status()?.collisionCount).toBe(1);
  expect(sets()).toHaveLength(3);
});

test("what a set or its creation fails at is told", async () => {
  const bench = await setUp();
  const { change, sets, writer, clock, condition, runPods } = bench;
  await runPods("v1");
  const failure = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" };
  const [set] = sets();
  const { resourceVersion: _any, ...metadata } = set?.metadata ?? {};
  const failed = { ...set?.status, replicas: 3, conditions: [failure] };
  await writer.update(SETS, { apiVersion: "apps/v1", kind: "ReplicaSet", ...set, metadata, status: failed }, "status");
  await clock.settle();
  expect(condition("ReplicaFailure")).toMatchObject({ status: "True", message: "exceeded quota" });
  await runPods("v1");
  expect(condition("ReplicaFailure")).toBeUndefined();
  bench.refuse = ({ verb, resource }) =>
    verb === "create" && resource === SETS ? new ApiError("Forbidden", "no") : undefined;
  await change({ template: template("v2") });
  expect(condition("Progressing")).toMatchObject({ status: "False", reason: "ReplicaSetCreateError" });
  expect(condition("Progressing")?.message).toMatch(/^Failed to create new replica set "web-\w+": no$/);
});

test("a complete deployment waits for nothing", async () => {
  const { complete, clock } = await setUp();
  await complete("v1");
  expect(clock.pendingTimers).toBe(0);
});
