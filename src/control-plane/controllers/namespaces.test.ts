import { describe, expect, test } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { configMap, createControllerBench, namespace } from "../control-loop/__fixtures__/run-controllers.ts";
import type { ForeignQuestion, ForeignResources } from "../ports/foreign-reads.ts";
import type { ForeignServers } from "./foreign-content.ts";
import { createNamespaceController } from "./namespaces.ts";

const pod = (name: string, spec: object = {}): KubeObject => {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "a" }, spec };
};

function setUp(foreign: Partial<ForeignServers> = {}) {
  const bench = createControllerBench();
  const namespacedResources = () => ["configmaps", "pods", "widgets.example.com"];
  bench.start(createNamespaceController({ ...bench.deps, namespacedResources, ...foreign }));
  const deleteNamespace = async () => {
    await bench.writer.remove({ resource: "namespaces", namespace: "", name: "a" });
    await bench.clock.settle();
  };
  const conditions = () => {
    const found = bench.reader.get({ resource: "namespaces", namespace: "", name: "a" });
    const { status } = found ? typed("Namespace", found) : {};
    const entries = status?.conditions?.map(({ type, ...rest }) => [type, `${rest.status} ${rest.message}`]) ?? [];
    return Object.fromEntries(entries);
  };
  return Object.assign(bench, { deleteNamespace, conditions });
}

