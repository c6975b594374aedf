import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import type { OwnerReference } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import { silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createFakeResources } from "../control-loop/__fixtures__/fake-resources.ts";
import { configMap, createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import type { ForeignAnswer, ForeignQuestion } from "../ports/foreign-reads.ts";
import { createGarbageCollector } from "./garbage-collector.ts";
import type { ResolveKind } from "./owner-references.ts";

const KINDS: Readonly<Record<string, { resource: string; namespaced: boolean }>> = {
  "v1/ConfigMap": { resource: "configmaps", namespaced: true },
  "v1/Node": { resource: "nodes", namespaced: false },
  "example.com/v1/Widget": { resource: "widgets.example.com", namespaced: true },
};
const resolveKind: ResolveKind = (apiVersion, kind) => KINDS[`${apiVersion}/${kind}`];

type Reference = Partial<OwnerReference>;
const ref = (name: string, more: Reference = {}): OwnerReference => {
  return { apiVersion: "v1", kind: "ConfigMap", name, uid: name, ...more };
};
const owned = (name: string, ...ownerReferences: OwnerReference[]) => configMap(name, { uid: name, ownerReferences });
const at = (name: string) => ({ resource: "configmaps", namespace: "a", name });

async function setUp(...objects: readonly KubeObject[]) {
  const bench = createControllerBench();
  for (const object of objects) await bench.create("configmaps", object);
  bench.start(createGarbageCollector({ ...bench.deps, resolveKind }));
  await bench.clock.settle();
  const remove = async (name: string, propagationPolicy: "Background" | "Foreground" | "Orphan" = "Background") => {
    await bench.writer.remove(at(name), { propagationPolicy });
    await bench.clock.settle();
  };
  return Object.assign(bench, { remove, left: () => bench.names("configmaps") });
}

describe("garbage collection in the background", () => {
  test("takes what lost its last owner, down the whole tree", async () => {
    const { remove, left } = await setUp(owned("a"), owned("b", ref("a")), owned("c", ref("b")), owned("other"));
    await remove("a");
    expect(left()).toEqual(["other"]);
  });

  test("leaves what has another owner, and forgets the one that is gone", async () => {
    const { remove, left, reader } = await setUp(owned("a"), owned("b"), owned("c", ref("a"), ref("b")));
    await remove("a");
    expect(left()).toEqual(["b", "c"]);
    expect(reader.get(at("c"))?.metadata.ownerReferences).toEqual([ref("b")]);
    await remove("b");
    expect(left()).toEqual([]);
  });

  test("takes what was created after its owner had gone", async () => {
    const { create, left, clock } = await setUp();
    await create("configmaps", owned("late", ref("gone")));
    await clock.settle();
    expect(left()).toEqual([]);
  });

  test("does not take a namesake for the owner", async () => {
    const { left } = await setUp(configMap("a", { uid: "second" }), owned("b", ref("a", { uid: "first" })));
    expect(left()).toEqual(["a"]);
  });

  test("takes what is made to depend on something that is not there", async () => {
    const { left, writer, clock } = await setUp(owned("a"));
    await writer.update("configmaps", owned("a", ref("gone")));
    await clock.settle();
    expect(left()).toEqual([]);
  });

  test("works for custom resources that appear while it runs", async () => {
    const { create, writer, clock, names, left } = await setUp();
    const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w", namespace: "a", uid: "w" } };
    await create("widgets.example.com", widget);
    await create("configmaps", owned("b", ref("w", { apiVersion: "example.com/v1", kind: "Widget" })));
    await clock.settle();
    expect(left()).toEqual(["b"]);
    await writer.remove({ resource: "widgets.example.com", namespace: "a", name: "w" });
    await clock.settle();
    expect(names("widgets.example.com")).toEqual([]);
    expect(left()).toEqual([]);
  });

  test("finds cluster-scoped owners of namespaced objects", async () => {
    const bench = createControllerBench();
    await bench.create("nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "n", uid: "n" } });
    await bench.create("configmaps", owned("b", ref("n", { kind: "Node" })));
    bench.start(createGarbageCollector({ ...bench.deps, resolveKind }));
    await bench.clock.settle();
    expect(bench.names("configmaps")).toEqual(["b"]);
    await bench.writer.remove({ resource: "nodes", namespace: "", name: "n" });
    await bench.clock.settle();
    expect(bench.names("configmaps")).toEqual([]);
  });

  test("keeps what refers to a kind that nobody serves, and looks again", async () => {
    const bench = await setUp(owned("b", ref("x", { apiVersion: "gone.example.com/v1", kind: "Gone" })));
    expect(bench.left()).toEqual(["b"]);
    expect(bench.clock.untilNextTimer()).toBe(30_000);
  });

  test("keeps a cluster-scoped object with an owner of a namespaced kind", async () => {
    const bench = createControllerBench();
    const metadata = { name: "n", uid: "n", ownerReferences: [ref("gone")] };
    await bench.create("nodes", { apiVersion: "v1", kind: "Node", metadata });
    bench.start(createGarbageCollector({ ...bench.deps, resolveKind }));
    await bench.clock.settle();
    expect(bench.names("nodes")).toEqual(["n"]);
  });

  test("tells of three owners in another namespace at most, and not again and again", async () => {
    const elsewhere = configMap("owner", { uid: "owner", namespace: "b" });
    const foreign = Array.from({ length: 100 }, () => ref("owner"));
    const nobody = ref("x", { apiVersion: "gone.example.com/v1", kind: "Gone" });
    const bench = await setUp(elsewhere, owned("waits", nobody, ...foreign));
    await bench.clock.advance(120_000);
    expect(bench.reader.list("events")).toEqual([]);
    await bench.create("configmaps", owned("goes", ...foreign));
    await bench.clock.settle();
    expect(bench.reader.list("events")).toHaveLength(3);
    expect(bench.left().toSorted()).toEqual(["owner", "waits"]);
  });

  test("tells of an owner in another namespace, and takes the object", async () => {
    const elsewhere = configMap("owner", { uid: "owner", namespace: "b" });
    const bench = await setUp(elsewhere, owned("c", ref("owner")));
    expect(bench.left()).toEqual(["owner"]);
    expect(bench.reader.list("events")).toMatchObject([
      {
        type: "Warning",
        reason: "OwnerRefInvalidNamespace",
        message: 'ownerRef [v1/ConfigMap, namespace: a, name: owner, uid: owner] does not exist in namespace "a"',
        involvedObject: { kind: "ConfigMap", namespace: "a", name: "c", uid: "c" },
      },
    ]);
  });

  test("does not delete what was given an owner at the last moment", async () => {
    const bench = await setUp(owned("a"), owned("keeper"), owned("b", ref("a")));
    let isFirst = true;
    bench.refuse = ({ verb, object }) => {
      if (verb !== "delete" || object.metadata.name !== "b" || !isFirst) return undefined;
      isFirst = false;
      return new ApiError("Conflict", "changed meanwhile");
    };
    await bench.writer.remove(at("a"));
    await bench.clock.settle();
    await bench.writer.update("configmaps", owned("b", ref("keeper")));
    await bench.clock.advance(1_000);
    expect(bench.left()).toEqual(["b", "keeper"]);
  });

  test("costs nothing when nothing happens", async () => {
    const { clock, writes } = await setUp(owned("a"), owned("b", ref("a")));
    const before = writes.length;
    await clock.advance(24 * 3_600_000);
    expect(writes.length).toBe(before);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("deletion in the foreground", () => {
  test("keeps the owner until those that block it are gone", async () => {
    const hold = { finalizers: ["example.com/hold"] };
    const blocking = ref("a", { blockOwnerDeletion: true });
    const child = configMap("b", { uid: "b", ownerReferences: [blocking], ...hold });
    const { remove, left, writer, reader, clock } = await setUp(owned("a"), child, owned("c", ref("a")));
    await remove("a", "Foreground");
    expect(left()).toEqual(["a", "b"]);
    const held = reader.get(at("b"));
    expect(held?.metadata.deletionTimestamp).toBeDefined();
    await writer.update("configmaps", { ...child, metadata: { ...held?.metadata, finalizers: [] } });
    await clock.settle();
    expect(left()).toEqual([]);
  });

  test("does not wait for what does not block", async () => {
    const child = configMap("b", { uid: "b", ownerReferences: [ref("a")], finalizers: ["example.com/hold"] });
    const { remove, left } = await setUp(owned("a"), child);
    await remove("a", "Foreground");
    expect(left()).toEqual(["b"]);
  });

  test.each([
    ["of a kind that nobody serves", "a", { apiVersion: "gone.example.com/v1", kind: "Gone" }],
    ["of another namespace", "b", {}],
    ["of another name", "a", { name: "x" }],
  ])("does not wait for an object whose reference is to an owner %s", async (_what, namespace, more) => {
    const nobody = ref("x", { apiVersion: "gone.example.com/v1", kind: "Gone" });
    const reference = ref("a", { blockOwnerDeletion: true, ...more });
    const { remove, left } = await setUp(
      owned("a"),
      configMap("b", { uid: "b", namespace, ownerReferences: [nobody, reference] }),
    );
    await remove("a", "Foreground");
    expect(left()).toEqual(["b"]);
  });

  test("goes down the tree, leaves first", async () => {
    const block = { blockOwnerDeletion: true };
    const bench = await setUp(owned("a"), owned("b", ref("a", block)), owned("c", ref("b", block)));
    const order: string[] = [];
    bench.feed.follow("configmaps", ({ type, object }) => {
      if (type === "DELETED") order.push(object.metadata.name ?? "");
    });
    await bench.remove("a", "Foreground");
    expect(order).toEqual(["c", "b", "a"]);
  });

  test("leaves a dependent that has another owner, and is not held up by it", async () => {
    const block = { blockOwnerDeletion: true };
    const bench = await setUp(owned("a"), owned("b"), owned("c", ref("a", block), ref("b", block)));
    await bench.remove("a", "Foreground");
    expect(bench.left()).toEqual(["b", "c"]);
  });

  test("comes to an end where owners own each other", async () => {
    const block = { blockOwnerDeletion: true };
    const bench = await setUp(owned("a", ref("c", block)), owned("b", ref("a", block)), owned("c", ref("b", block)));
    await bench.remove("a", "Foreground");
    await bench.clock.advance(1_000);
    expect(bench.left()).toEqual([]);
  });
});

describe("orphaning", () => {
  test("makes the dependents forget their owner and lets it go", async () => {
    const { remove, left, reader } = await setUp(owned("a"), owned("b", ref("a")), owned("c", ref("b")));
    await remove("a", "Orphan");
    expect(left()).toEqual(["b", "c"]);
    expect(reader.get(at("b"))?.metadata).not.toHaveProperty("ownerReferences");
  });

  test("tries again when a dependent changed at that moment, and loses none", async () => {
    const bench = await setUp(owned("a"), owned("b", ref("a")), owned("c", ref("a")));
    let conflicts = 2;
    bench.refuse = ({ verb, object }) => {
      const isDependent = verb === "update" && object.metadata.name === "c";
      return isDependent && conflicts-- > 0 ? new ApiError("Conflict", "changed meanwhile") : undefined;
    };
    await bench.remove("a", "Orphan");
    await bench.clock.advance(1_000);
    expect(bench.left()).toEqual(["b", "c"]);
  });
});

describe("any graph", () => {
  const SIZE = 7;
  const graphs = fc.record({
    /** The owners of each object, by number. Number 99 is an owner that never existed. */
    owners: fc.array(fc.uniqueArray(fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 99), { maxLength: 3 }), {
      minLength: SIZE,
      maxLength: SIZE,
    }),
    blocking: fc.boolean(),
    deletions: fc.array(fc.tuple(fc.nat(SIZE - 1), fc.constantFrom("Background", "Foreground", "Orphan")), {
      maxLength: 4,
    }),
    /** The number of writes out of ten that fail at first. */
    failures: fc.constantFrom(0, 0, 3),
  });

  /**
   * The objects that must be left after the deletions, and after the collection of objects that have lost all of their
   * owners.
   */
  function computeSurvivors({ owners, deletions }: { owners: number[][]; deletions: [number, string][] }): number[] {
    const alive = new Map(owners.map((own, index) => [index, new Set(own)]));
    const collect = () => {
      for (let isDone = false; !isDone; ) {
        isDone = true;
        for (const [index, own] of alive) {
          const isLost = own.size > 0 && [...own].every((owner) => !alive.has(owner));
          if (isLost) isDone = !alive.delete(index);
          // A reference to an owner that is gone is forgotten while another owner exists.
          else for (const owner of own) if (!alive.has(owner)) own.delete(owner);
        }
      }
    };
    collect();
    for (const [index, policy] of deletions) {
      if (!alive.delete(index)) continue;
      if (policy === "Orphan") for (const own of alive.values()) own.delete(index);
      collect();
    }
    return [...alive.keys()].sort();
  }

  test("ends with nothing whose owners are all gone, and with everything else", async () => {
    await fc.assert(
      fc.asyncProperty(graphs, async ({ owners, blocking, deletions, failures }) => {
        const clock = createFakeClock();
        const resources = createFakeResources(() => clock.now());
        let writes = 0;
        for (const [index, own] of owners.entries()) {
          const references = own.map((owner) => ref(`o${owner}`, blocking ? { blockOwnerDeletion: true } : {}));
          await resources.create("configmaps", owned(`o${index}`, ...references));
        }
        const { reader, writer, feed } = resources;
        const abort = new AbortController();
        const done = createGarbageCollector({ reader, writer, feed, clock, log: silentLog, resolveKind }).run(
          abort.signal,
        );
        const flaky = () => {
          return ++writes % 10 < failures ? new ApiError("ServiceUnavailable", "busy") : undefined;
        };
        resources.refuse = flaky;
        await clock.advance(120_000);
        for (const [index, policy] of deletions) {
          resources.refuse = () => undefined;
          if (reader.get(at(`o${index}`))) await writer.remove(at(`o${index}`), { propagationPolicy: policy });
          resources.refuse = flaky;
          await clock.advance(120_000);
        }
        expect(resources.names("configmaps")).toEqual(computeSurvivors({ owners, deletions }).map((i) => `o${i}`));
        abort.abort();
        await done;
      }),
      { numRuns: 300 },
    );
  });
});

describe("garbage collection by owners that API servers of others have", () => {
  const THING = { name: "things", singularName: "thing", namespaced: true, kind: "Thing", verbs: ["get"] };
  const served = { group: "example.org", version: "v1", resources: [THING] };
  const thingRef = (name: string) => ref(name, { apiVersion: "example.org/v1", kind: "Thing" });

  async function setUpWith(answer: () => ForeignAnswer, ...objects: readonly KubeObject[]) {
    const bench = createControllerBench();
    for (const object of objects) await bench.create("configmaps", object);
    const asked: string[] = [];
    const readForeign = async ({ path }: ForeignQuestion) => {
      asked.push(path);
      return await Promise.resolve(answer());
    };
    const foreign = { readForeign, foreignResources: () => [served] };
    bench.start(createGarbageCollector({ ...bench.deps, resolveKind, ...foreign }));
    await bench.clock.settle();
    return Object.assign(bench, { asked, left: () => bench.names("configmaps") });
  }
  const answered = (status: number, body: object): ForeignAnswer => {
    return { kind: "answered", status, text: JSON.stringify(body) };
  };
  const thing = (metadata: object) => answered(200, { apiVersion: "example.org/v1", kind: "Thing", metadata });
  const foreground = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["foregroundDeletion"] };

  test.each([
    ["stays with an owner that is there", thing({ name: "x", uid: "x" }), ["b"]],
    ["goes with an owner that is gone", answered(404, {}), []],
    ["goes with an owner whose name another has now", thing({ name: "x", uid: "y" }), []],
    ["goes before an owner that waits", thing({ name: "x", uid: "x", ...foreground }), []],
    ["stays where the server has no answer", { kind: "failed", message: "refused" } as const, ["b"]],
    ["stays where the server will not say", answered(403, {}), ["b"]],
    ["stays where the server talks nonsense", { kind: "answered", status: 200, text: "<html>" } as const, ["b"]],
  ])("an object %s", async (_what, answer, wanted) => {
    const bench = await setUpWith(() => answer, owned("b", thingRef("x")));
    expect(bench.left()).toEqual(wanted);
    expect(bench.asked).toEqual(["namespaces/a/things/x"]);
  });

  test("asks again after a while, and once for all that an owner has", async () => {
    let answer = thing({ name: "x", uid: "x" });
    const bench = await setUpWith(() => answer, owned("b", thingRef("x")), owned("c", thingRef("x")));
    expect(bench.asked).toHaveLength(1);
    answer = answered(404, {});
    await bench.clock.advance(30_000);
    expect(bench.left()).toEqual([]);
    expect(bench.asked).toHaveLength(2);
  });
});

describe("a deletion in the foreground, with dependents that API servers of others have", () => {
  const verbs = ["get", "list", "delete"];
  const THING = { name: "things", singularName: "thing", namespaced: true, kind: "Thing", verbs };
  const blocking = ref("x", { blockOwnerDeletion: true });
  const thing = (name: string, ...ownerReferences: OwnerReference[]) => {
    return { metadata: { name, namespace: "a", uid: name, resourceVersion: "5", ownerReferences } };
  };

  /** The server deletes an object when the case says so. */
  async function setUpWith(things: ReadonlyArray<ReturnType<typeof thing>>, ...objects: readonly KubeObject[]) {
    const bench = createControllerBench();
    for (const object of objects) await bench.create("configmaps", object);
    const server = { things: [...things], fails: false, served: [THING] };
    const asked: unknown[] = [];
    const readForeign = async ({ method, path, body }: ForeignQuestion): Promise<ForeignAnswer> => {
      await Promise.resolve();
      if (method !== undefined) asked.push([method, path, body]);
      if (server.fails) return { kind: "failed", message: "refused" };
      return { kind: "answered", status: 200, text: JSON.stringify({ kind: "List", items: server.things }) };
    };
    const foreignResources = () => [{ group: "example.org", version: "v1", resources: server.served }];
    bench.start(createGarbageCollector({ ...bench.deps, resolveKind, readForeign, foreignResources }));
    await bench.writer.remove(at("x"), { propagationPolicy: "Foreground" });
    await bench.clock.settle();
    const later = async () => await bench.clock.advance(5_000);
    return { server, asked, later, left: () => bench.names("configmaps") };
  }

  test("waits until they are gone, and has them deleted as they are", async () => {
    const { server, asked, later, left } = await setUpWith([thing("t", blocking)], owned("x"));
    expect(left()).toEqual(["x"]);
    const preconditions = { uid: "t", resourceVersion: "5" };
    const options = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background", preconditions };
    expect(asked).toEqual([["DELETE", "namespaces/a/things/t", options]]);
    await later();
    expect(left()).toEqual(["x"]);
    server.things = [];
    await later();
    expect(left()).toEqual([]);
  });

  test("waits for a server that does not answer, and not for one that is not there", async () => {
    const { server, later, left } = await setUpWith([thing("t", blocking)], owned("x"));
    server.fails = true;
    await later();
    expect(left()).toEqual(["x"]);
    server.served = [];
    await later();
    expect(left()).toEqual([]);
  });

  test("does not wait for those that do not ask for it, nor for those of others", async () => {
    const others = [thing("t", ref("x")), thing("u", ref("x", { uid: "y", blockOwnerDeletion: true })), thing("v")];
    const { asked, left } = await setUpWith(others, owned("x"));
    expect(left()).toEqual([]);
    expect(asked).toEqual([]);
  });

  test("leaves those that have another owner, which forget this one", async () => {
    const { asked } = await setUpWith([thing("t", blocking, ref("y"))], owned("x"), owned("y"));
    const change = { metadata: { uid: "t", resourceVersion: "5", ownerReferences: [ref("y")] } };
    expect(asked).toEqual([["PATCH", "namespaces/a/things/t", change]]);
  });
});
