import { Writable } from "node:stream";
import {
  AppsV1Api,
  CoordinationV1Api,
  CoreV1Api,
  Exec,
  KubernetesObjectApi,
  Log,
  Metrics,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  type V1Lease,
  V1MicroTime,
  VersionApi,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster, type TestCluster } from "../../../src/testing/start-cluster.ts";
import { kubeConfigOf } from "./kube-config.ts";
import { WEBSITE_DEFINITION, website } from "./website.ts";

let cluster: TestCluster;
let core: CoreV1Api;
let objects: KubernetesObjectApi;
const namespace = "default";

beforeAll(async () => {
  cluster = await startCluster({ crds: [WEBSITE_DEFINITION] });
  const config = kubeConfigOf(cluster);
  core = config.makeApiClient(CoreV1Api);
  objects = KubernetesObjectApi.makeApiClient(config);
});
afterAll(async () => cluster.stop());

describe("KubernetesObjectApi", () => {
  const identity = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings", namespace } };

  it("creates, reads, lists, replaces and deletes a built-in kind", async () => {
    const created = await objects.create<V1ConfigMap>({ ...identity, data: { a: "1" } });
    expect(created).toMatchObject({ data: { a: "1" }, metadata: { uid: expect.any(String) } });
    expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);
    const replaced = await objects.replace({ ...created, data: { a: "2" } });
    expect(await objects.read<V1ConfigMap>(identity)).toEqual(replaced);
    const selected = await objects.list(
      "v1",
      "ConfigMap",
      namespace,
      undefined,
      undefined,
      undefined,
      "metadata.name=settings",
    );
    expect(selected.items).toHaveLength(1);
    await expect(objects.replace({ ...created, data: { a: "3" } })).rejects.toMatchObject({ code: 409 });
    expect(await objects.delete(identity)).toMatchObject({ status: "Success" });
    await expect(objects.read(identity)).rejects.toMatchObject({ code: 404 });
  });

  it("does the same with a custom kind, whose path it looks up", async () => {
    const created = await objects.create(website("made", { html: "1" }));
    expect(created).toMatchObject({ spec: { html: "1", replicas: 1 }, metadata: { generation: 1 } });
    const replaced = await objects.replace({ ...created, spec: { html: "2" } });
    expect(replaced).toMatchObject({ spec: { html: "2", replicas: 1 }, metadata: { generation: 2 } });
    expect((await objects.list("example.com/v1", "Website")).items).toHaveLength(1);
    await objects.delete(website("made", {}));
    expect((await objects.list("example.com/v1", "Website")).items).toEqual([]);
  });

  it("tries without doing", async () => {
    const tried = await objects.create({ ...identity, metadata: { name: "tried", namespace } }, undefined, "All");
    expect(tried).toHaveProperty("metadata.uid");
    await expect(objects.read({ ...identity, metadata: { name: "tried", namespace } })).rejects.toMatchObject({
      code: 404,
    });
  });

  it("pages through a list", async () => {
    await core.createNamespace({ body: { metadata: { name: "paged" } } });
    const names = Array.from({ length: 25 }, (_, index) => `page-${String(index).padStart(2, "0")}`);
    for (const name of names) await core.createNamespacedSecret({ namespace: "paged", body: { metadata: { name } } });
    const seen: unknown[] = [];
    let next: string | undefined;
    do {
      const page = await core.listNamespacedSecret({ namespace: "paged", limit: 10, ...(next && { _continue: next }) });
      seen.push(...page.items.map(({ metadata }) => metadata?.name));
      next = page.metadata?._continue;
    } while (next);
    expect(seen).toEqual(names);
  });
});

describe("patches", () => {
  const containers = (...names: string[]) => names.map((name) => ({ name, image: `example.com/${name}:1` }));
  let apps: AppsV1Api;
  let made = 0;

  beforeAll(() => {
    apps = kubeConfigOf(cluster).makeApiClient(AppsV1Api);
  });

  async function createDeployment(): Promise<string> {
    made += 1;
    const name = `patched-${made}`;
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: containers("main") } };
    const body = {
      metadata: { name, annotations: { keep: "yes", drop: "yes" } },
      spec: { selector: { matchLabels: labels }, template },
    };
    await apps.createNamespacedDeployment({ namespace, body });
    return name;
  }

  it.each([
    {
      strategy: PatchStrategy.JsonPatch,
      body: [
        { op: "remove", path: "/metadata/annotations/drop" },
        { op: "add", path: "/spec/template/spec/containers/-", value: containers("side")[0] },
      ],
      images: ["main", "side"],
    },
    {
      strategy: PatchStrategy.MergePatch,
      body: {
        metadata: { annotations: { drop: null } },
        spec: { template: { spec: { containers: containers("side") } } },
      },
      images: ["side"],
    },
    {
      strategy: PatchStrategy.StrategicMergePatch,
      body: {
        metadata: { annotations: { drop: null } },
        spec: { template: { spec: { containers: containers("side") } } },
      },
      images: ["side", "main"],
    },
  ])("$strategy", async ({ strategy, body, images }) => {
    const name = await createDeployment();
    const options = setHeaderOptions("Content-Type", strategy);
    const patched = await apps.patchNamespacedDeployment({ name, namespace, body }, options);
    // The deployment's controller may have added its own.
    expect(patched.metadata?.annotations).toMatchObject({ keep: "yes" });
    expect(patched.metadata?.annotations).not.toHaveProperty("drop");
    expect(patched.spec?.template.spec?.containers.map((container) => container.name)).toEqual(images);
    expect(patched.metadata?.generation).toBe(2);
  });

  it("server-side apply owns what it says, and meets others' fields with a conflict", async () => {
    const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owned", namespace }, data: { a: "1" } };
    const apply = (data: Record<string, string>, manager: string, force = false) =>
      objects.patch<V1ConfigMap>(
        { ...applied, data },
        undefined,
        undefined,
        manager,
        force,
        PatchStrategy.ServerSideApply,
      );
    await apply({ a: "1" }, "first");
    expect((await apply({ b: "2" }, "second")).data).toEqual({ a: "1", b: "2" });
    await expect(apply({ a: "3" }, "second")).rejects.toMatchObject({
      code: 409,
      body: expect.stringContaining('conflict with \\"first\\"'),
    });
    const forced = await apply({ a: "3" }, "second", true);
    expect(forced.data).toEqual({ a: "3" });
    expect(forced.metadata?.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)).toEqual([
      "second Apply",
    ]);
  });
});

