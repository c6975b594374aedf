import { beforeAll, describe, expect, it } from "vitest";
import { causesOf } from "./causes.ts";
import type { PatchType } from "./client.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { configMap, deployment, newNamespace, pathsIn } from "./objects.ts";

describe.each(apiServersUnderTest())("patch, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let paths: ReturnType<typeof pathsIn>;

  beforeAll(async () => {
    paths = pathsIn(await newNamespace(server.admin));
  });

  /** Patches a new config map. */
  async function patched(type: PatchType, name: string, patch: unknown, query = {}) {
    await server.admin.object("POST", paths.configMaps, configMap(name, { a: "1", b: "2" }, { l: "1" }));
    return server.admin.patch(type, `${paths.configMaps}/${name}`, patch, { query });
  }

  describe("as a JSON patch", () => {
    it("does all of its operations, in order", async () => {
      const operations = [
        { op: "test", path: "/data/a", value: "1" },
        { op: "add", path: "/data/c", value: "3" },
        { op: "replace", path: "/data/a", value: "one" },
        { op: "move", from: "/data/b", path: "/data/d" },
        { op: "copy", from: "/data/c", path: "/data/e" },
        { op: "remove", path: "/metadata/labels/l" },
      ];
      const { status, body } = await patched("json", "operations", operations);
      expect({ status, body }).toMatchObject({ status: 200, body: { data: { a: "one", c: "3", d: "2", e: "3" } } });
      expect(body).not.toHaveProperty("data.b");
      expect(body).not.toHaveProperty("metadata.labels.l");
    });

    it("reads pointers with escapes", async () => {
      const operations = [
        { op: "add", path: "/metadata/annotations", value: { "example.com/x": "y" } },
        { op: "replace", path: "/metadata/annotations/example.com~1x", value: "z" },
      ];
      expect(await patched("json", "escapes", operations)).toMatchObject({
        body: { metadata: { annotations: { "example.com/x": "z" } } },
      });
    });

    it("takes what is not there for null, and adds where it should replace", async () => {
      const operations = [
        { op: "test", path: "/data/z", value: null },
        { op: "replace", path: "/data/z", value: "26" },
      ];
      expect(await patched("json", "lenient", operations)).toMatchObject({ status: 200, body: { data: { z: "26" } } });
    });

    it.each([
      ["a test that does not hold", [{ op: "test", path: "/data/a", value: "2" }]],
      ["the removal of what is not there", [{ op: "remove", path: "/data/z" }]],
      ["an addition below what is not there", [{ op: "add", path: "/data/z/z", value: "" }]],
      ["a value that the field cannot have", [{ op: "add", path: "/data/z", value: 1 }]],
    ])("changes nothing after %s", async (what, operations) => {
      const name = what.replaceAll(" ", "-");
      const first = { op: "replace", path: "/data/b", value: "changed" };
      expect(await patched("json", name, [first, ...operations])).toMatchObject({
        status: 422,
        body: { reason: "Invalid", code: 422 },
      });
      expect(await server.admin.object("GET", `${paths.configMaps}/${name}`)).toMatchObject({ data: { b: "2" } });
    });

    it.each([
      ["is no list", { op: "remove", path: "/data/a" }],
      ["is no JSON", "[nonsense"],
    ])("refuses one that %s", async (what, patch) => {
      const answer = await patched("json", what.replaceAll(" ", "-").toLowerCase(), patch);
      expect(answer).toMatchObject({ status: 400, body: { reason: "BadRequest" } });
    });
  });

  describe("as a merge patch", () => {
    it("merges maps, and removes what is null", async () => {
      const { status, body } = await patched("merge", "merged", { data: { a: null, c: "3" } });
      expect({ status, body }).toMatchObject({ status: 200, body: { data: { b: "2", c: "3" } } });
      expect(body).not.toHaveProperty("data.a");
    });

    it("replaces lists as a whole", async () => {
      await server.admin.object("POST", paths.deployments, deployment("list"));
      const containers = [{ name: "side", image: "example.com/side:2" }];
      const patch = { spec: { template: { spec: { containers } } } };
      const { body } = await server.admin.patch("merge", `${paths.deployments}/list`, patch);
      expect(body).toHaveProperty("spec.template.spec.containers.length", 1);
    });

    it("is a precondition where it has a resourceVersion", async () => {
      expect(await patched("merge", "stale", { metadata: { resourceVersion: "1" }, data: {} })).toMatchObject({
        status: 409,
        body: { reason: "Conflict" },
      });
    });

    it("cannot make it another object", async () => {
      const uid = "00000000-0000-0000-0000-000000000000";
      const answer = await patched("merge", "another", { metadata: { uid } });
      expect(answer).toMatchObject({ status: 422, body: { reason: "Invalid" } });
      const message = `Invalid value: "${uid}": field is immutable`;
      expect(causesOf(answer)).toEqual([{ reason: "FieldValueInvalid", field: "metadata.uid", message }]);
    });

    it("writes nothing where it changes nothing", async () => {
      const before = await server.admin.object("POST", paths.configMaps, configMap("same", { a: "1" }));
      const { body } = await server.admin.patch("merge", `${paths.configMaps}/same`, { data: { a: "1" } });
      expect(body).toEqual(before);
    });

    it("cannot rename", async () => {
      expect(await patched("merge", "renamed", { metadata: { name: "other" } })).toMatchObject({ status: 400 });
    });

    it("is checked as what it makes of the object", async () => {
      expect(await patched("merge", "bad", { data: { "not a key": "" } })).toMatchObject({
        status: 422,
        body: { reason: "Invalid", details: { kind: "ConfigMap", name: "bad" } },
      });
    });

    it("tells of unknown fields as fieldValidation says", async () => {
      const strict = await patched("merge", "strict", { bogus: 1 }, { fieldValidation: "Strict" });
      expect(strict).toMatchObject({
        status: 422,
        body: { reason: "Invalid", message: expect.stringContaining('strict decoding error: unknown field "bogus"') },
      });
      const warned = await patched("merge", "warned", { bogus: 1 });
      expect(warned).toMatchObject({ status: 200, headers: { warning: '299 - "unknown field \\"bogus\\""' } });
    });

    it("does all but store with dryRun=All", async () => {
      expect(await patched("merge", "dry", { data: { a: "9" } }, { dryRun: "All" })).toMatchObject({
        status: 200,
        body: { data: { a: "9" } },
      });
      expect(await server.admin.object("GET", `${paths.configMaps}/dry`)).toMatchObject({ data: { a: "1" } });
    });

    it("does not make concurrent patches conflict", async () => {
      await server.admin.object("POST", paths.configMaps, configMap("crowded"));
      const patches = Array.from({ length: 20 }, (_, index) => {
        return server.admin.patch("merge", `${paths.configMaps}/crowded`, { data: { [`k${index}`]: "" } });
      });
      // A real server gives up after five conflicts with others.
      const done = (await Promise.all(patches)).filter(({ status }) => status === 200);
      const { data } = await server.admin.object("GET", `${paths.configMaps}/crowded`);
      expect(Object.keys(Object(data))).toHaveLength(done.length);
      expect(done.length).toBeGreaterThan(0);
    });
  });

  describe("as a strategic merge patch", () => {
    const containersOf = async (name: string, patch: object) => {
      await server.admin.object("POST", paths.deployments, deployment(name));
      const body = { spec: { template: { spec: patch } } };
      const answer = await server.admin.patch("strategic", `${paths.deployments}/${name}`, body);
      return { status: answer.status, body: answer.body };
    };
    const inTemplate = (spec: object) => ({ status: 200, body: { spec: { template: { spec } } } });

    it.each([
      ["kind", { kind: "Pod" }],
      ["version", { apiVersion: "extensions/v1beta1" }],
    ])("cannot make it one of another %s, and does the rest", async (what, type) => {
      const change = { ...type, metadata: { labels: { l: "2" } } };
      expect(await patched("strategic", `other-${what}`, change)).toMatchObject({
        status: 200,
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { labels: { l: "2" } } },
      });
    });

    it("merges lists by their key", async () => {
      const patch = {
        containers: [
          { name: "side", image: "example.com/side:2" },
          { name: "new", image: "n:1" },
        ],
      };
      const { status, body } = await containersOf("by-key", patch);
      expect(status).toBe(200);
      expect(body).toHaveProperty("spec.template.spec.containers.length", 3);
      const images = ["example.com/main:1", "example.com/side:2", "n:1"];
      for (const image of images) {
        const containers = expect.arrayContaining([expect.objectContaining({ image })]);
        expect(body).toMatchObject({ spec: { template: { spec: { containers } } } });
      }
    });

    it("removes an item with $patch: delete", async () => {
      const result = await containersOf("removed", { containers: [{ name: "side", $patch: "delete" }] });
      expect(result).toMatchObject(inTemplate({ containers: [{ name: "main" }] }));
    });

    it("replaces a list with $patch: replace", async () => {
      const containers = [{ name: "only", image: "o:1" }, { $patch: "replace" }];
      expect(await containersOf("replaced", { containers })).toMatchObject(
        inTemplate({ containers: [{ name: "only" }] }),
      );
    });

    it("orders a list with $setElementOrder", async () => {
      const patch = { "$setElementOrder/containers": [{ name: "side" }, { name: "main" }] };
      expect(await containersOf("ordered", { ...patch, containers: [{ name: "main", image: "m:2" }] })).toMatchObject(
        inTemplate({ containers: [{ name: "side" }, { name: "main", image: "m:2" }] }),
      );
    });

    it("keeps only some fields with $retainKeys", async () => {
      await server.admin.object("POST", paths.deployments, deployment("retained"));
      const patch = { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } };
      const { status, body } = await server.admin.patch("strategic", `${paths.deployments}/retained`, patch);
      expect({ status, body }).toMatchObject({ status: 200, body: { spec: { strategy: { type: "Recreate" } } } });
      expect(body).not.toHaveProperty("spec.strategy.rollingUpdate");
    });

    it("deletes from lists of plain values", async () => {
      const metadata = { name: "finalized", finalizers: ["example.com/a", "example.com/b"] };
      await server.admin.object("POST", paths.configMaps, { metadata });
      const path = `${paths.configMaps}/finalized`;
      const patch = {
        metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a"], finalizers: ["example.com/c"] },
      };
      const { body } = await server.admin.patch("strategic", path, patch);
      expect(body).toMatchObject({ metadata: { finalizers: ["example.com/c", "example.com/b"] } });
    });

    it("removes fields that are null", async () => {
      const { body } = await patched("strategic", "nulled", { data: { a: null }, metadata: { labels: null } });
      expect(body).not.toHaveProperty("data.a");
      expect(body).not.toHaveProperty("metadata.labels");
      expect(body).toHaveProperty("data.b");
    });
  });

  it.each(["application/json", "application/yaml", "text/plain"])("refuses a patch of type %s", async (type) => {
    const headers = { "content-type": type };
    expect(await server.admin.json("PATCH", `${paths.configMaps}/x`, {}, { headers })).toMatchObject({
      status: 415,
      body: { kind: "Status", reason: "UnsupportedMediaType" },
    });
  });

  it.each<PatchType>(["json", "merge", "strategic"])("creates nothing with a %s patch", async (type) => {
    const patch = type === "json" ? [{ op: "add", path: "/data", value: {} }] : { data: {} };
    expect(await server.admin.patch(type, `${paths.configMaps}/absent`, patch)).toMatchObject({
      status: 404,
      body: { message: 'configmaps "absent" not found' },
    });
  });

  it("refuses force, which is for apply", async () => {
    expect(await patched("merge", "forced", { data: {} }, { force: true })).toMatchObject({
      status: 422,
      body: { details: { kind: "PatchOptions", causes: [{ reason: "FieldValueForbidden", field: "force" }] } },
    });
  });

  it("records who changed what", async () => {
    const { body } = await patched("merge", "recorded", { data: { c: "3" } }, { fieldManager: "patcher" });
    expect(body).toMatchObject({
      metadata: {
        managedFields: expect.arrayContaining([
          expect.objectContaining({ manager: "patcher", operation: "Update", fieldsV1: { "f:data": { "f:c": {} } } }),
        ]),
      },
    });
  });
});
