import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CoreV1Api, CustomObjectsApi, makeInformer, RbacAuthorizationV1Api } from "@kubernetes/client-node";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  type AppliedObject,
  ClusterError,
  type StartClusterOptions,
  startCluster,
  type TestCluster,
} from "../../../src/testing/start-cluster.ts";
import { kubeConfigOf } from "./kube-config.ts";
import { WEBSITE_DEFINITION, website } from "./website.ts";

const started: TestCluster[] = [];
async function stopAll(): Promise<void> {
  await Promise.all(started.splice(0).map((cluster) => cluster.stop()));
}
afterEach(stopAll);

async function start(options?: StartClusterOptions): Promise<TestCluster> {
  const cluster = await startCluster(options);
  started.push(cluster);
  return cluster;
}

const coreOf = (access: { kubeconfig: string }) => kubeConfigOf(access).makeApiClient(CoreV1Api);

let temporary: string;
const usual = process.env["TMPDIR"];

// A directory for temporary files that nobody else uses: what is in it after a test, the test left behind.
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), "nodelet-start-cluster-"));
  process.env["TMPDIR"] = temporary;
});
afterAll(async () => {
  if (usual === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = usual;
  await rm(temporary, { recursive: true });
});

describe("startCluster", () => {
  it("is ready for pods, too", async () => {
    const core = coreOf(await start());
    const spec = { containers: [{ name: "main", image: "example.com/main:1" }] };
    const pod = await core.createNamespacedPod({ namespace: "default", body: { metadata: { name: "first" }, spec } });
    expect(pod.spec?.serviceAccountName).toBe("default");
    expect(pod.status?.phase).toBe("Pending");
  });

  it("takes pods in a namespace as soon as that is created", async () => {
    const core = coreOf(await start());
    const spec = { containers: [{ name: "main", image: "example.com/main:1" }] };
    for (let index = 0; index < 30; index++) {
      const namespace = `fresh-${index}`;
      await core.createNamespace({ body: { metadata: { name: namespace } } });
      await core.createNamespacedPod({ namespace, body: { metadata: { name: "first" }, spec } });
    }
    expect((await core.listPodForAllNamespaces()).items).toHaveLength(30);
  });

  it("refuses an option that it does not have, by an error of its own class", async () => {
    const options: StartClusterOptions = JSON.parse('{"crd": []}');
    const error = await startCluster(options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ClusterError);
    expect(error).toMatchObject({
      code: "option-invalid",
      message: "startCluster has no option crd; it has port, crds, node, images, log, signal",
    });
  });

  it("returns what it has applied, in the order of the manifests", async () => {
    const cluster = await start({ crds: WEBSITE_DEFINITION });
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } };
    const [home, made]: AppliedObject[] = await cluster.apply(website("home", { html: "hello" }), map);
    expect(home).toMatchObject({
      kind: "Website",
      metadata: { name: "home", namespace: "default", uid: expect.any(String) },
    });
    expect(made?.metadata.name).toMatch(/^made-.{5}$/);
  });

  it("says that there is no node, and why", async () => {
    const cluster = await start();
    expect(cluster.node).toEqual({ running: false, reason: expect.stringContaining("no pod runs") });
    expect((await coreOf(cluster).listNode()).items).toEqual([]);
  });

  it("runs twenty at once, each with objects of its own", async () => {
    const clusters = await Promise.all(Array.from({ length: 20 }, () => start()));
    expect(new Set(clusters.map(({ url }) => url)).size).toBe(20);
    await Promise.all(
      clusters.map((cluster, index) => {
        return coreOf(cluster).createNamespace({ body: { metadata: { name: `of-${index}` } } });
      }),
    );
    const names = await Promise.all(
      clusters.map(async (cluster) => {
        const { items } = await coreOf(cluster).listNamespace();
        return items.flatMap(({ metadata }) => metadata?.name ?? []).filter((name) => name.startsWith("of-"));
      }),
    );
    expect(names).toEqual(clusters.map((_, index) => [`of-${index}`]));
  });

  it("keeps its kubeconfigs to their owner", async () => {
    const cluster = await start();
    const { kubeconfigPath } = await cluster.addUser("jane");
    for (const path of [cluster.kubeconfigPath, kubeconfigPath]) expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(kubeconfigPath))).mode & 0o777).toBe(0o700);
  });

  it("tells a callback what the control plane logs", async () => {
    const log = vi.fn();
    await start({ log });
    expect(log).toHaveBeenCalledWith(
      "info",
      "the control plane is ready",
      expect.objectContaining({ revision: expect.any(Number) }),
    );
  });
});

describe("stopping a cluster", () => {
  it("leaves no directory and no port behind, also when it is asked twice", async () => {
    const cluster = await start();
    await cluster.addUser("jane");
    await Promise.all([cluster.stop(), cluster.stop()]);
    await cluster.stop();
    expect(await readdir(temporary)).toEqual([]);
    await expect(coreOf(cluster).listNamespace()).rejects.toThrow("ECONNREFUSED");
  });

  it("ends watches that are open, and tells them", async () => {
    const cluster = await start();
    const core = coreOf(cluster);
    const ended = vi.fn();
    const informers = Array.from({ length: 20 }, () => {
      const informer = makeInformer(kubeConfigOf(cluster), "/api/v1/namespaces", () => core.listNamespace());
      informer.on("error", ended);
      return informer;
    });
    await Promise.all(informers.map((informer) => informer.start()));
    await cluster.stop();
    await vi.waitFor(() => expect(ended).toHaveBeenCalledTimes(20), { timeout: 20_000 });
  });

  it("happens by itself at the end of a block", async () => {
    let url = "";
    {
      await using cluster = await startCluster();
      ({ url } = cluster);
      expect(await readdir(temporary)).toHaveLength(1);
    }
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    expect(await readdir(temporary)).toEqual([]);
  });

  it("is told to whoever uses it afterwards", async () => {
    const cluster = await start();
    await cluster.stop();
    await expect(cluster.apply(WEBSITE_DEFINITION)).rejects.toMatchObject({ code: "stopped" });
    await expect(cluster.addUser("jane")).rejects.toMatchObject({ code: "stopped" });
  });
});

