import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, changedMetadata, configMap, newNamespace, pathsIn, revisionOf, secret } from "./objects.ts";
import { hasInitialEvents, summarize } from "./watch-stream.ts";

const INITIAL = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };

describe.each(apiServersUnderTest())("watch, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let secrets: string;

  beforeAll(async () => {
    await newNamespace(server.admin);
  });

  /** Opens a namespace in which nothing else writes, and gives its revision. */
  const fresh = async () => {
    ({ secrets } = pathsIn(await newNamespace(server.admin)));
    return (await server.admin.list(secrets)).resourceVersion;
  };
  const create = (name: string, labels?: Record<string, string>) => {
    return server.admin.object("POST", secrets, secret(name, "", labels));
  };

  it("tells of everything that happens, in order, with the objects as they are then", async () => {
    const resourceVersion = await fresh();
    const watch = await server.admin.watch(secrets, { resourceVersion });
    const made = await create("a");
    const updated = await server.admin.object("PUT", `${secrets}/a`, changed(made, { data: { x: "eQ==" } }));
    await server.admin.json("DELETE", `${secrets}/a`);
    const events = await watch.take(3);
    expect(events[0]).toEqual({ type: "ADDED", object: made });
    expect(events[1]).toEqual({ type: "MODIFIED", object: updated });
    expect(summarize(events)).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
    watch.close();
  });

  it("shows a deleted object as it was last, at the revision of its deletion", async () => {
    const resourceVersion = await fresh();
    const made = await create("a", { l: "1" });
    const watch = await server.admin.watch(secrets, { resourceVersion });
    await watch.next();
    await server.admin.json("DELETE", `${secrets}/a`);
    const next = await create("b");
    const [deleted, added] = await watch.take(2);
    const revision = Number(deleted?.object.metadata.resourceVersion);
    expect(deleted).toEqual({ type: "DELETED", object: changedMetadata(made, { resourceVersion: String(revision) }) });
    expect(revision).toBeGreaterThan(revisionOf(made));
    expect(revision).toBeLessThan(revisionOf(next));
    expect(added).toEqual({ type: "ADDED", object: next });
    watch.close();
  });

  it.each([{}, { resourceVersion: "0" }])("begins with everything there is, as ADDED, with %o", async (query) => {
    await fresh();
    await create("a");
    await create("b");
    const watch = await server.admin.watch(secrets, query);
    expect(summarize(await watch.take(2)).toSorted()).toEqual(["ADDED a", "ADDED b"]);
    await create("c");
    expect(summarize([await watch.next()])).toEqual(["ADDED c"]);
    watch.close();
  });

  it("begins after a resourceVersion without a gap and without a duplicate", async () => {
    await fresh();
    await create("a");
    const { resourceVersion } = await server.admin.list(secrets);
    await create("b");
    await server.admin.json("DELETE", `${secrets}/a`);
    const watch = await server.admin.watch(secrets, { resourceVersion });
    await create("c");
    expect(summarize(await watch.take(3))).toEqual(["ADDED b", "DELETED a", "ADDED c"]);
    watch.close();
  });

  it("goes on where another one ended", async () => {
    const resourceVersion = await fresh();
    const first = await server.admin.watch(secrets, { resourceVersion });
    await create("a");
    await create("b");
    const { object } = await first.next();
    first.close();
    const second = await server.admin.watch(secrets, { resourceVersion: object.metadata.resourceVersion ?? "" });
    expect(summarize([await second.next()])).toEqual(["ADDED b"]);
    second.close();
  });

  it("is of one namespace, or of all", async () => {
    const resourceVersion = await fresh();
    const here = secrets;
    await fresh();
    const [one, all] = await Promise.all([
      server.admin.watch(here, { resourceVersion }),
      server.admin.watch("/api/v1/secrets", { resourceVersion }),
    ]);
    await create("elsewhere");
    await server.admin.object("POST", here, secret("here"));
    expect(summarize([await one.next()])).toEqual(["ADDED here"]);
    expect(summarize(await all.take(2))).toEqual(["ADDED elsewhere", "ADDED here"]);
    one.close();
    all.close();
  });

  it("is of one object, by a field selector or by the older path of its own", async () => {
    const resourceVersion = await fresh();
    const older = secrets.replace("/api/v1/", "/api/v1/watch/");
    const [bySelector, byPath] = await Promise.all([
      server.admin.watch(secrets, { resourceVersion, fieldSelector: "metadata.name=b" }),
      server.admin.watch(`${older}/b`, { resourceVersion, watch: false }),
    ]);
    await create("a");
    await create("b");
    await server.admin.json("DELETE", `${secrets}/b`);
    for (const watch of [bySelector, byPath]) {
      expect(summarize(await watch.take(2))).toEqual(["ADDED b", "DELETED b"]);
      watch.close();
    }
  });

  it("is no question about one object by its path: that is read, whatever else is asked", async () => {
    await fresh();
    const made = await create("a");
    const query = { watch: true };
    const { status, body } = await server.admin.json("GET", `${secrets}/a`, undefined, { query });
    expect({ status, body }).toEqual({ status: 200, body: made });
    expect(await server.admin.json("GET", `${secrets}/b`, undefined, { query })).toMatchObject({ status: 404 });
  });

  it("has the older path of watches", async () => {
    const resourceVersion = await fresh();
    const path = secrets.replace("/api/v1/", "/api/v1/watch/");
    const watch = await server.admin.watch(path, { resourceVersion, watch: false });
    await create("a");
    expect(summarize([await watch.next()])).toEqual(["ADDED a"]);
    watch.close();
  });

  it("shows only what matches: what begins to is ADDED, what no longer does is DELETED", async () => {
    const resourceVersion = await fresh();
    const watch = await server.admin.watch(secrets, { resourceVersion, labelSelector: "shown=yes" });
    const relabel = (shown: string | null) => {
      return server.admin.patch("merge", `${secrets}/a`, { metadata: { labels: { shown } } });
    };
    await create("a", { shown: "no" });
    const shown = await relabel("yes");
    await server.admin.patch("merge", `${secrets}/a`, { data: { x: "eQ==" } });
    const hidden = await relabel("no");
    await relabel("yes");
    await server.admin.json("DELETE", `${secrets}/a`);
    await create("never", { shown: "no" });
    await create("end", { shown: "yes" });
    const events = await watch.take(6);
    expect(summarize(events)).toEqual(["ADDED a", "MODIFIED a", "DELETED a", "ADDED a", "DELETED a", "ADDED end"]);
    expect(events[0]?.object).toEqual(shown.body);
    // The last state that matched, at the revision of the change.
    expect(events[2]?.object.metadata.labels).toEqual({ shown: "yes" });
    expect(hidden.body).toMatchObject({ metadata: { resourceVersion: events[2]?.object.metadata.resourceVersion } });
    watch.close();
  });

  it("shows what field selectors choose, as they change", async () => {
    await fresh();
    const { pods } = pathsIn(await newNamespace(server.admin));
    const { resourceVersion } = await server.admin.list(pods);
    const watch = await server.admin.watch(pods, { resourceVersion, fieldSelector: "spec.nodeName=n1" });
    const containers = [{ name: "main", image: "example.com/main:1" }];
    await server.admin.object("POST", pods, { metadata: { name: "a" }, spec: { containers } });
    const target = { apiVersion: "v1", kind: "Node", name: "n1" };
    await server.admin.json("POST", `${pods}/a/binding`, { metadata: { name: "a" }, target });
    expect(await watch.next()).toMatchObject({ type: "ADDED", object: { spec: { nodeName: "n1" } } });
    watch.close();
  });

  it("ends cleanly after timeoutSeconds, with all events whole", async () => {
    const resourceVersion = await fresh();
    const startMs = Date.now();
    const watch = await server.admin.watch(secrets, { resourceVersion, timeoutSeconds: 1 });
    await create("a");
    expect(summarize(await watch.ended())).toEqual(["ADDED a"]);
    expect(Date.now() - startMs).toBeGreaterThanOrEqual(900);
    expect(Date.now() - startMs).toBeLessThan(10_000);
  });

  it("answers at once, before there is any event", async () => {
    const resourceVersion = await fresh();
    const startMs = Date.now();
    const watch = await server.admin.watch(secrets, { resourceVersion });
    expect(Date.now() - startMs).toBeLessThan(5_000);
    watch.close();
  });

  it("sends bookmarks to whoever allows them: objects with nothing but a resourceVersion", async () => {
    await fresh();
    const { resourceVersion } = await server.admin.list(secrets);
    const [asked, unasked] = await Promise.all([
      server.admin.watch(secrets, { resourceVersion, timeoutSeconds: 4, allowWatchBookmarks: true }),
      server.admin.watch(secrets, { resourceVersion, timeoutSeconds: 4 }),
    ]);
    // What the watch does not show moves it, too: a bookmark is for just that.
    const elsewhere = pathsIn(await newNamespace(server.admin)).secrets;
    const made = await server.admin.object("POST", elsewhere, secret("moves-on"));
    // One comes shortly before a watch ends, so that the next one begins there.
    const events = await asked.ended();
    expect(events.length).toBeGreaterThan(0);
    for (const { type, object } of events) {
      expect(type).toBe("BOOKMARK");
      expect(object).toMatchObject({ apiVersion: "v1", kind: "Secret" });
      expect(object.metadata.name).toBeUndefined();
      expect(revisionOf(object)).toBeGreaterThanOrEqual(revisionOf(made));
    }
    expect(await unasked.ended()).toEqual([]);
  });

  describe("with initial events", () => {
    beforeEach(({ skip }) => skip(!hasInitialEvents(server.minor), "this version does not send them"));

    it("sends everything there is, then a bookmark that says so, then what happens", async () => {
      await fresh();
      await create("a");
      await create("b");
      const watch = await server.admin.watch(secrets, INITIAL);
      const initial = await watch.until(({ type }) => type === "BOOKMARK");
      expect(summarize(initial.slice(0, -1)).toSorted()).toEqual(["ADDED a", "ADDED b"]);
      const { metadata } = initial.at(-1)?.object ?? (await create("unreached"));
      expect(metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
      const made = await create("c");
      expect(Number(metadata.resourceVersion)).toBeLessThan(revisionOf(made));
      expect(await watch.next()).toEqual({ type: "ADDED", object: made });
      watch.close();
    });

    it("says in a table by its only row that they have come to their end", async () => {
      await fresh();
      const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
      const watch = await server.admin.watch(secrets, { ...INITIAL, includeObject: "None" }, headers);
      const annotations = { "k8s.io/initial-events-end": "true" };
      expect(await watch.next()).toMatchObject({
        type: "BOOKMARK",
        object: { kind: "Table", rows: [{ object: { kind: "PartialObjectMetadata", metadata: { annotations } } }] },
      });
      watch.close();
    });

    it("says at once that there is nothing", async () => {
      await fresh();
      const watch = await server.admin.watch(secrets, { ...INITIAL, resourceVersion: "" });
      expect(await watch.next()).toMatchObject({
        type: "BOOKMARK",
        object: { metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
      });
      watch.close();
    });

    it("is not older than the resourceVersion that was asked for", async () => {
      await fresh();
      const made = await create("a");
      const watch = await server.admin.watch(secrets, {
        ...INITIAL,
        resourceVersion: made.metadata.resourceVersion ?? "",
      });
      const [added, bookmark] = await watch.take(2);
      expect(added).toEqual({ type: "ADDED", object: made });
      expect(Number(bookmark?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(revisionOf(made));
      watch.close();
    });

    it.each([
      { sendInitialEvents: true, allowWatchBookmarks: true },
      { sendInitialEvents: true, allowWatchBookmarks: true, resourceVersionMatch: "Exact", resourceVersion: "1" },
      { resourceVersionMatch: "NotOlderThan", resourceVersion: "1" },
    ])("refuses the options %o", async (options) => {
      const query = { watch: true, ...options };
      expect(await server.admin.json("GET", "/api/v1/secrets", undefined, { query })).toMatchObject({
        status: 422,
        body: { reason: "Invalid", details: { kind: "ListOptions" } },
      });
    });
  });

  it.each([{ labelSelector: "a in b" }, { fieldSelector: "data.x=y" }, { timeoutSeconds: "soon" }])(
    "refuses %o before it streams",
    async (options) => {
      const query = { watch: true, ...options };
      expect(await server.admin.json("GET", "/api/v1/secrets", undefined, { query })).toMatchObject({ status: 400 });
    },
  );

  it("gives tables, with their columns in the first event only", async () => {
    await fresh();
    const { configMaps } = pathsIn(await newNamespace(server.admin));
    const query = { labelSelector: "w=t" };
    const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
    const watch = await server.admin.watch(configMaps, query, headers);
    await server.admin.object("POST", configMaps, configMap("a", { x: "1" }, { w: "t" }));
    await server.admin.object("POST", configMaps, configMap("b", {}, { w: "t" }));
    const [first, second] = await watch.take(2);
    expect(first).toMatchObject({
      type: "ADDED",
      object: {
        kind: "Table",
        columnDefinitions: [{ name: "Name" }, { name: "Data" }, { name: "Age" }],
        rows: [{ cells: ["a", 1, expect.any(String)], object: { kind: "PartialObjectMetadata" } }],
      },
    });
    expect(second).toMatchObject({ type: "ADDED", object: { rows: [{ cells: ["b", 0, expect.any(String)] }] } });
    expect(second?.object["columnDefinitions"] ?? []).toEqual([]);
    watch.close();
  });

  it("gives metadata alone", async () => {
    const resourceVersion = await fresh();
    const headers = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" };
    const watch = await server.admin.watch(secrets, { resourceVersion }, headers);
    await create("a");
    const { object } = await watch.next();
    expect(object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "a" } });
    expect(object).not.toHaveProperty("data");
    watch.close();
  });
});
