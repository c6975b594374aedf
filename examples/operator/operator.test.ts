import { KubeConfig } from "@kubernetes/client-node";
import { startCluster, type TestCluster } from "nodelet/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Operator, startOperator } from "./operator.ts";
import { until } from "./until.ts";
import { createWebsiteClient } from "./website-client.ts";

let cluster: TestCluster;
let operator: Operator;
let websites: ReturnType<typeof createWebsiteClient>;

/** Stands for the world outside the cluster: what is announced there, and how it fails. */
const announced = new Set<string>();
const outages: Error[] = [];
const hostNames = {
  announce: async (host: string) => void announced.add(host),
  withdraw: async (host: string) => {
    const outage = outages.shift();
    if (outage !== undefined) throw outage;
    announced.delete(host);
  },
};
const onError = vi.fn();

function configOf({ kubeconfig }: { kubeconfig: string }): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  return config;
}

beforeAll(async () => {
  cluster = await startCluster({ crds: [new URL("website-crd.yaml", import.meta.url)] });
  await cluster.apply(new URL("rbac.yaml", import.meta.url));
  // The operator is somebody who may do what rbac.yaml says; the tests are an administrator.
  const config = configOf(await cluster.addUser("website-operator"));
  operator = await startOperator({ config, hostNames, onError });
  websites = createWebsiteClient(configOf(cluster));
});

afterAll(async () => {
  await operator?.stop();
  await cluster?.stop();
});

beforeEach(() => {
  onError.mockClear();
});

describe("a website", () => {
  it("gets its page, and a server that shows it", async () => {
    await websites.create("shop", { host: "shop.example.com", html: "<h1>Shop</h1>", replicas: 2 });
    const content = await until(() => websites.readContent("shop"));
    const server = await until(() => websites.readServer("shop"));
    const { uid } = (await websites.read("shop")).metadata;
    expect(content.data).toEqual({ "index.html": "<h1>Shop</h1>" });
    expect(server.spec?.replicas).toBe(2);
    expect(server.spec?.template.spec?.volumes).toMatchObject([{ configMap: { name: "shop-content" } }]);
    for (const { metadata } of [content, server]) {
      expect(metadata?.ownerReferences).toMatchObject([{ kind: "Website", name: "shop", uid, controller: true }]);
    }
    expect(announced).toContain("shop.example.com");
  });

  it("is ready when its servers are available", async () => {
    await websites.create("blog", { host: "blog.example.com", html: "" });
    const starting = await until(async () => {
      const { status } = await websites.read("blog");
      expect(status?.conditions).toMatchObject([{ type: "Ready", status: "False", reason: "Starting" }]);
      return status;
    });
    expect(starting).toMatchObject({ observedGeneration: 1, host: "blog.example.com" });
    await websites.makeAvailable(await websites.readServer("blog"));
    await until(async () => {
      expect((await websites.read("blog")).status?.conditions).toMatchObject([
        { type: "Ready", status: "True", message: "1 of 1 servers are available" },
      ]);
    });
  });

  it("can be changed", async () => {
    await websites.create("wiki", { host: "wiki.example.com", html: "old" });
    await until(() => websites.readServer("wiki"));
    await websites.change("wiki", { host: "docs.example.com", html: "new", replicas: 3 });
    await until(async () => expect((await websites.read("wiki")).status).toMatchObject({ host: "docs.example.com" }));
    expect((await websites.readContent("wiki")).data).toEqual({ "index.html": "new" });
    expect((await websites.readServer("wiki")).spec?.replicas).toBe(3);
    expect(announced).toContain("docs.example.com");
    expect(announced).not.toContain("wiki.example.com");
  });

  it("gets back what somebody took away", async () => {
    await websites.create("home", { host: "home.example.com", html: "mine" });
    const first = await until(() => websites.readContent("home"));
    await websites.removeContent("home");
    await until(async () => {
      const second = await websites.readContent("home");
      expect(second.metadata?.uid).not.toBe(first.metadata?.uid);
      expect(second.data).toEqual({ "index.html": "mine" });
    });
  });

  it("keeps its host until that is withdrawn, and then goes with all that it owns", async () => {
    await websites.create("old", { host: "old.example.com", html: "" });
    await until(() => websites.readServer("old"));
    const failures = [new Error("the provider is away"), new Error("still away")];
    outages.push(...failures);
    await websites.remove("old");
    await until(() => expect(websites.read("old")).rejects.toMatchObject({ code: 404 }));
    expect(announced).not.toContain("old.example.com");
    expect(onError.mock.calls).toEqual(failures.map((failure) => ["website default/old", failure]));
    // The cluster's garbage collector is a real one.
    await until(() => expect(websites.readServer("old")).rejects.toMatchObject({ code: 404 }));
    await until(() => expect(websites.readContent("old")).rejects.toMatchObject({ code: 404 }));
  });

  it("is refused without a host, by the definition alone", async () => {
    await expect(websites.create("bad", { host: "", html: "" })).rejects.toMatchObject({
      code: 422,
      body: expect.stringContaining("spec.host"),
    });
  });
});
