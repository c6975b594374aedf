import { beforeAll, describe, expect, it } from "vitest";
import { causesOf } from "./causes.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, changedMetadata, configMap, deployment, newNamespace, pathsIn, pod } from "./objects.ts";

describe.each(apiServersUnderTest())("update, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let paths: ReturnType<typeof pathsIn>;
  let namespace: string;

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
    paths = pathsIn(namespace);
  });

  const created = (name: string) => server.admin.object("POST", paths.configMaps, configMap(name, { a: "1" }));
  const put = (name: string, body: object, query = {}) => {
    return server.admin.json("PUT", `${paths.configMaps}/${name}`, body, { query });
  };

  it("replaces the object and gives it a later resourceVersion", async () => {
    const before = await created("replaced");
    const after = await server.admin.object(
      "PUT",
      `${paths.configMaps}/replaced`,
      changed(before, { data: { b: "2" } }),
    );
    expect(after["data"]).toEqual({ b: "2" });
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    expect(after.metadata).toMatchObject({
      uid: before.metadata.uid,
      creationTimestamp: before.metadata.creationTimestamp,
    });
  });

  it("refuses what was made of an older version", async () => {
    const before = await created("stale");
    await put("stale", changed(before, { data: { b: "2" } }));
    expect(await put("stale", changed(before, { data: { c: "3" } }))).toMatchObject({
      status: 409,
      body: {
        reason: "Conflict",
        message:
          'Operation cannot be fulfilled on configmaps "stale": the object has been modified; please apply your changes to the latest version and try again',
        details: { name: "stale", kind: "configmaps" },
      },
    });
    expect(await server.admin.object("GET", `${paths.configMaps}/stale`)).toMatchObject({ data: { b: "2" } });
  });

  it("lets one of many concurrent writers win", async () => {
    const before = await created("raced");
    const writes = Array.from({ length: 20 }, (_, index) =>
      put("raced", changed(before, { data: { by: `${index}` } })),
    );
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
  });

  it("lets the last writer win where no resourceVersion is sent", async () => {
    await created("blind");
    expect(await put("blind", configMap("blind", { z: "9" }))).toMatchObject({
      status: 200,
      body: { data: { z: "9" } },
    });
  });

  it("refuses another uid: it is another object of the name", async () => {
    const before = await created("other-uid");
    const body = changedMetadata(before, { uid: "00000000-0000-0000-0000-000000000000", resourceVersion: undefined });
    expect(await put("other-uid", body)).toMatchObject({
      status: 409,
      body: { reason: "Conflict", message: expect.stringContaining("Precondition failed: UID in precondition: ") },
    });
  });

  it("writes nothing where nothing changes", async () => {
    const before = await created("same");
    expect((await put("same", before)).body).toEqual(before);
    expect((await put("same", configMap("same", { a: "1" }))).body).toEqual(before);
  });

  it("keeps what only the server sets", async () => {
    const before = await created("kept");
    const forged = { creationTimestamp: "2001-01-01T00:00:00Z", generation: 9 };
    const { status, body } = await put("kept", changedMetadata(before, { ...forged, labels: { l: "1" } }));
    const { creationTimestamp } = before.metadata;
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { metadata: { creationTimestamp, labels: { l: "1" } } },
    });
    expect(body).not.toHaveProperty("metadata.generation");
  });

  it("cannot mark an object as deleted", async () => {
    const before = await created("undead");
    const body = changedMetadata(before, { deletionTimestamp: "2001-01-01T00:00:00Z" });
    const answer = await put("undead", body);
    expect(answer.status).toBe(422);
    const reason = "FieldValueInvalid";
    // Older servers print the time as Go does.
    const message = expect.stringMatching(
      /^Invalid value: ("2001-01-01T00:00:00Z"|2001-01-01 00:00:00 \+0000 UTC): field is immutable$/,
    );
    expect(causesOf(answer)).toEqual([{ reason, field: "metadata.deletionTimestamp", message }]);
  });

  it.each([
    ["name", { name: "other" }, "the name of the object (other) does not match the name on the URL (placed)"],
    [
      "namespace",
      { namespace: "other" },
      "the namespace of the provided object does not match the namespace sent on the request",
    ],
  ])("refuses a %s that is not the URL's", async (_, metadata, message) => {
    await server.admin.json("POST", paths.configMaps, configMap("placed"));
    const body = changedMetadata(await server.admin.object("GET", `${paths.configMaps}/placed`), metadata);
    expect(await put("placed", body)).toMatchObject({
      status: 400,
      body: { reason: "BadRequest", message: expect.stringContaining(message) },
    });
  });

  it("does not create what is not there", async () => {
    expect(await put("absent", configMap("absent"))).toMatchObject({ status: 404, body: { reason: "NotFound" } });
  });

  it("does all but store with dryRun=All", async () => {
    const before = await created("dry");
    const answer = await put("dry", changed(before, { data: { b: "2" } }), { dryRun: "All" });
    expect(answer).toMatchObject({ status: 200, body: { data: { b: "2" } } });
    expect(await server.admin.object("GET", `${paths.configMaps}/dry`)).toEqual(before);
  });

  it("checks the new version as it checks new objects", async () => {
    const before = await created("checked");
    expect(await put("checked", changed(before, { data: { "not a key": "" } }))).toMatchObject({ status: 422 });
    const body = { ...before, bogus: 1 };
    expect(await put("checked", body, { fieldValidation: "Strict" })).toMatchObject({ status: 400 });
  });

  it("refuses to change what is immutable", async () => {
    const frozen = { ...configMap("frozen", { a: "1" }), immutable: true };
    const before = await server.admin.object("POST", paths.configMaps, frozen);
    expect(await put("frozen", changed(before, { data: { a: "2" } }))).toMatchObject({
      status: 422,
      body: { details: { causes: [{ reason: "FieldValueForbidden", field: "data" }] } },
    });
    expect(await put("frozen", changed(before, { immutable: false }))).toMatchObject({ status: 422 });
    expect(await put("frozen", changedMetadata(before, { labels: { l: "1" } }))).toMatchObject({ status: 200 });
  });

  describe("of a lease, which a PUT may create and which never goes without a resourceVersion", () => {
    const lease = (holderIdentity: string) => ({ metadata: { name: "lock" }, spec: { holderIdentity } });

    it("creates it", async () => {
      const answer = await server.admin.json("PUT", `${paths.leases}/lock`, lease("a"));
      expect(answer).toMatchObject({ status: 201, body: { kind: "Lease", spec: { holderIdentity: "a" } } });
    });

    it("refuses an update without a resourceVersion", async () => {
      expect(await server.admin.json("PUT", `${paths.leases}/lock`, lease("b"))).toMatchObject({
        status: 422,
        body: {
          details: {
            causes: [
              {
                field: "metadata.resourceVersion",
                message: expect.stringContaining("must be specified for an update"),
              },
            ],
          },
        },
      });
    });
  });

  describe("of a status", () => {
    const running = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

    it("is apart from the object: neither changes the other", async () => {
      const path = `${paths.pods}/apart`;
      const before = await server.admin.object("POST", paths.pods, { ...pod("apart"), status: running });
      expect(before).toMatchObject({ status: { phase: "Pending" } });
      const ignored = await server.admin.object("PUT", path, changed(before, { status: running }));
      expect(ignored).toMatchObject({ status: { phase: "Pending" } });
      const spec = { containers: [{ name: "main", image: "example.com/changed:1" }] };
      const told = await server.admin.object("PUT", `${path}/status`, changed(ignored, { status: running, spec }));
      expect(told).toMatchObject({
        status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
        spec: { containers: [{ image: "example.com/main:1" }] },
      });
      expect(await server.admin.object("GET", `${path}/status`)).toEqual(told);
      expect(await server.admin.object("GET", path)).toEqual(told);
    });

    it("has optimistic concurrency too", async () => {
      const before = await server.admin.object("POST", paths.pods, pod("told-twice"));
      const path = `${paths.pods}/told-twice/status`;
      await server.admin.object("PUT", path, changed(before, { status: running }));
      const late = changed(before, { status: { ...running, message: "late" } });
      expect(await server.admin.json("PUT", path, late)).toMatchObject({ status: 409 });
    });

    it("is not there for kinds without one", async () => {
      expect(await server.admin.json("GET", `${paths.configMaps}/x/status`)).toMatchObject({ status: 404 });
    });
  });

  it("counts generations of what is wanted and of a deployment's annotations, not of labels or status", async () => {
    const path = `${paths.deployments}/counted`;
    const before = await server.admin.object("POST", paths.deployments, deployment("counted"));
    expect(before.metadata.generation).toBe(1);
    const labelled = await server.admin.patch("merge", path, { metadata: { labels: { l: "1" } } });
    expect(labelled).toMatchObject({ status: 200, body: { metadata: { generation: 1 } } });
    // A controller may write too: a condition of another's stays.
    const conditions = expect.arrayContaining([expect.objectContaining({ type: "Contract" })]);
    const status = { conditions };
    const changes = { status: { conditions: [{ type: "Contract", status: "True" }] } };
    const told = await server.admin.patch("merge", `${path}/status`, changes);
    expect(told).toMatchObject({ status: 200, body: { metadata: { generation: 1 }, status } });
    const scaled = await server.admin.patch("merge", path, { spec: { replicas: 5 } });
    expect(scaled).toMatchObject({ status: 200, body: { metadata: { generation: 2 }, spec: { replicas: 5 }, status } });
    const same = await server.admin.patch("merge", path, { spec: { replicas: 5 } });
    expect(same).toMatchObject({ body: { metadata: { generation: 2 } } });
    const annotated = await server.admin.patch("merge", path, { metadata: { annotations: { a: "1" } } });
    expect(annotated).toMatchObject({ body: { metadata: { generation: 3 } } });
  });

  it("refuses changes of a pod that its node could not follow", async () => {
    const before = await server.admin.object("POST", paths.pods, pod("fixed"));
    const spec = { ...pod("fixed"), spec: { containers: [{ name: "other", image: "example.com/main:1" }] } };
    expect(await server.admin.json("PUT", `${paths.pods}/fixed`, spec)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("pod updates may not change fields other than") },
    });
    const image = { spec: { containers: [{ name: "main", image: "example.com/main:2" }] } };
    expect(await server.admin.patch("strategic", `${paths.pods}/fixed`, image)).toMatchObject({
      status: 200,
      body: { metadata: { uid: before.metadata.uid }, spec: { containers: [{ image: "example.com/main:2" }] } },
    });
  });
});
