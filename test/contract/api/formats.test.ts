import { beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { configMap, newNamespace, pathsIn, pod } from "./objects.ts";

const accept = (as: string, version = "v1") => ({ accept: `application/json;as=${as};g=meta.k8s.io;v=${version}` });

describe.each(apiServersUnderTest())("forms of answers, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let configMaps: string;
  let pods: string;

  beforeAll(async () => {
    ({ configMaps, pods } = pathsIn(await newNamespace(server.admin)));
    await server.admin.object("POST", configMaps, configMap("one", { a: "1", b: "2" }, { part: "x" }));
    await server.admin.object("POST", configMaps, configMap("two", {}, { part: "x" }));
    await server.admin.object("POST", pods, pod("waiting"));
  });

  it("gives no table of what is answered and not stored", async () => {
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const review = { spec: { nonResourceAttributes: { path: "/", verb: "get" } } };
    expect(await server.admin.json("POST", path, review, { headers: accept("Table") })).toMatchObject({
      status: 406,
      body: {
        reason: "NotAcceptable",
        message: expect.stringContaining("only the following media types are accepted"),
      },
    });
    const either = { accept: `${accept("Table").accept},application/json` };
    expect(await server.admin.json("POST", path, review, { headers: either })).toMatchObject({
      status: 201,
      body: { kind: "SelfSubjectAccessReview" },
    });
  });

  it("gives a list as a table, with metadata beside each row", async () => {
    const options = { headers: accept("Table"), query: { labelSelector: "part=x" } };
    const { status, body } = await server.admin.json("GET", configMaps, undefined, options);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: "Table",
      apiVersion: "meta.k8s.io/v1",
      metadata: { resourceVersion: expect.stringMatching(/^\d+$/) },
      columnDefinitions: [
        { name: "Name", type: "string", format: "name", priority: 0 },
        { name: "Data", type: "string", format: "", priority: 0 },
        { name: "Age", type: "string", format: "", priority: 0 },
      ],
      rows: [
        {
          cells: ["one", 2, expect.stringMatching(/^\d+s$/)],
          object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "one" } },
        },
        { cells: ["two", 0, expect.any(String)], object: { metadata: { name: "two" } } },
      ],
    });
    expect(body).not.toHaveProperty("rows[0].object.data");
  });

  it("gives one object as a table of one row", async () => {
    const { body } = await server.admin.json("GET", `${pods}/waiting`, undefined, { headers: accept("Table") });
    expect(body).toMatchObject({
      kind: "Table",
      rows: [
        {
          cells: [
            "waiting",
            "0/1",
            "Pending",
            expect.anything(),
            expect.any(String),
            "<none>",
            "<none>",
            "<none>",
            "<none>",
          ],
        },
      ],
    });
    expect(body).toMatchObject({
      columnDefinitions: [
        "Name",
        "Ready",
        "Status",
        "Restarts",
        "Age",
        "IP",
        "Node",
        "Nominated Node",
        "Readiness Gates",
      ].map((name, index) => ({ name, priority: index < 5 ? 0 : 1 })),
    });
  });

  it.each([
    ["Object", { kind: "ConfigMap", data: { a: "1" } }],
    ["Metadata", { kind: "PartialObjectMetadata", metadata: { name: "one" } }],
  ])("puts beside each row what includeObject=%s says", async (includeObject, object) => {
    const options = { headers: accept("Table"), query: { includeObject } };
    const { body } = await server.admin.json("GET", `${configMaps}/one`, undefined, options);
    expect(body).toMatchObject({ rows: [{ object }] });
  });

  it("puts nothing beside the rows with includeObject=None", async () => {
    const options = { headers: accept("Table"), query: { includeObject: "None" } };
    const { body } = await server.admin.json("GET", `${configMaps}/one`, undefined, options);
    expect(body).not.toHaveProperty("rows[0].object.metadata");
  });

  it("refuses an includeObject that it does not know", async () => {
    const options = { headers: accept("Table"), query: { includeObject: "All" } };
    expect(await server.admin.json("GET", configMaps, undefined, options)).toMatchObject({ status: 400 });
  });

  it("pages tables", async () => {
    const options = { headers: accept("Table"), query: { limit: 1, labelSelector: "part=x" } };
    const { body } = await server.admin.json("GET", configMaps, undefined, options);
    expect(body).toMatchObject({
      metadata: { continue: expect.stringMatching(/.+/) },
      rows: [{ cells: ["one", 2, expect.any(String)] }],
    });
  });

  it.each(["v1", "v1beta1"])("gives metadata alone, as meta.k8s.io/%s", async (version) => {
    const apiVersion = `meta.k8s.io/${version}`;
    const one = await server.admin.json("GET", `${configMaps}/one`, undefined, {
      headers: accept("PartialObjectMetadata", version),
    });
    expect(one).toMatchObject({
      status: 200,
      body: { kind: "PartialObjectMetadata", apiVersion, metadata: { name: "one", labels: { part: "x" } } },
    });
    expect(one.body).not.toHaveProperty("data");
    const list = await server.admin.json("GET", configMaps, undefined, {
      headers: accept("PartialObjectMetadataList", version),
      query: { labelSelector: "part=x" },
    });
    expect(list).toMatchObject({
      status: 200,
      body: {
        kind: "PartialObjectMetadataList",
        apiVersion,
        metadata: { resourceVersion: expect.any(String) },
        items: [{ metadata: { name: "one" } }, { metadata: { name: "two" } }],
      },
    });
  });

  it("falls back to the next form that is accepted", async () => {
    const headers = {
      accept: "application/vnd.example+json, application/json;as=Table;g=meta.k8s.io;v=v1,application/json",
    };
    expect(await server.admin.json("GET", configMaps, undefined, { headers })).toMatchObject({
      body: { kind: "Table" },
    });
    const unknown = { accept: "application/json;as=Chart;g=meta.k8s.io;v=v1,application/json" };
    expect(await server.admin.json("GET", configMaps, undefined, { headers: unknown })).toMatchObject({
      body: { kind: "ConfigMapList" },
    });
  });

  it("reads and writes YAML", async () => {
    const headers = { "content-type": "application/yaml", accept: "application/yaml" };
    const sent = stringify(configMap("written", { text: "two\nlines\n", truth: "yes", number: "012" }), {
      version: "1.1",
    });
    const created = await server.admin.json("POST", configMaps, sent, { headers });
    expect(created).toMatchObject({ status: 201, headers: { "content-type": "application/yaml" } });
    const data = { text: "two\nlines\n", truth: "yes", number: "012" };
    expect(parse(String(created.body))).toMatchObject({ kind: "ConfigMap", metadata: { name: "written" }, data });
    expect(await server.admin.object("GET", `${configMaps}/written`)).toMatchObject({ data });
  });

  it("lists in YAML", async () => {
    const { body } = await server.admin.json("GET", configMaps, undefined, { headers: { accept: "application/yaml" } });
    expect(parse(String(body))).toMatchObject({ kind: "ConfigMapList", items: expect.any(Array) });
  });

  it("takes parameters of content types, and any form where none is asked for", async () => {
    const headers = { "content-type": "application/json; charset=utf-8", accept: "*/*" };
    const answer = await server.admin.json("POST", configMaps, configMap("parameters"), { headers });
    expect(answer).toMatchObject({ status: 201, headers: { "content-type": "application/json" } });
  });
});
