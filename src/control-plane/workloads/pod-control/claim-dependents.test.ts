import { expect, test } from "vitest";
import { conflictError } from "../../../api/api-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import { configMap, createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { claimDependents } from "./claim-dependents.ts";
import { controllerRefTo } from "./controller-ref.ts";
import { followDependents } from "./follow-dependents.ts";

const RESOURCES = { ownerResource: "configmaps", resource: "secrets" };
const dependent = (name: string, metadata: Partial<KubeObject["metadata"]> = {}): KubeObject => ({
  ...configMap(name, { labels: { app: "web" }, ...metadata }),
  kind: "Secret",
});
const selects = ({ metadata }: KubeObject) => metadata.labels?.["app"] === "web";

async function setUp() {
  const bench = createControllerBench();
  const owner = await bench.create("configmaps", configMap("owner"));
  const claim = async (finalizers: readonly string[] = []) => {
    const candidates = bench.reader.list("secrets", "a");
    const claimed = await claimDependents(bench.deps, { ...RESOURCES, owner, candidates, selects, finalizers });
    return claimed.map(({ metadata }) => metadata.name);
  };
  const read = (name: string) => bench.reader.get({ resource: "secrets", namespace: "a", name })?.metadata;
  return Object.assign(bench, { owner, claim, read });
}

test("an owner adopts what it selects, keeps what it has, and leaves what is another's", async () => {
  const { owner, create, claim, read, writes } = await setUp();
  const other = { ...controllerRefTo(owner), uid: "another" };
  await create("secrets", dependent("free", { ownerReferences: [{ ...other, controller: false }] }));
  await create("secrets", dependent("mine", { ownerReferences: [controllerRefTo(owner)] }));
  await create("secrets", dependent("taken", { ownerReferences: [other] }));
  await create("secrets", dependent("unselected", { labels: {} }));
  expect(await claim(["x/y"])).toEqual(["free", "mine"]);
  expect(read("free")?.ownerReferences).toEqual([
    { ...other, controller: false },
    { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "uid-1", controller: true, blockOwnerDeletion: true },
  ]);
  expect(read("free")?.finalizers).toEqual(["x/y"]);
  expect(writes.filter((write) => write.startsWith("update"))).toEqual(["update secrets/free"]);
});

test("an owner releases what it no longer selects", async () => {
  const { owner, create, claim, read } = await setUp();
  const ownerReferences = [controllerRefTo(owner)];
  await create("secrets", dependent("gone", { labels: {}, ownerReferences, finalizers: ["x/y"] }));
  expect(await claim(["x/y"])).toEqual([]);
  expect(read("gone")).not.toHaveProperty("ownerReferences");
  expect(read("gone")).not.toHaveProperty("finalizers");
});

test("an owner that is being deleted neither adopts nor releases", async () => {
  const { owner, create, claim, writer, writes } = await setUp();
  await create("secrets", dependent("free"));
  await create("secrets", dependent("gone", { labels: {}, ownerReferences: [controllerRefTo(owner)] }));
  const target = { resource: "configmaps", namespace: "a", name: "owner" };
  await writer.remove(target, { propagationPolicy: "Foreground" });
  expect(await claim()).toEqual([]);
  expect(writes.filter((write) => write.includes("secrets"))).toEqual(["create secrets/free", "create secrets/gone"]);
});

test("all candidates are tried before a conflict is told", async () => {
  const bench = await setUp();
  await bench.create("secrets", dependent("b1"));
  await bench.create("secrets", dependent("b2"));
  bench.refuse = ({ object }) => {
    if (object.metadata.name !== "b1") return undefined;
    return conflictError({ group: "", resource: "secrets" }, "b1", "changed");
  };
  await expect(bench.claim()).rejects.toMatchObject({ reason: "Conflict" });
  expect(bench.read("b2")?.ownerReferences).toHaveLength(1);
});

test("owners hear of what is theirs, of what was, and of what they could adopt", async () => {
  const { owner, create, deps, writer, reader } = await setUp();
  await create("configmaps", configMap("second", { labels: { blind: "yes" } }));
  const woken: string[] = [];
  const watched = {
    ...RESOURCES,
    ownerKind: "ConfigMap",
    selects: ({ metadata }: KubeObject, object: KubeObject) => !metadata.labels?.["blind"] && selects(object),
  };
  const stop = followDependents(deps, watched, (key) => woken.push(key));
  const take = () => woken.splice(0);
  await create("secrets", dependent("s"));
  expect(take()).toEqual(["a/owner"]);
  const free = { resource: "secrets", namespace: "a", name: "s" };
  const update = async (change: Partial<KubeObject["metadata"]>) => {
    const { metadata, ...rest } = reader.get(free) ?? owner;
    await writer.update("secrets", { ...rest, metadata: { ...metadata, ...change } });
  };
  await update({ annotations: { a: "b" } });
  expect(take()).toEqual([]);
  await update({ ownerReferences: [{ ...controllerRefTo(owner), name: "second" }] });
  expect(take()).toEqual(["a/second"]);
  await update({ ownerReferences: [] });
  expect(take().sort()).toEqual(["a/owner", "a/second"]);
  await writer.remove(free);
  expect(take()).toEqual([]);
  stop();
});
