import { beforeAll, describe, expect, it, vi } from "vitest";
import { isKubeObject, isRecord } from "../../../src/api/object.ts";
import { decodeProtobuf } from "../../../src/api/protobuf/decode-protobuf.ts";
import { encodeProtobuf } from "../../../src/api/protobuf/encode-protobuf.ts";
import type { CallOptions } from "./client.ts";
import { cronTab, defineCronTabs } from "./cron-tabs.ts";
import { readFrames } from "./event-frames.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, configMap, deployment, newNamespace, pathsIn, pod } from "./objects.ts";
import { pathOf, protobufCases } from "./protobuf-objects.ts";
import { hasInitialEvents } from "./watch-stream.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
/** The first minor version with the newest field that is no pointer: a condition's observedGeneration. */
const LAST_FIELD_SINCE = 35;
const partial = (as: string) => `${PROTOBUF};as=${as};g=meta.k8s.io;v=v1`;

describe.each(apiServersUnderTest())("protobuf, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let namespace: string;
  let paths: ReturnType<typeof pathsIn>;

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
    paths = pathsIn(namespace);
    await server.admin.object("POST", paths.configMaps, configMap("one", { a: "1" }, { part: "x" }));
    await server.admin.object("POST", paths.configMaps, configMap("two", {}, { part: "x" }));
  });

  const open = (method: string, path: string, body?: object, options: CallOptions = {}) => {
    const headers = { accept: PROTOBUF, ...(body && { "content-type": PROTOBUF }), ...options.headers };
    const bytes = body && encodeProtobuf({ ...body });
    return server.admin.open(method, path, bytes, { ...options, headers });
  };
  const call = async (...asked: Parameters<typeof open>) => {
    const response = await open(...asked);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(Buffer.from(chunk));
    const bytes = Buffer.concat(chunks);
    const type = response.headers["content-type"];
    const object = type === PROTOBUF ? decodeProtobuf(bytes) : undefined;
    return { status: response.statusCode, type, bytes, object };
  };

  /** Older versions do not have every field, of which Go writes even those that are zero. */
  const expectSame = (bytes: Buffer, expected: Buffer) => {
    if (server.minor >= LAST_FIELD_SINCE) expect(bytes.toString("latin1")).toBe(expected.toString("latin1"));
    else expect(decodeProtobuf(bytes)).toEqual(decodeProtobuf(expected));
  };

  it.each(protobufCases())("takes a $kind of $apiVersion, and gives it byte for byte as Go does", async (given) => {
    const { kind, object } = given;
    const path = pathOf(given, namespace);
    const made = await call("POST", path, object);
    expect(made).toMatchObject({ status: 201, type: PROTOBUF, object: { kind } });
    const name = isKubeObject(made.object) ? made.object.metadata.name : undefined;
    // A controller writes the status of some kinds in between.
    await vi.waitFor(
      async () => {
        const { bytes } = await call("GET", `${path}/${name}`);
        const inJson = await server.admin.object("GET", `${path}/${name}`);
        expect(inJson).toMatchObject(object);
        expectSame(bytes, encodeProtobuf({ ...inJson }));
      },
      { timeout: 20_000 },
    );
  });

  it("gives lists, and pages of them", async () => {
    const query = { labelSelector: "part=x" };
    const list = await call("GET", paths.configMaps, undefined, { query });
    expect(list).toMatchObject({ status: 200, type: PROTOBUF });
    const { body } = await server.admin.json("GET", paths.configMaps, undefined, { query });
    expect(list.bytes.toString("latin1")).toBe(encodeProtobuf(isRecord(body) ? body : {}).toString("latin1"));
    expect(list.object).toMatchObject({ kind: "ConfigMapList", items: [{ data: { a: "1" } }, {}] });
    const page = await call("GET", paths.configMaps, undefined, { query: { limit: 1 } });
    expect(page.object).toMatchObject({ metadata: { continue: expect.stringMatching(/.+/) }, items: [{}] });
    const none = await call("GET", paths.configMaps, undefined, { query: { labelSelector: "part=none" } });
    expect(none.object).toMatchObject({ kind: "ConfigMapList", metadata: { resourceVersion: expect.any(String) } });
    expect(none.object).not.toHaveProperty("items");
  });

  it("gives metadata alone, of one and of many", async () => {
    const one = await call("GET", `${paths.configMaps}/one`, undefined, {
      headers: { accept: partial("PartialObjectMetadata") },
    });
    expect(one).toMatchObject({
      type: PROTOBUF,
      object: { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata: { name: "one" } },
    });
    const many = await call("GET", paths.configMaps, undefined, {
      headers: { accept: partial("PartialObjectMetadataList") },
      query: { labelSelector: "part=x" },
    });
    expect(many.object).toMatchObject({
      kind: "PartialObjectMetadataList",
      items: [{ metadata: { name: "one" } }, { metadata: { name: "two" } }],
    });
  });

  it("refuses the form of one for many, and of many for one", async () => {
    const one = { headers: { accept: partial("PartialObjectMetadata") } };
    const many = { headers: { accept: partial("PartialObjectMetadataList") } };
    expect(await call("GET", paths.configMaps, undefined, one)).toMatchObject({ status: 406 });
    expect(await call("GET", `${paths.configMaps}/one`, undefined, many)).toMatchObject({ status: 406 });
  });

  it("says in protobuf what went wrong", async () => {
    const missing = await call("GET", `${paths.configMaps}/none`);
    expect(missing).toMatchObject({
      status: 404,
      type: PROTOBUF,
      object: {
        apiVersion: "v1",
        kind: "Status",
        status: "Failure",
        message: 'configmaps "none" not found',
        reason: "NotFound",
        details: { name: "none", kind: "configmaps" },
        code: 404,
      },
    });
    const invalid = await call("POST", paths.configMaps, configMap("Not a name"));
    expect(invalid).toMatchObject({
      status: 422,
      object: { reason: "Invalid", details: { causes: [{ reason: "FieldValueInvalid", field: "metadata.name" }] } },
    });
  });

  it("takes what is not protobuf for a mistake", async () => {
    const headers = { accept: PROTOBUF, "content-type": PROTOBUF };
    const response = await server.admin.open("POST", paths.configMaps, Buffer.from("{}"), { headers });
    response.resume();
    expect(response.statusCode).toBe(400);
  });

  it("changes an object, and answers patches", async () => {
    await server.admin.object("POST", paths.configMaps, configMap("changing", { a: "1" }));
    const path = `${paths.configMaps}/changing`;
    const { object = {} } = await call("GET", path);
    const written = { ...object, data: { b: "2" } };
    expect((await call("PUT", path, written)).object).toMatchObject({ data: { b: "2" } });
    const patched = await server.admin.open("PATCH", path, Buffer.from('{"data":{"c":"3"}}'), {
      headers: { accept: PROTOBUF, "content-type": "application/merge-patch+json" },
    });
    expect(patched.headers["content-type"]).toBe(PROTOBUF);
    patched.resume();
    expect(await server.admin.object("GET", path)).toMatchObject({ data: { b: "2", c: "3" } });
  });

  it("deletes by options in protobuf, and says so", async () => {
    const { metadata } = await server.admin.object("POST", paths.configMaps, configMap("leaving"));
    const path = `${paths.configMaps}/leaving`;
    const options = (uid: string) => ({ apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid } });
    expect(await call("DELETE", path, options("another"))).toMatchObject({ status: 409 });
    expect(await call("DELETE", path, options(metadata.uid ?? ""))).toMatchObject({
      status: 200,
      object: { kind: "Status", status: "Success", details: { name: "leaving" } },
    });
  });

  it.each([
    [`${PROTOBUF},application/json`, PROTOBUF],
    [`${PROTOBUF};q=0.5,application/json`, "application/json"],
    [`application/json;q=0.5,${PROTOBUF};q=0.6`, PROTOBUF],
    ["*/*", "application/json"],
    [`*/*,${PROTOBUF};q=0.1`, PROTOBUF],
    [`${PROTOBUF};as=Table;g=meta.k8s.io;v=v1,${PROTOBUF}`, PROTOBUF],
    [`${PROTOBUF};as=Table;g=meta.k8s.io;v=v1,application/json;as=Table;g=meta.k8s.io;v=v1`, "application/json"],
  ])("of %j answers with %s", async (accept, type) => {
    expect(await call("GET", `${paths.configMaps}/one`, undefined, { headers: { accept } })).toMatchObject({
      status: 200,
      type,
    });
  });

  it.each(["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"])("describes itself at %s", async (path) => {
    const { body } = await server.admin.json("GET", path);
    const { type, bytes } = await call("GET", path);
    expect(type).toBe(PROTOBUF);
    expect(bytes.toString("latin1")).toBe(encodeProtobuf(isRecord(body) ? body : {}).toString("latin1"));
  });

  it("has no tables in protobuf", async () => {
    const accept = `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`;
    expect(await call("GET", paths.configMaps, undefined, { headers: { accept } })).toMatchObject({
      status: 406,
      type: "application/json",
    });
  });

  it("answers reviews, scales and evictions", async () => {
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb: "get", resource: "pods" } },
    };
    const answer = await call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review);
    expect(answer).toMatchObject({ status: 201, object: { status: { allowed: true } } });
    await server.admin.object("POST", paths.deployments, deployment("scaled", 2));
    const scale = await call("GET", `${paths.deployments}/scaled/scale`);
    expect(scale.object).toMatchObject({ apiVersion: "autoscaling/v1", kind: "Scale", spec: { replicas: 2 } });
    // A controller may have written a status meanwhile: what is sent has no version.
    const wanted = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "scaled", namespace } };
    const sent = await call("PUT", `${paths.deployments}/scaled/scale`, { ...wanted, spec: { replicas: 3 } });
    expect(sent.object).toMatchObject({ spec: { replicas: 3 } });
    await server.admin.object("POST", paths.pods, pod("evicted"));
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "evicted", namespace } };
    expect(await call("POST", `${paths.pods}/evicted/eviction`, eviction)).toMatchObject({ status: 201 });
  });

  it("watches: frames of objects, statuses and bookmarks", async () => {
    const query = { watch: true, fieldSelector: "metadata.name=watched" };
    const list = await server.admin.list(paths.configMaps);
    const { resourceVersion } = list;
    const watch = await open("GET", paths.configMaps, undefined, { query: { ...query, resourceVersion } });
    expect(watch.headers["content-type"]).toBe(`${PROTOBUF};stream=watch`);
    const read = readFrames(watch, 3);
    const made = await server.admin.object("POST", paths.configMaps, configMap("watched"));
    await server.admin.object("PUT", `${paths.configMaps}/watched`, changed(made, { data: { a: "1" } }));
    await server.admin.json("DELETE", `${paths.configMaps}/watched`);
    expect(await read).toMatchObject([
      { type: "ADDED", object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "watched" } } },
      { type: "MODIFIED", object: { data: { a: "1" } } },
      { type: "DELETED", object: { data: { a: "1" } } },
    ]);
  });

  it("begins a watch with what there is, up to a bookmark", async ({ skip }) => {
    skip(!hasInitialEvents(server.minor), "this version does not send initial events");
    const initial = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };
    const query = { watch: true, labelSelector: "part=x", ...initial };
    expect(await readFrames(await open("GET", paths.configMaps, undefined, { query }), 3)).toMatchObject([
      { type: "ADDED", object: { metadata: { name: "one" } } },
      { type: "ADDED", object: { metadata: { name: "two" } } },
      {
        type: "BOOKMARK",
        object: { kind: "ConfigMap", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
      },
    ]);
  });

  it("watches metadata alone", async () => {
    const headers = { accept: partial("PartialObjectMetadata") };
    // One alone: in which order a watch begins with what is there, versions differ.
    const query = { watch: true, fieldSelector: "metadata.name=one" };
    const [first] = await readFrames(await open("GET", paths.configMaps, undefined, { headers, query }), 1);
    expect(first).toMatchObject({
      type: "ADDED",
      object: { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata: { name: "one" } },
    });
    expect(first).not.toHaveProperty("object.data");
  });

  it("answers a watch from a revision of the future in protobuf, too", async () => {
    const query = { watch: true, resourceVersion: "999999999" };
    const answer = await open("GET", paths.configMaps, undefined, { query });
    answer.resume();
    expect(answer.headers["content-type"]).toMatch(PROTOBUF);
  });

  it("does not watch in YAML", async () => {
    const headers = { accept: "application/yaml" };
    expect(await call("GET", paths.configMaps, undefined, { headers, query: { watch: true } })).toMatchObject({
      status: 406,
      type: "application/yaml",
    });
  });

  describe("of a custom kind", () => {
    const group = "formless.example.com";
    let cronTabs: string;

    beforeAll(async () => {
      cronTabs = await defineCronTabs(server.admin, group);
      await server.admin.object("POST", cronTabs, cronTab(group, "a"));
    });

    it("is not there, which it says in protobuf", async () => {
      const refused = { status: 406, type: PROTOBUF, object: { kind: "Status", reason: "NotAcceptable" } };
      expect(await call("GET", `${cronTabs}/a`)).toMatchObject(refused);
      expect(await call("GET", cronTabs)).toMatchObject(refused);
      expect(await call("GET", cronTabs, undefined, { query: { watch: true } })).toMatchObject(refused);
    });

    it("gives way to JSON", async () => {
      const headers = { accept: `${PROTOBUF},application/json` };
      const answer = await call("GET", `${cronTabs}/a`, undefined, { headers });
      expect(answer).toMatchObject({ status: 200, type: "application/json" });
    });

    it("is there for metadata, of one, of many and in a watch", async () => {
      const one = { accept: partial("PartialObjectMetadata") };
      const many = { accept: partial("PartialObjectMetadataList") };
      const metadata = { name: "a" };
      expect((await call("GET", `${cronTabs}/a`, undefined, { headers: one })).object).toMatchObject({ metadata });
      expect((await call("GET", cronTabs, undefined, { headers: many })).object).toMatchObject({
        items: [{ metadata }],
      });
      const watch = await open("GET", cronTabs, undefined, { headers: one, query: { watch: true } });
      expect(await readFrames(watch, 1)).toMatchObject([{ type: "ADDED", object: { metadata } }]);
    });

    it("is not there for its scale either", async () => {
      expect(await call("GET", `${cronTabs}/a/scale`)).toMatchObject({ status: 406 });
    });
  });
});