describe("a lease that several candidates want", () => {
  const spec = (holderIdentity: string) => ({
    holderIdentity,
    leaseDurationSeconds: 15,
    acquireTime: new V1MicroTime(),
    renewTime: new V1MicroTime(),
  });

  it("goes to exactly one of them, and is renewed by no other", async () => {
    const leases = kubeConfigOf(cluster).makeApiClient(CoordinationV1Api);
    const candidates = Array.from({ length: 10 }, (_, index) => `candidate-${index}`);
    const created = await Promise.allSettled(
      candidates.map((holder) =>
        leases.createNamespacedLease({ namespace, body: { metadata: { name: "leader" }, spec: spec(holder) } }),
      ),
    );
    const won = created.filter((result) => result.status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const { reason } of created.filter((result) => result.status === "rejected"))
      expect(reason).toMatchObject({ code: 409 });

    const held = await leases.readNamespacedLease({ name: "leader", namespace });
    // The client leaves a MicroTime as the server wrote it: to the microsecond.
    expect(held.spec?.renewTime).toMatch(/T\d\d:\d\d:\d\d\.\d{6}Z$/);
    const take = (holder: string): Promise<V1Lease> =>
      leases.replaceNamespacedLease({
        name: "leader",
        namespace,
        body: { ...held, spec: { ...held.spec, ...spec(holder) } },
      });
    const taken = await Promise.allSettled(candidates.map(take));
    expect(taken.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const winner = candidates[taken.findIndex(({ status }) => status === "fulfilled")];
    expect((await leases.readNamespacedLease({ name: "leader", namespace })).spec?.holderIdentity).toBe(winner);
  });
});

describe("what a cluster without a node cannot do", () => {
  beforeAll(async () => {
    const spec = { containers: [{ name: "main", image: "example.com/main:1" }] };
    await core.createNamespacedPod({ namespace, body: { metadata: { name: "idle" }, spec } });
  });

  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });

  it("refuses exec: the pod is on no node", async () => {
    const exec = new Exec(kubeConfigOf(cluster)).exec(namespace, "idle", "main", ["true"], sink(), sink(), null, false);
    await expect(exec).rejects.toMatchObject({ message: expect.stringContaining("400") });
  });

  it("has no logs: nothing is sent, which the client takes for a failure", async () => {
    const log = new Log(kubeConfigOf(cluster)).log(namespace, "idle", "main", sink());
    await expect(log).rejects.toMatchObject({ code: 204 });
    await expect(core.readNamespacedPodLog({ namespace, name: "idle" })).rejects.toThrow("No Content-Type");
  });

  it("has metrics of no pod", async () => {
    const metrics = await new Metrics(kubeConfigOf(cluster)).getPodMetrics();
    expect(metrics).toMatchObject({ kind: "PodMetricsList", items: [] });
  });
});

describe("errors", () => {
  it("name what is wrong with an object, field by field", async () => {
    const body = {
      metadata: { name: "wrong" },
      spec: { containers: [{ name: "Main", image: "a" }], restartPolicy: "Sometimes" },
    };
    const error: unknown = await core.createNamespacedPod({ namespace, body }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 422, body: expect.any(String) });
    const status: unknown = JSON.parse(String(Reflect.get(Object(error), "body")));
    expect(status).toMatchObject({ kind: "Status", reason: "Invalid", details: { name: "wrong", kind: "Pod" } });
    expect(status).toHaveProperty(
      "details.causes",
      expect.arrayContaining([
        expect.objectContaining({ field: "spec.containers[0].name" }),
        expect.objectContaining({ field: "spec.restartPolicy" }),
      ]),
    );
  });

  it("tell an unknown resource from a missing object", async () => {
    await expect(objects.list("example.com/v9", "Website")).rejects.toMatchObject({ code: 404 });
    await expect(core.readNamespacedPod({ namespace, name: "missing" })).rejects.toMatchObject({
      code: 404,
      body: expect.stringContaining('pods \\"missing\\" not found'),
    });
  });
});

it("says what it is", async () => {
  const version = await kubeConfigOf(cluster).makeApiClient(VersionApi).getCode();
  expect(version).toMatchObject({ major: "1", minor: "36", gitVersion: expect.stringMatching(/^v1\.36\./) });
});