describe("a start that fails", () => {
  it("names the port that is taken and what to do about it", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    try {
      const address = taken.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      await expect(startCluster({ port })).rejects.toMatchObject({
        code: "listen-failed",
        message: expect.stringMatching(new RegExp(`127\\.0\\.0\\.1:${port}.*stop it or choose another port`)),
      });
    } finally {
      taken.close();
    }
    expect(await readdir(temporary)).toEqual([]);
  });

  it("leaves nothing behind when a definition is refused", async () => {
    const refused = { ...WEBSITE_DEFINITION, metadata: { name: "sites.other.example" } };
    await expect(startCluster({ crds: [refused] })).rejects.toMatchObject({
      code: "manifest-refused",
      message: expect.stringContaining("metadata.name"),
    });
    expect(await readdir(temporary)).toEqual([]);
  });

  it("ends at whichever point it is given up", async () => {
    await expect(startCluster({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
    const outcomes = new Set<string>();
    for (const afterMs of [1, 3, 6, 12, 25, 50, 100]) {
      try {
        await start({ signal: AbortSignal.timeout(afterMs), crds: [WEBSITE_DEFINITION] });
        outcomes.add("started");
      } catch (error) {
        outcomes.add(error instanceof Error ? error.name : "unknown");
      }
    }
    await stopAll();
    // The first never has the time; how many of the others do is the machine's matter.
    expect(outcomes).toContain("AbortError");
    expect([...outcomes].filter((outcome) => outcome !== "started")).toEqual(["AbortError"]);
    expect(await readdir(temporary)).toEqual([]);
  });
});

describe("custom resources", () => {
  it("are served when the cluster is", async () => {
    const cluster = await start({ crds: [WEBSITE_DEFINITION] });
    await cluster.apply(website("home", { html: "<p>1</p>" }));
    await cluster.apply(website("home", { html: "<p>2</p>" }));
    expect(await readSpec(cluster, "home")).toEqual({ html: "<p>2</p>", replicas: 1 });
  });

  it("may be defined and made in one go, in any order", async () => {
    const cluster = await start();
    await cluster.apply([website("home", { html: "" }), WEBSITE_DEFINITION]);
    expect(await readSpec(cluster, "home")).toEqual({ html: "", replicas: 1 });
  });

  it("are refused with the field that is wrong", async () => {
    const cluster = await start({ crds: [WEBSITE_DEFINITION] });
    const apply = cluster.apply(website("home", { html: 1 }));
    await expect(apply).rejects.toMatchObject({
      code: "manifest-refused",
      message: expect.stringContaining("spec.html"),
    });
  });

  it("are not established under names that another definition has", async () => {
    const { spec } = WEBSITE_DEFINITION;
    const other = {
      ...WEBSITE_DEFINITION,
      metadata: { name: "sites.example.com" },
      spec: { ...spec, names: { ...spec.names, plural: "sites" } },
    };
    await expect(startCluster({ crds: [WEBSITE_DEFINITION, other] })).rejects.toMatchObject({
      code: "not-established",
      message: expect.stringContaining("already in use"),
    });
  });
});

async function readSpec(cluster: TestCluster, name: string): Promise<unknown> {
  const api = kubeConfigOf(cluster).makeApiClient(CustomObjectsApi);
  const target = { group: "example.com", version: "v1", namespace: "default", plural: "websites", name };
  const found: unknown = await api.getNamespacedCustomObject(target);
  return typeof found === "object" && found !== null && "spec" in found ? found.spec : undefined;
}

describe("users", () => {
  const ROLE = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: Group, name: readers, apiGroup: rbac.authorization.k8s.io}]
`;

  it("may do what the roles of their names and groups allow, and no more", async () => {
    const cluster = await start();
    await cluster.apply(ROLE);
    const reader = coreOf(await cluster.addUser("jane", ["readers"]));
    const stranger = coreOf(await cluster.addUser("joe"));
    expect((await reader.listNamespacedConfigMap({ namespace: "default" })).items).not.toEqual([]);
    await expect(reader.listNamespacedSecret({ namespace: "default" })).rejects.toMatchObject({ code: 403 });
    await expect(stranger.listNamespacedConfigMap({ namespace: "default" })).rejects.toMatchObject({
      code: 403,
      body: expect.stringContaining('User \\"joe\\" cannot list resource \\"configmaps\\"'),
    });
  });

  it("may do everything as masters", async () => {
    const cluster = await start();
    const master = kubeConfigOf(await cluster.addUser("root", ["system:masters"]));
    const { items } = await master.makeApiClient(RbacAuthorizationV1Api).listClusterRole();
    expect(items.length).toBeGreaterThan(10);
  });

  it("have a name", async () => {
    const cluster = await start();
    await expect(cluster.addUser("")).rejects.toThrow("needs a name");
  });
});
