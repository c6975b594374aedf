import {
  CoreV1Api,
  CustomObjectsApi,
  type Informer,
  type KubernetesObject,
  makeInformer,
  type ObjectCache,
  type V1ConfigMap,
  Watch,
} from "@kubernetes/client-node";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { startCluster, type TestCluster } from "../../../src/testing/start-cluster.ts";
import { type FragileProxy, startFragileProxy } from "./fragile-proxy.ts";
import { kubeConfigOf } from "./kube-config.ts";
import { WEBSITE_DEFINITION, website } from "./website.ts";

let cluster: TestCluster;
let core: CoreV1Api;
let namespace: string;
let namespaces = 0;
const informers: Array<{ stop(): Promise<void> }> = [];

beforeAll(async () => {
  cluster = await startCluster({ crds: [WEBSITE_DEFINITION] });
  core = kubeConfigOf(cluster).makeApiClient(CoreV1Api);
});
afterAll(async () => cluster.stop());
afterEach(async () => {
  await Promise.all(informers.splice(0).map((informer) => informer.stop()));
});

async function newNamespace(): Promise<void> {
  namespaces += 1;
  namespace = `informers-${namespaces}`;
  await core.createNamespace({ body: { metadata: { name: namespace } } });
}

const create = (name: string, labels: Record<string, string> = {}) =>
  core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels }, data: { step: "0" } } });
const remove = (name: string) => core.deleteNamespacedConfigMap({ namespace, name });
async function change(name: string, data: Record<string, string>, labels: Record<string, string> = {}): Promise<void> {
  await core.replaceNamespacedConfigMap({ namespace, name, body: { metadata: { name, labels }, data } });
}

type ConfigMapInformer = Informer<V1ConfigMap> & ObjectCache<V1ConfigMap>;

interface Followed {
  informer: ConfigMapInformer;
  told: string[];
  failed: Error[];
  /** How often it listed, rather than watched. */
  listed: ReturnType<typeof vi.fn>;
}

/** What an informer of the namespace's config maps with the label `kept` tells, one line each. */
async function follow(url?: string): Promise<Followed> {
  const config = kubeConfigOf(cluster, url);
  const client = config.makeApiClient(CoreV1Api);
  const listed = vi.fn();
  const list = () => {
    listed();
    return client.listNamespacedConfigMap({ namespace, labelSelector: "kept" });
  };
  const informer = makeInformer<V1ConfigMap>(config, `/api/v1/namespaces/${namespace}/configmaps`, list, "kept");
  informers.push(informer);
  const told: string[] = [];
  const failed: Error[] = [];
  for (const verb of ["add", "update", "delete"] as const) {
    informer.on(verb, ({ metadata, data }) => told.push(`${verb} ${metadata?.name} ${data?.["step"]}`));
  }
  informer.on("error", (error) => failed.push(error));
  await informer.start();
  return { informer, told, failed, listed };
}

const KEPT = { kept: "yes" };

describe("an informer", () => {
  it("sees what is there, and then every addition, change and removal in order", async () => {
    await newNamespace();
    await create("before", KEPT);
    const { told } = await follow();
    await create("after", KEPT);
    await change("after", { step: "1" }, KEPT);
    await change("before", { step: "1" }, KEPT);
    await remove("after");
    await vi.waitFor(
      () => {
        expect(told).toEqual(["add before 0", "add after 0", "update after 1", "update before 1", "delete after 1"]);
      },
      { timeout: 20_000 },
    );
  });

  it("sees only what its selector selects: what ceases to match is deleted for it, what begins to is added", async () => {
    await newNamespace();
    const { told, informer } = await follow();
    await create("never");
    await create("leaves", KEPT);
    await create("joins");
    await change("leaves", { step: "1" });
    await change("joins", { step: "1" }, KEPT);
    await vi.waitFor(() => expect(told).toEqual(["add leaves 0", "delete leaves 0", "add joins 1"]), {
      timeout: 20_000,
    });
    expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(["joins"]);
  });

  it("misses nothing of a hundred writes at once, and ends with what is stored", async () => {
    await newNamespace();
    const { told, informer } = await follow();
    const names = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    await Promise.all(names.map((name) => create(name, KEPT)));
    await Promise.all(names.map((name) => change(name, { step: "1" }, KEPT)));
    await vi.waitFor(() => expect(told).toHaveLength(200), { timeout: 20_000 });
    expect(new Set(told)).toEqual(new Set(names.flatMap((name) => [`add ${name} 0`, `update ${name} 1`])));
    const stored = await core.listNamespacedConfigMap({ namespace, labelSelector: "kept" });
    const versions = (items: readonly KubernetesObject[]) =>
      items.map(({ metadata }) => metadata?.resourceVersion).sort();
    expect(versions(informer.list())).toEqual(versions(stored.items));
  });

  it("sees custom resources, and their status", async () => {
    const config = kubeConfigOf(cluster);
    const custom = config.makeApiClient(CustomObjectsApi);
    const target = { group: "example.com", version: "v1", namespace: "default", plural: "websites" };
    const informer = makeInformer(config, "/apis/example.com/v1/namespaces/default/websites", () =>
      custom.listNamespacedCustomObject(target),
    );
    informers.push(informer);
    const seen: unknown[] = [];
    informer.on("change", (object) => seen.push(object));
    await informer.start();
    await cluster.apply(website("home", { html: "" }));
    const patch = [{ op: "add", path: "/status", value: { ready: true } }];
    await custom.patchNamespacedCustomObjectStatus({ ...target, name: "home", body: patch });
    await vi.waitFor(() => expect(seen).toHaveLength(2), { timeout: 20_000 });
    expect(seen).toMatchObject([{ spec: { html: "", replicas: 1 } }, { spec: { html: "" }, status: { ready: true } }]);
  });
});

