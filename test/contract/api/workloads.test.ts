import { beforeAll, describe, expect, it } from "vitest";
import { type KubeObject, typed } from "../../../src/api/object.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { deployment, newNamespace, pathsIn } from "./objects.ts";

/** A kube-apiserver alone has no controllers. */
const OURS = apiServersUnderTest().filter(({ isOurs }) => isOurs);
const READY = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };

describe.each(OURS)("workloads, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let paths: ReturnType<typeof pathsIn>;
  let sets: string;
  let controllers: string;

  beforeAll(async () => {
    const namespace = await newNamespace(server.admin);
    paths = pathsIn(namespace);
    sets = `/apis/apps/v1/namespaces/${namespace}/replicasets`;
    controllers = `/api/v1/namespaces/${namespace}/replicationcontrollers`;
  });

  const listOf = async (path: string, app: string): Promise<readonly KubeObject[]> => {
    const { items } = await server.admin.list(path, { labelSelector: `app=${app}` });
    return items;
  };
  const podsOf = async (app: string) =>
    (await listOf(paths.pods, app)).map((pod) => typed("Pod", { ...pod, kind: "Pod" }));
  const imagesOf = async (app: string) => (await podsOf(app)).map(({ spec }) => spec?.containers[0]?.image ?? "");
  /** What a node does: the pods run and are ready, but for those of an image that does not exist. */
  const runPods = async (app: string) => {
    for (const { metadata, spec, status } of await podsOf(app)) {
      const isOver = status?.phase === "Running" || metadata.deletionTimestamp !== undefined;
      if (isOver || spec?.containers[0]?.image === "example.com/broken:1") continue;
      const running = { status: { phase: "Running", conditions: [READY] } };
      await server.admin.patch("merge", `${paths.pods}/${metadata.name ?? ""}/status`, running);
    }
  };
  const create = async (app: string, replicas: number) => {
    await server.admin.object("POST", paths.deployments, deployment(app, replicas));
  };
  const setImage = async (app: string, image: string) => {
    const patch = { spec: { template: { spec: { containers: [{ name: "main", image }] } } } };
    expect(await server.admin.patch("strategic", `${paths.deployments}/${app}`, patch)).toMatchObject({ status: 200 });
  };
  const read = async (app: string) => await server.admin.object("GET", `${paths.deployments}/${app}`);
  const untilComplete = async (app: string, image: string, replicas: number) => {
    const state = async () => {
      await runPods(app);
      return { images: await imagesOf(app), deployment: await read(app) };
    };
    const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
    const conditions = expect.arrayContaining([
      expect.objectContaining({ type: "Available", status: "True", reason: "MinimumReplicasAvailable" }),
      expect.objectContaining({ type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" }),
    ]);
    await expect.poll(state).toMatchObject({
      images: Array.from({ length: replicas }, () => image),
      deployment: { status: { ...counts, conditions } },
    });
  };

  it("a deployment makes its pods, rolls a change out, and goes back", async () => {
    await create("web", 3);
    await untilComplete("web", "example.com/main:1", 3);
    await setImage("web", "example.com/main:2");
    await untilComplete("web", "example.com/main:2", 3);
    expect(await read("web")).toMatchObject({
      metadata: { annotations: { "deployment.kubernetes.io/revision": "2" } },
    });
    await setImage("web", "example.com/main:1");
    await untilComplete("web", "example.com/main:1", 3);
    const [first, second] = (await listOf(sets, "web")).map(({ metadata }) => metadata.annotations ?? {});
    const revisions = [first, second].map((own) => own?.["deployment.kubernetes.io/revision"]);
    expect(revisions.toSorted()).toEqual(["2", "3"]);
  });

  it("a change that never works leaves the others running, and says so in time", async () => {
    await create("stuck", 4);
    await untilComplete("stuck", "example.com/main:1", 4);
    await server.admin.patch("merge", `${paths.deployments}/stuck`, { spec: { progressDeadlineSeconds: 1 } });
    await setImage("stuck", "example.com/broken:1");
    const conditions = expect.arrayContaining([
      expect.objectContaining({ type: "Available", status: "True" }),
      expect.objectContaining({ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }),
    ]);
    await expect.poll(async () => await read("stuck")).toMatchObject({ status: { availableReplicas: 3, conditions } });
    expect((await imagesOf("stuck")).filter((image) => image === "example.com/main:1")).toHaveLength(3);
  });

  it("is scaled by its subresource, and told so in events", async () => {
    await create("scaled", 1);
    await untilComplete("scaled", "example.com/main:1", 1);
    await server.admin.patch("merge", `${paths.deployments}/scaled/scale`, { spec: { replicas: 3 } });
    await untilComplete("scaled", "example.com/main:1", 3);
    const query = { fieldSelector: "involvedObject.name=scaled" };
    const events = async () => {
      const { items } = await server.admin.list(paths.pods.replace(/pods$/, "events"), query);
      return items.map((event) => `${String(event["reason"])}: ${String(event["message"])}`).toSorted();
    };
    await expect
      .poll(events)
      .toEqual([
        expect.stringMatching(/^ScalingReplicaSet: Scaled up replica set scaled-\w+ from 0 to 1$/),
        expect.stringMatching(/^ScalingReplicaSet: Scaled up replica set scaled-\w+ from 1 to 3$/),
      ]);
  });

  it("is deleted with all that it made, or leaves it", async () => {
    await create("gone", 2);
    await create("left", 2);
    for (const app of ["gone", "left"]) await untilComplete(app, "example.com/main:1", 2);
    await server.admin.json("DELETE", `${paths.deployments}/gone`, { propagationPolicy: "Foreground" });
    await server.admin.json("DELETE", `${paths.deployments}/left`, { propagationPolicy: "Orphan" });
    const left = async () => [
      await listOf(sets, "gone"),
      await podsOf("gone"),
      await listOf(paths.deployments, "left"),
    ];
    await expect.poll(left).toEqual([[], [], []]);
    const [set] = await listOf(sets, "left");
    expect(set?.metadata.ownerReferences ?? []).toEqual([]);
    expect(await podsOf("left")).toHaveLength(2);
  });

  it("a replication controller adopts a pod that it selects", async () => {
    const template = { metadata: { labels: { app: "old" } }, spec: { containers: [{ name: "c", image: "i:1" }] } };
    await server.admin.object("POST", paths.pods, { ...template, metadata: { ...template.metadata, name: "mine" } });
    const spec = { replicas: 2, selector: { app: "old" }, template };
    await server.admin.object("POST", controllers, { metadata: { name: "old" }, spec });
    const owners = async () => (await podsOf("old")).map(({ metadata }) => metadata.ownerReferences?.[0]?.kind);
    await expect.poll(owners).toEqual(["ReplicationController", "ReplicationController"]);
    await expect
      .poll(async () => await server.admin.object("GET", `${controllers}/old`))
      .toMatchObject({ status: { replicas: 2, fullyLabeledReplicas: 2, observedGeneration: 1 } });
  });

  it("a budget lets one pod after the other be evicted", async () => {
    await create("guarded", 3);
    await untilComplete("guarded", "example.com/main:1", 3);
    const spec = { maxUnavailable: "34%", selector: { matchLabels: { app: "guarded" } } };
    await server.admin.object("POST", paths.budgets, { metadata: { name: "guarded" }, spec });
    const budget = async () => await server.admin.object("GET", `${paths.budgets}/guarded`);
    const counted = { currentHealthy: 3, desiredHealthy: 1, expectedPods: 3, disruptionsAllowed: 2 };
    await expect.poll(budget).toMatchObject({ status: counted });
    const names = (await podsOf("guarded")).map(({ metadata }) => metadata.name ?? "");
    const evictions = await Promise.all(
      names.map((name) => {
        const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } };
        return server.admin.json("POST", `${paths.pods}/${name}/eviction`, body);
      }),
    );
    expect(evictions.map(({ status }) => status).toSorted()).toEqual([201, 201, 429]);
    await untilComplete("guarded", "example.com/main:1", 3);
    await expect.poll(budget).toMatchObject({ status: { currentHealthy: 3, disruptionsAllowed: 2 } });
  });
});
