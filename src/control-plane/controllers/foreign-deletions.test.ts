import { describe, expect, test } from "vitest";
import type { OwnerReference } from "../../api/gen/types.ts";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { configMap, createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import type { ForeignAnswer, ForeignQuestion } from "../ports/foreign-reads.ts";
import { createGarbageCollector } from "./garbage-collector.ts";
import type { ResolveKind } from "./owner-references.ts";

const resolveKind: ResolveKind = (apiVersion, kind) =>
  apiVersion === "v1" && kind === "ConfigMap" ? { resource: "configmaps", namespaced: true } : undefined;
const ref = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => {
  return { apiVersion: "v1", kind: "ConfigMap", name, uid: name, ...more };
};
const owned = (name: string, ...ownerReferences: OwnerReference[]) => configMap(name, { uid: name, ownerReferences });

describe("owners that API servers of others are deleting", () => {
  const verbs = ["get", "list", "watch", "delete"];
  const THING = { name: "things", singularName: "thing", namespaced: true, kind: "Thing", verbs };
  const at5 = (name: string, metadata: object = {}): KubeObject => ({
    ...{ apiVersion: "example.org/v1", kind: "Thing" },
    metadata: { name, namespace: "a", uid: name, resourceVersion: "5", ...metadata },
  });
  const going = (...finalizers: string[]) => ({ deletionTimestamp: "2026-01-01T00:00:00Z", finalizers });
  const thingRef = (name: string, more: object = {}) => {
    return ref(name, { apiVersion: "example.org/v1", kind: "Thing", ...more });
  };

  /** A server that does as it is told, with objects that go when nothing holds them. */
  async function setUpWith(things: readonly KubeObject[], ...objects: readonly KubeObject[]) {
    const bench = createControllerBench();
    for (const object of objects) await bench.create("configmaps", object);
    const stored = new Map(things.map((thing) => [thing.metadata.name, thing]));
    const readForeign = async ({ method, path, body }: ForeignQuestion): Promise<ForeignAnswer> => {
      await Promise.resolve();
      const [, , , name] = path.split("?")[0]?.split("/") ?? [];
      const thing = stored.get(name);
      const items = [...stored.values()];
      if (method === "DELETE") stored.delete(name);
      if (method === "PATCH" && thing !== undefined) {
        const metadata = { ...thing.metadata, ...(isRecord(body) && isRecord(body["metadata"]) && body["metadata"]) };
        stored.set(name, { ...thing, metadata });
        if (metadata.finalizers?.length === 0) stored.delete(name);
      }
      const found = name === undefined ? { kind: "List", items } : thing;
      return { kind: "answered", status: found === undefined ? 404 : 200, text: JSON.stringify(found ?? {}) };
    };
    const foreignResources = () => [{ group: "example.org", version: "v1", resources: [THING] }];
    bench.start(createGarbageCollector({ ...bench.deps, resolveKind, readForeign, foreignResources }));
    await bench.clock.advance(120_000);
    return { stored, left: () => bench.names("configmaps"), bench };
  }

  test("are let go when their dependents have gone, here and there", async () => {
    const dependent = at5("t", { ownerReferences: [thingRef("x", { blockOwnerDeletion: true })] });
    const owner = at5("x", going("foregroundDeletion", "keep"));
    const mine = owned("b", thingRef("x", { blockOwnerDeletion: true }));
    const { stored, left } = await setUpWith([owner, dependent], mine);
    expect(left()).toEqual([]);
    expect([...stored.keys()]).toEqual(["x"]);
    expect(stored.get("x")?.metadata.finalizers).toEqual(["keep"]);
  });

  test("wait as long as something of ours holds them", async () => {
    const held = owned("b", thingRef("x", { blockOwnerDeletion: true }));
    const mine = { ...held, metadata: { ...held.metadata, finalizers: ["example.org/hold"] } };
    const { stored, left, bench } = await setUpWith([at5("x", going("foregroundDeletion"))], mine);
    expect(left()).toEqual(["b"]);
    expect([...stored.keys()]).toEqual(["x"]);
    const found = bench.reader.get({ resource: "configmaps", namespace: "a", name: "b" });
    if (found) await bench.writer.update("configmaps", { ...found, metadata: { ...found.metadata, finalizers: [] } });
    await bench.clock.advance(60_000);
    expect([...stored.keys()]).toEqual([]);
  });

  test("leave their dependents behind where these are to stay", async () => {
    const dependent = at5("t", { ownerReferences: [thingRef("x"), thingRef("y")] });
    const things = [at5("x", going("orphan")), dependent, at5("y")];
    const { stored, left, bench } = await setUpWith(things, owned("b", thingRef("x")));
    expect(left()).toEqual(["b"]);
    const found = bench.reader.get({ resource: "configmaps", namespace: "a", name: "b" });
    expect(found?.metadata.ownerReferences ?? []).toEqual([]);
    expect([...stored.keys()]).toEqual(["t", "y"]);
    expect(stored.get("t")?.metadata.ownerReferences).toEqual([thingRef("y")]);
  });

  test("are gone, and what they have lost them goes", async () => {
    const lost = at5("t", { ownerReferences: [ref("gone")] });
    const kept = at5("u", { ownerReferences: [ref("gone"), ref("o")] });
    const unknown = at5("v", { ownerReferences: [ref("gone", { apiVersion: "other.org/v1" })] });
    const { stored } = await setUpWith([lost, kept, unknown, at5("w")], owned("o"));
    expect([...stored.keys()]).toEqual(["u", "v", "w"]);
  });
});