describe("an informer whose connection breaks", () => {
  let proxy: FragileProxy;
  beforeAll(async () => {
    proxy = await startFragileProxy(cluster.url);
  });
  afterAll(async () => proxy.close());

  it("goes on where it was, and is told what happened meanwhile", async () => {
    await newNamespace();
    await create("a", KEPT);
    await create("b", KEPT);
    const { informer, told, failed, listed } = await follow(proxy.url);
    proxy.cut();
    await vi.waitFor(() => expect(failed).toHaveLength(1), { timeout: 20_000 });
    await change("a", { step: "1" }, KEPT);
    await remove("b");
    await create("c", KEPT);
    proxy.mend();
    await informer.start();
    await vi.waitFor(
      () => {
        expect(told).toEqual(["add a 0", "add b 0", "update a 1", "delete b 0", "add c 0"]);
      },
      { timeout: 20_000 },
    );
    expect(listed).toHaveBeenCalledTimes(1);
  });

  it("lists anew when it was away for longer than history is kept", async () => {
    await newNamespace();
    await create("a", KEPT);
    await create("b", KEPT);
    const { informer, told, failed, listed } = await follow(proxy.url);
    proxy.cut();
    await vi.waitFor(() => expect(failed).toHaveLength(1), { timeout: 20_000 });
    await change("a", { step: "1" }, KEPT);
    await remove("b");
    await create("c", KEPT);
    await pushOutOfHistory();
    proxy.mend();
    await informer.start();
    await vi.waitFor(
      () => {
        expect(new Set(told)).toEqual(new Set(["add a 0", "add b 0", "update a 1", "delete b 0", "add c 0"]));
      },
      { timeout: 20_000 },
    );
    await create("d", KEPT);
    await vi.waitFor(() => expect(told.at(-1)).toBe("add d 0"), { timeout: 20_000 });
    expect(listed).toHaveBeenCalledTimes(2);
    expect(failed).toHaveLength(1);
  });
});

/** More bytes of changes than any history keeps. */
async function pushOutOfHistory(): Promise<void> {
  await create("bulk");
  for (let round = 0; round < 20; round++) await change("bulk", { step: String(round).repeat(400_000) });
}

describe("a watch", () => {
  interface Event {
    type: string;
    code: unknown;
    annotations: unknown;
    name: unknown;
  }

  async function watchConfigMaps(query: Record<string, string | number | boolean>): Promise<Event[]> {
    const events: Event[] = [];
    await new Promise<void>((resolve, reject) => {
      const take = (type: string, object: { code?: unknown } & KubernetesObject) =>
        events.push({
          type,
          code: object.code,
          annotations: object.metadata?.annotations,
          name: object.metadata?.name,
        });
      const done = (error: unknown) =>
        error === null ? resolve() : reject(error instanceof Error ? error : new Error(String(error)));
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      new Watch(kubeConfigOf(cluster)).watch(path, { labelSelector: "kept", ...query }, take, done).catch(reject);
    });
    return events;
  }

  it("begins with a list where it is asked to, and says where that ends", async () => {
    await newNamespace();
    await create("a", KEPT);
    const events = await watchConfigMaps({
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: true,
      timeoutSeconds: 1,
    });
    expect(events).toMatchObject([
      { type: "ADDED", name: "a" },
      { type: "BOOKMARK", annotations: { "k8s.io/initial-events-end": "true" } },
      { type: "BOOKMARK" },
    ]);
  });

  it("ends with 410 where it asks for what is forgotten", async () => {
    await newNamespace();
    const { metadata } = await create("a", KEPT);
    await pushOutOfHistory();
    const events = await watchConfigMaps({ resourceVersion: metadata?.resourceVersion ?? "" });
    expect(events).toMatchObject([{ type: "ERROR", code: 410 }]);
  });

  it("tells why it is refused", async () => {
    await newNamespace();
    await expect(watchConfigMaps({ labelSelector: "!!" })).rejects.toMatchObject({ statusCode: 400 });
  });
});
