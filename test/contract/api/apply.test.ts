import { beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { configMap, deployment, newNamespace, pathsIn } from "./objects.ts";

describe.each(apiServersUnderTest())("server-side apply, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let paths: ReturnType<typeof pathsIn>;

  beforeAll(async () => {
    paths = pathsIn(await newNamespace(server.admin));
  });

  function apply(name: string, data: Readonly<Record<string, string>>, query: object = {}) {
    const options = { query: { fieldManager: "a", ...query } };
    return server.admin.patch("apply", `${paths.configMaps}/${name}`, configMap(name, data), options);
  }

  it("creates what is not there, and records every field that was sent", async () => {
    expect(await apply("created", { x: "1" })).toMatchObject({
      status: 201,
      body: {
        data: { x: "1" },
        metadata: {
          name: "created",
          managedFields: [
            {
              manager: "a",
              operation: "Apply",
              apiVersion: "v1",
              time: expect.stringMatching(/Z$/),
              fieldsType: "FieldsV1",
              fieldsV1: { "f:data": { "f:x": {} } },
            },
          ],
        },
      },
    });
  });

  it("takes YAML", async () => {
    const text = stringify(configMap("yaml", { x: "1" }));
    const options = { query: { fieldManager: "a" } };
    expect(await server.admin.patch("apply", `${paths.configMaps}/yaml`, text, options)).toMatchObject({
      status: 201,
      body: { data: { x: "1" } },
    });
  });

  it("writes nothing where nothing changes", async () => {
    const { body } = await apply("same", { x: "1" });
    expect(await apply("same", { x: "1" })).toMatchObject({ status: 200, body: Object(body) });
  });

  it("removes what the manager no longer sends and nobody else owns", async () => {
    await apply("shrinking", { x: "1", y: "2" });
    const { body } = await apply("shrinking", { x: "1" });
    expect(body).toMatchObject({ data: { x: "1" } });
    expect(body).not.toHaveProperty("data.y");
  });

  it("keeps what another manager owns too", async () => {
    await apply("shared", { x: "1" });
    await apply("shared", { x: "1", y: "2" }, { fieldManager: "b" });
    const { body } = await apply("shared", {});
    expect(body).toMatchObject({ data: { x: "1", y: "2" } });
    const { body: rest } = await apply("shared", { y: "2" }, { fieldManager: "b" });
    expect(rest).toMatchObject({ data: { y: "2" } });
    expect(rest).not.toHaveProperty("data.x");
  });

  it("refuses to change what another manager owns, and names it", async () => {
    await apply("contested", { x: "1", y: "1" });
    expect(await apply("contested", { x: "2" }, { fieldManager: "b" })).toMatchObject({
      status: 409,
      body: {
        reason: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "a": .data.x',
        details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "a"', field: ".data.x" }] },
      },
    });
    expect(await apply("contested", { x: "2", y: "2" }, { fieldManager: "b" })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("Apply failed with 2 conflicts: ") },
    });
    expect(await server.admin.object("GET", `${paths.configMaps}/contested`)).toMatchObject({ data: { x: "1" } });
  });

  it("takes fields over with force", async () => {
    await apply("forced", { x: "1", y: "1" });
    const { status, body } = await apply("forced", { x: "2" }, { fieldManager: "b", force: true });
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { x: "2", y: "1" } } });
    expect(body).toMatchObject({
      metadata: {
        managedFields: expect.arrayContaining([
          expect.objectContaining({ manager: "a", fieldsV1: { "f:data": { "f:y": {} } } }),
          expect.objectContaining({ manager: "b", fieldsV1: { "f:data": { "f:x": {} } } }),
        ]),
      },
    });
  });

  it("conflicts with what an update changed, and says with which version", async () => {
    await apply("updated", { x: "1" });
    const query = { fieldManager: "editor" };
    await server.admin.patch("merge", `${paths.configMaps}/updated`, { data: { x: "2" } }, { query });
    expect(await apply("updated", { x: "1" })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('conflict with "editor" using v1: .data.x') },
    });
  });

  it("shares a field where both say the same", async () => {
    await apply("agreed", { x: "1" });
    expect(await apply("agreed", { x: "1" }, { fieldManager: "b" })).toMatchObject({ status: 200 });
  });

  it("merges lists by their keys", async () => {
    const path = `${paths.deployments}/listed`;
    const query = { fieldManager: "a" };
    await server.admin.patch("apply", path, deployment("listed"), { query });
    const template = { spec: { containers: [{ name: "extra", image: "e:1" }] } };
    const extra = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "listed" }, spec: { template } };
    const { status, body } = await server.admin.patch("apply", path, extra, { query: { fieldManager: "b" } });
    expect(status).toBe(200);
    expect(body).toHaveProperty("spec.template.spec.containers.length", 3);
    const containers = { 'k:{"name":"extra"}': { ".": {}, "f:image": {}, "f:name": {} } };
    const fieldsV1 = { "f:spec": { "f:template": { "f:spec": { "f:containers": containers } } } };
    const managedFields = expect.arrayContaining([expect.objectContaining({ manager: "b", fieldsV1 })]);
    expect(body).toMatchObject({ metadata: { managedFields } });
  });

  it("owns labels and annotations, and not the name", async () => {
    const object = { ...configMap("labelled"), metadata: { name: "labelled", labels: { l: "1" } } };
    const options = { query: { fieldManager: "a" } };
    expect(await server.admin.patch("apply", `${paths.configMaps}/labelled`, object, options)).toMatchObject({
      body: { metadata: { managedFields: [{ fieldsV1: { "f:metadata": { "f:labels": { "f:l": {} } } } }] } },
    });
  });

  it("has status for itself", async () => {
    const path = `${paths.deployments}/with-status`;
    await server.admin.patch("apply", path, deployment("with-status"), { query: { fieldManager: "a" } });
    const status = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "with-status" },
      status: { conditions: [{ type: "Contract", status: "True" }] },
    };
    const answer = await server.admin.patch("apply", `${path}/status`, status, { query: { fieldManager: "c" } });
    const condition = { ".": {}, "f:status": {}, "f:type": {} };
    const fieldsV1 = { "f:status": { "f:conditions": { 'k:{"type":"Contract"}': condition } } };
    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: { conditions: expect.arrayContaining([expect.objectContaining({ type: "Contract" })]) },
        metadata: {
          managedFields: expect.arrayContaining([
            expect.objectContaining({ manager: "c", subresource: "status", fieldsV1 }),
          ]),
        },
      },
    });
  });

  it("creates one object, however many apply it at once", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => apply("raced", { x: "1" })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
  });

  it("does all but store with dryRun=All", async () => {
    expect(await apply("dry", { x: "1" }, { dryRun: "All" })).toMatchObject({ status: 201 });
    expect(await server.admin.json("GET", `${paths.configMaps}/dry`)).toMatchObject({ status: 404 });
  });

  it("needs a field manager", async () => {
    expect(await apply("managerless", {}, { fieldManager: "" })).toMatchObject({
      status: 422,
      body: {
        reason: "Invalid",
        message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
        details: {
          group: "meta.k8s.io",
          kind: "PatchOptions",
          causes: [{ reason: "FieldValueRequired", field: "fieldManager" }],
        },
      },
    });
  });

  it("refuses managed fields in what is applied", async () => {
    const managedFields = [
      { manager: "a", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} },
    ];
    const object = { ...configMap("managed"), metadata: { name: "managed", managedFields } };
    const options = { query: { fieldManager: "a" } };
    expect(await server.admin.patch("apply", `${paths.configMaps}/managed`, object, options)).toMatchObject({
      status: 400,
      body: { message: "metadata.managedFields must be nil" },
    });
  });

  it("refuses an object of another name", async () => {
    const options = { query: { fieldManager: "a" } };
    expect(await server.admin.patch("apply", `${paths.configMaps}/here`, configMap("there"), options)).toMatchObject({
      status: 400,
      body: { message: "the name of the object (there) does not match the name on the URL (here)" },
    });
  });
});
