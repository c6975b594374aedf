/** The same with the test runner of Node.js; it shows how, and repeats less. Run with `node --test`. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { KubeConfig } from "@kubernetes/client-node";
import { startCluster, type TestCluster } from "nodelet/testing";
import { type Operator, startOperator } from "./operator.ts";
import { until } from "./until.ts";
import { createWebsiteClient } from "./website-client.ts";

let cluster: TestCluster;
let operator: Operator;
let websites: ReturnType<typeof createWebsiteClient>;
const announced = new Set<string>();
const failures: unknown[] = [];

before(async () => {
  cluster = await startCluster({ crds: [new URL("website-crd.yaml", import.meta.url)] });
  await cluster.apply(new URL("rbac.yaml", import.meta.url));
  const [config, admin] = [new KubeConfig(), new KubeConfig()];
  config.loadFromString((await cluster.addUser("website-operator")).kubeconfig);
  admin.loadFromString(cluster.kubeconfig);
  const hostNames = {
    announce: async (host: string) => void announced.add(host),
    withdraw: async (host: string) => void announced.delete(host),
  };
  operator = await startOperator({ config, hostNames, onError: (_, error) => failures.push(error) });
  websites = createWebsiteClient(admin);
});

after(async () => {
  await operator?.stop();
  await cluster?.stop();
});

await test("a website lives from its creation to its end", async (context) => {
  await context.test("it gets its page and a server", async () => {
    await websites.create("shop", { host: "shop.example.com", html: "<h1>Shop</h1>" });
    const content = await until(() => websites.readContent("shop"));
    assert.deepEqual(content.data, { "index.html": "<h1>Shop</h1>" });
    assert.ok(announced.has("shop.example.com"));
  });

  await context.test("it becomes ready", async () => {
    await websites.makeAvailable(await until(() => websites.readServer("shop")));
    await until(async () => {
      const { status } = await websites.read("shop");
      assert.equal(status?.conditions.find(({ type }) => type === "Ready")?.status, "True");
    });
  });

  await context.test("it goes with all that it owns", async () => {
    await websites.remove("shop");
    await until(() => assert.rejects(websites.read("shop"), { code: 404 }));
    await until(() => assert.rejects(websites.readServer("shop"), { code: 404 }));
    assert.deepEqual([...announced], []);
  });

  assert.deepEqual(failures, []);
});