describe("the namespace controller", () => {
  test("removes what is in a namespace that is deleted, then lets it go", async () => {
    const { create, deleteNamespace, names } = setUp();
    await create("namespaces", namespace("a"));
    await create("namespaces", namespace("b"));
    await create("configmaps", configMap("one"));
    await create("configmaps", configMap("other", { namespace: "b" }));
    await create("widgets.example.com", { ...configMap("w"), kind: "Widget" });
    await deleteNamespace();
    expect(names("namespaces")).toEqual(["b"]);
    expect(names("configmaps")).toEqual(["other"]);
    expect(names("widgets.example.com")).toEqual([]);
  });

  test("lets pods end in their time before anything else goes", async () => {
    const { create, deleteNamespace, names, conditions, writer } = setUp();
    await create("namespaces", namespace("a"));
    await create("configmaps", configMap("one"));
    await create("pods", pod("waiting"));
    await create("pods", pod("running", { nodeName: "n" }));
    await deleteNamespace();
    expect(names("pods")).toEqual(["running"]);
    expect(names("configmaps")).toEqual(["one"]);
    expect(conditions()).toMatchObject({
      NamespaceContentRemaining: "True Some resources are remaining: pods. has 1 resource instances",
      NamespaceDeletionContentFailure: "False All content successfully deleted, may be waiting on finalization",
    });
    await writer.remove({ resource: "pods", namespace: "a", name: "running" }, { gracePeriodSeconds: 0 });
  });

  test("goes on as soon as the last pod is gone, without waiting for a timer", async () => {
    const { create, deleteNamespace, names, writer, clock } = setUp();
    await create("namespaces", namespace("a"));
    await create("configmaps", configMap("one"));
    await create("pods", pod("running", { nodeName: "n" }));
    await deleteNamespace();
    await writer.remove({ resource: "pods", namespace: "a", name: "running" }, { gracePeriodSeconds: 0 });
    await clock.settle();
    expect(names("configmaps")).toEqual([]);
    expect(names("namespaces")).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("says which finalizers it waits for", async () => {
    const { create, deleteNamespace, conditions, names, reader, writer, clock } = setUp();
    await create("namespaces", namespace("a"));
    await create("configmaps", configMap("one", { finalizers: ["example.com/hold"] }));
    await deleteNamespace();
    expect(conditions()).toMatchObject({
      NamespaceFinalizersRemaining:
        "True Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
      NamespaceContentRemaining: "True Some resources are remaining: configmaps. has 1 resource instances",
    });
    const held = reader.get({ resource: "configmaps", namespace: "a", name: "one" });
    await writer.update("configmaps", { ...configMap("one"), metadata: { ...held?.metadata, finalizers: [] } });
    await clock.settle();
    expect(names("namespaces")).toEqual([]);
  });

  test("keeps a namespace that somebody else's finalizer holds, emptied", async () => {
    const { create, deleteNamespace, reader, names } = setUp();
    await create("namespaces", namespace("a", ["kubernetes", "example.com/mine"]));
    await create("configmaps", configMap("one"));
    await deleteNamespace();
    expect(names("configmaps")).toEqual([]);
    const left = reader.get({ resource: "namespaces", namespace: "", name: "a" });
    expect(left?.["spec"]).toEqual({ finalizers: ["example.com/mine"] });
  });

  test.each(["InternalError", "Conflict"] as const)(
    "tells of deletions that fail (%s), and tries again",
    async (reason) => {
      const bench = setUp();
      await bench.create("namespaces", namespace("a"));
      await bench.create("configmaps", configMap("one"));
      bench.refuse = ({ verb, resource }) =>
        verb === "delete" && resource === "configmaps" ? new ApiError(reason, "disk full") : undefined;
      await bench.deleteNamespace();
      expect(bench.conditions()).toMatchObject({
        NamespaceDeletionContentFailure: "True Failed to delete all resource types, 1 remaining: disk full",
      });
      bench.refuse = () => undefined;
      await bench.clock.advance(1_000);
      expect(bench.names("namespaces")).toEqual([]);
    },
  );

  test("leaves a namespace alone that is not deleted", async () => {
    const { create, clock, writes } = setUp();
    await create("namespaces", namespace("a"));
    await create("configmaps", configMap("one"));
    await clock.advance(60_000);
    expect(writes).toEqual(["create namespaces/a", "create configmaps/one"]);
  });
});

const thing = (verbs: string[]) => ({ name: "things", singularName: "thing", namespaced: true, kind: "Thing", verbs });
const served = (...verbs: string[]): ForeignResources => ({
  group: "example.org",
  version: "v1",
  resources: [thing(verbs), { ...thing(verbs), name: "things/status" }, { ...thing(verbs), namespaced: false }],
});

/** A server of others with things, which it deletes at once unless they have a finalizer. */
function createForeignServer(versions: ForeignResources[], things: Map<string, string[]>) {
  const asked: string[] = [];
  const server = {
    asked,
    isDown: false,
    foreignResources: () => versions,
    async readForeign({ method = "GET", path }: ForeignQuestion) {
      asked.push(`${method} ${path}`);
      if (server.isDown) return await Promise.resolve({ kind: "failed", message: "connection refused" } as const);
      const [, name] = /things\/([^?]*)/.exec(path) ?? [];
      if (method === "DELETE") {
        for (const [each, finalizers] of things)
          if ((name ?? each) === each && finalizers.length === 0) things.delete(each);
      }
      const items = [...things].map(([each, finalizers]) => ({ metadata: { name: each, finalizers } }));
      return { kind: "answered", status: 200, text: JSON.stringify({ items }) } as const;
    },
  };
  return server;
}

describe("the namespace controller, with API servers of others", () => {
  test.each([
    [
      "together",
      ["delete", "deletecollection", "list"],
      ["DELETE namespaces/a/things?propagationPolicy=Background", "GET namespaces/a/things?limit=500"],
    ],
    [
      "one by one, where it has no other way",
      ["delete", "list"],
      [
        "GET namespaces/a/things?limit=500",
        "DELETE namespaces/a/things/one?propagationPolicy=Background",
        "GET namespaces/a/things?limit=500",
      ],
    ],
    ["not at all, where nothing is deleted", ["get", "list"], []],
  ])("has them delete what they have, %s", async (_how, verbs, wanted) => {
    const things = new Map<string, string[]>([["one", []]]);
    const server = createForeignServer([served(...verbs), { ...served(...verbs), version: "v0" }], things);
    const { create, deleteNamespace, names } = setUp(server);
    await create("namespaces", namespace("a"));
    await deleteNamespace();
    expect(server.asked).toEqual(wanted);
    expect(names("namespaces")).toEqual([]);
  });

  test("waits for what has finalizers there", async () => {
    const things = new Map([["one", ["example.org/hold"]]]);
    const server = createForeignServer([served("delete", "deletecollection", "list")], things);
    const { create, deleteNamespace, names, conditions, clock } = setUp(server);
    await create("namespaces", namespace("a"));
    await deleteNamespace();
    expect(conditions()).toMatchObject({
      NamespaceContentRemaining: "True Some resources are remaining: things.example.org has 1 resource instances",
      NamespaceFinalizersRemaining:
        "True Some content in the namespace has finalizers remaining: example.org/hold in 1 resource instances",
    });
    things.clear();
    await clock.advance(30_000);
    expect(names("namespaces")).toEqual([]);
  });

  test("waits for a server that does not say what it has, and for one that does not answer", async () => {
    const versions: ForeignResources[] = [{ ...served(), resources: undefined }];
    const server = createForeignServer(versions, new Map());
    const { create, deleteNamespace, names, conditions, clock } = setUp(server);
    await create("namespaces", namespace("a"));
    await create("configmaps", configMap("one"));
    await deleteNamespace();
    expect(names("configmaps")).toEqual([]);
    const version = "example.org/v1: stale GroupVersion discovery: example.org/v1";
    expect(conditions()).toMatchObject({
      NamespaceDeletionDiscoveryFailure: `True Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: ${version}`,
    });
    server.isDown = true;
    versions[0] = served("delete", "deletecollection", "list");
    await clock.advance(60_000);
    expect(conditions()).toMatchObject({
      NamespaceDeletionContentFailure: "True Failed to delete all resource types, 1 remaining: connection refused",
    });
    server.isDown = false;
    await clock.advance(60_000);
    expect(names("namespaces")).toEqual([]);
  });
});
