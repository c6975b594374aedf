import { beforeAll, describe, expect, it } from "vitest";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { configMap, newNamespace, pathsIn, pod } from "./objects.ts";

describe.each(apiServersUnderTest())("create, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let namespace: string;
  let configMaps: string;

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
    ({ configMaps } = pathsIn(namespace));
  });

  it("returns the object with all that the server sets", async () => {
    const answer = await server.admin.json("POST", configMaps, configMap("plain", { a: "1" }));
    expect(answer).toMatchObject({
      status: 201,
      body: {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "plain", namespace, uid: expect.stringMatching(/^[0-9a-f-]{36}$/) },
        data: { a: "1" },
      },
    });
    expect(answer.body).toMatchObject({
      metadata: {
        resourceVersion: expect.stringMatching(/^\d+$/),
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        managedFields: [{ manager: "contract", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1" }],
      },
    });
    expect(await server.admin.object("GET", `${configMaps}/plain`)).toEqual(answer.body);
  });

  it("replaces what only the server may set", async () => {
    const forged = { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", generation: 7, selfLink: "/x" };
    const deletion = { deletionTimestamp: "2001-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 };
    const object = { metadata: { name: "forged", ...forged, ...deletion } };
    const { metadata } = await server.admin.object("POST", configMaps, object);
    expect(metadata.uid).not.toBe("mine");
    expect(metadata.creationTimestamp).not.toBe("2001-01-01T00:00:00Z");
    expect(metadata).not.toHaveProperty("deletionTimestamp");
    expect(metadata).not.toHaveProperty("deletionGracePeriodSeconds");
    expect(metadata).not.toHaveProperty("selfLink");
  });

  it("refuses a resourceVersion, which only stored objects have", async () => {
    const { status, body } = await server.admin.json("POST", configMaps, {
      metadata: { name: "versioned", resourceVersion: "5" },
    });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).toMatchObject({ message: "resourceVersion should not be set on objects to be created" });
  });

  it("generates names that nobody has", async () => {
    const create = () => server.admin.object("POST", configMaps, { metadata: { generateName: "many-" } });
    const created = await Promise.all(Array.from({ length: 20 }, create));
    const names = created.map(({ metadata }) => metadata.name);
    expect(new Set(names).size).toBe(20);
    for (const { metadata } of created) {
      expect(metadata.name).toMatch(/^many-[a-z0-9]{5}$/);
      expect(metadata.generateName).toBe("many-");
    }
  });

  it("prefers a name over generateName, and cuts a long base", async () => {
    const both = { metadata: { name: "named", generateName: "other-" } };
    expect((await server.admin.object("POST", configMaps, both)).metadata.name).toBe("named");
    const long = { metadata: { generateName: "a".repeat(70) } };
    expect((await server.admin.object("POST", configMaps, long)).metadata.name).toMatch(/^a{58}[a-z0-9]{5}$/);
  });

  it("tells that a name is taken", async () => {
    await server.admin.object("POST", configMaps, configMap("twice"));
    expect(await server.admin.json("POST", configMaps, configMap("twice"))).toMatchObject({
      status: 409,
      body: {
        kind: "Status",
        apiVersion: "v1",
        status: "Failure",
        message: 'configmaps "twice" already exists',
        reason: "AlreadyExists",
        details: { name: "twice", kind: "configmaps" },
        code: 409,
      },
    });
  });

  it.each([{ query: {} }, { query: { dryRun: "All" } }])(
    "judges an object before its name, and a version after it, with $query",
    async ({ query }) => {
      await server.admin.json("POST", configMaps, configMap("judged"));
      const post = async (object: object) => (await server.admin.json("POST", configMaps, object, { query })).status;
      expect(await post(configMap("judged", { "not a key": "" }))).toBe(422);
      const versioned = {
        ...configMap("judged", { "not a key": "" }),
        metadata: { name: "judged", resourceVersion: "5" },
      };
      expect(await post(versioned)).toBe(422);
      expect(await post(configMap("judged"))).toBe(409);
    },
  );

  it("gives a service its ports and addresses before its name is looked at", async () => {
    const services = `/api/v1/namespaces/${namespace}/services`;
    const outside = {
      metadata: { name: "outside" },
      spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_111 }] },
    };
    await server.admin.object("POST", services, outside);
    expect(await server.admin.json("POST", services, outside)).toMatchObject({
      status: 422,
      body: {
        message:
          'Service "outside" is invalid: spec.ports[0].nodePort: Invalid value: 30111: provided port is already allocated',
      },
    });
    const plain = { metadata: { name: "outside" }, spec: { ports: [{ port: 80 }] } };
    expect(await server.admin.json("POST", services, plain)).toMatchObject({ status: 409 });
  });

  it("does all but store with dryRun=All", async () => {
    const query = { dryRun: "All" };
    const answer = await server.admin.json("POST", configMaps, configMap("dry"), { query });
    expect(answer).toMatchObject({ status: 201, body: { metadata: { name: "dry", uid: expect.any(String) } } });
    expect(await server.admin.json("GET", `${configMaps}/dry`)).toMatchObject({ status: 404 });
    const invalid = configMap("dry", { "not a key": "" });
    expect(await server.admin.json("POST", configMaps, invalid, { query })).toMatchObject({ status: 422 });
  });

  it("takes a resourceVersion with dryRun=All, as nothing is stored that it could contradict", async () => {
    const versioned = (name: string) => ({ metadata: { name, resourceVersion: "5" } });
    const query = { dryRun: "All" };
    const answer = await server.admin.json("POST", configMaps, versioned("dry-versioned"), { query });
    expect(answer).toMatchObject({ status: 201, body: { metadata: { resourceVersion: "5" } } });
    await server.admin.object("POST", configMaps, configMap("dry-taken"));
    expect(await server.admin.json("POST", configMaps, versioned("dry-taken"), { query })).toMatchObject({
      status: 409,
    });
  });

  it.each([
    ["dryRun", "Some"],
    ["fieldValidation", "Perhaps"],
    ["fieldManager", "m".repeat(129)],
  ])("refuses the option %s=%s", async (option, value) => {
    const answer = await server.admin.json("POST", configMaps, configMap("x"), { query: { [option]: value } });
    expect(answer).toMatchObject({
      status: 422,
      body: { reason: "Invalid", details: { kind: "CreateOptions", causes: [{ field: option }] } },
    });
  });

  describe("of an object with unknown and duplicate fields", () => {
    const text = (name: string) =>
      `{"metadata":{"name":"${name}","nmae":"x"},"bogus":1,"data":{"a":"1"},"data":{"b":"2"}}`;

    it("fails with fieldValidation=Strict, naming them all", async () => {
      const query = { fieldValidation: "Strict" };
      const { status, body } = await server.admin.json("POST", configMaps, text("strict"), { query });
      expect({ status, body }).toMatchObject({ status: 400, body: { reason: "BadRequest" } });
      for (const problem of ["strict decoding error", 'unknown field "bogus"', 'unknown field "metadata.nmae"']) {
        expect(body).toMatchObject({ message: expect.stringContaining(problem) });
      }
      expect(body).toMatchObject({ message: expect.stringContaining('duplicate field "data"') });
    });

    it.each([{ fieldValidation: "Warn" }, {}])("warns with %o, and drops them", async (query) => {
      const name = `warned-${Object.keys(query).length}`;
      const { status, headers, body } = await server.admin.json("POST", configMaps, text(name), { query });
      expect(status).toBe(201);
      expect(body).not.toHaveProperty("bogus");
      expect(headers["warning"]).toContain('299 - "unknown field \\"bogus\\""');
      expect(headers["warning"]).toContain('299 - "duplicate field \\"data\\""');
    });

    it("says nothing with fieldValidation=Ignore, where the last duplicate wins", async () => {
      const query = { fieldValidation: "Ignore" };
      const { status, headers, body } = await server.admin.json("POST", configMaps, text("ignored"), { query });
      expect({ status, body }).toMatchObject({ status: 201, body: { data: { b: "2" } } });
      expect(headers["warning"]).toBeUndefined();
    });
  });

  it.each([
    ["of another namespace", { metadata: { name: "x", namespace: "elsewhere" } }, "does not match the namespace"],
    [
      "of another kind",
      { apiVersion: "v1", kind: "Secret", metadata: { name: "x" } },
      "cannot be handled as a ConfigMap",
    ],
    ["of another group", { apiVersion: "apps/v1", kind: "ConfigMap", metadata: { name: "x" } }, "apps/v1"],
    ["with a value of the wrong type", { metadata: { name: "x" }, data: { a: 1 } }, "cannot be handled as a ConfigMap"],
    ["that is a list", [], ""],
    ["that is no JSON", "{ nonsense", ""],
    ["that is missing", "", ""],
  ])("refuses a body %s", async (_, body, message) => {
    expect(await server.admin.json("POST", configMaps, body)).toMatchObject({
      status: 400,
      body: { kind: "Status", reason: "BadRequest", message: expect.stringContaining(message) },
    });
  });

  it("names every problem of an invalid object, with its field", async () => {
    const spec = { containers: [{ name: "Main" }], restartPolicy: "Sometimes" };
    const { status, body } = await server.admin.json("POST", pathsIn(namespace).pods, pod("problems", { spec }));
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { reason: "Invalid", details: { name: "problems", kind: "Pod" }, code: 422 },
    });
    const causes = expect.arrayContaining([
      expect.objectContaining({ reason: "FieldValueInvalid", field: "spec.containers[0].name" }),
      expect.objectContaining({ reason: "FieldValueRequired", field: "spec.containers[0].image" }),
      expect.objectContaining({ reason: "FieldValueNotSupported", field: "spec.restartPolicy" }),
    ]);
    expect(body).toMatchObject({
      message: expect.stringMatching(/^Pod "problems" is invalid: \[/),
      details: { causes },
    });
  });

  it.each([
    ["no name", {}, "FieldValueRequired", "metadata.name"],
    ["a name that is none", { name: "Not_A_Name" }, "FieldValueInvalid", "metadata.name"],
    ["a label that is none", { name: "x", labels: { a: "not a label" } }, "FieldValueInvalid", "metadata.labels"],
  ])("refuses metadata with %s", async (_, metadata, reason, field) => {
    expect(await server.admin.json("POST", configMaps, { metadata })).toMatchObject({
      status: 422,
      body: { reason: "Invalid", details: { causes: [{ reason, field }] } },
    });
  });

  it("refuses what belongs into a namespace that is not there", async () => {
    expect(await server.admin.json("POST", pathsIn("nowhere").configMaps, configMap("x"))).toMatchObject({
      status: 404,
      body: { reason: "NotFound", message: 'namespaces "nowhere" not found', details: { kind: "namespaces" } },
    });
  });

  it.each([
    ["POST", "/api/v1/configmaps", 405],
    ["POST", "/api/v1/namespaces/default", 405],
    ["PUT", "/api/v1/namespaces", 405],
    ["POST", "/api/v1/namespaces/default/nosuchthings", 404],
    ["POST", "/api/v1/namespaces/default/namespaces", 404],
    ["POST", "/apis/apps/v1/namespaces/default/configmaps", 404],
    ["GET", "/apis/nosuchgroup.example.com/v1/things", 404],
    ["GET", "/api/v2/pods", 404],
  ])("answers %s %s with %i", async (method, path, status) => {
    const body = method === "GET" ? undefined : configMap("x");
    expect(await server.admin.json(method, path, body)).toMatchObject({ status });
  });

  it("refuses bodies and answers in forms that it does not know", async () => {
    const xml = { headers: { "content-type": "application/xml" } };
    expect(await server.admin.json("POST", configMaps, "<x/>", xml)).toMatchObject({
      status: 415,
      body: { reason: "UnsupportedMediaType", message: expect.stringContaining("accepted media types include:") },
    });
    const accept = { headers: { accept: "application/xml" } };
    expect(await server.admin.json("POST", configMaps, configMap("x"), accept)).toMatchObject({
      status: 406,
      body: {
        reason: "NotAcceptable",
        message: expect.stringMatching(/^406: Not Acceptable\n\nAvailable representations: application\/json, /),
      },
    });
    expect(await server.admin.json("GET", configMaps, undefined, accept)).toMatchObject({ status: 406 });
  });

  it("refuses a body of more than 3 MiB", async () => {
    const body = configMap("huge", { a: "x".repeat(3 * 1024 * 1024) });
    expect(await server.admin.json("POST", configMaps, body)).toMatchObject({
      status: 413,
      body: { reason: "RequestEntityTooLarge", message: expect.stringContaining("limit is 3145728") },
    });
  });

  it("sees its own writes at once", async () => {
    for (let index = 0; index < 20; index++) {
      const name = `own-${index}`;
      await server.admin.object("POST", configMaps, configMap(name));
      expect(await server.admin.json("GET", `${configMaps}/${name}`)).toMatchObject({ status: 200 });
    }
  });
});
