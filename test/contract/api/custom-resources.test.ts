import { beforeAll, describe, expect, it, vi } from "vitest";
import {
  CRON_TAB_VERSION,
  cronTab,
  cronTabDefinition,
  DEFINITIONS,
  defineCronTabs,
  untilAnswered,
} from "./cron-tabs.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, changedMetadata, namesOf } from "./objects.ts";
import { summarize } from "./watch-stream.ts";

describe.each(apiServersUnderTest())("custom resources, on $name", (candidate) => {
  const server = useApiServer(candidate);
  const group = "stable.example.com";
  let path: string;

  beforeAll(async () => {
    path = await defineCronTabs(server.admin, group);
  });

  const create = (name: string, spec?: object) => server.admin.object("POST", path, cronTab(group, name, spec));

  it("are established once their names are accepted", async () => {
    expect(await server.admin.object("GET", `${DEFINITIONS}/crontabs.${group}`)).toMatchObject({
      status: {
        acceptedNames: { plural: "crontabs", kind: "CronTab", listKind: "CronTabList", shortNames: ["ct"] },
        storedVersions: ["v1"],
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: "NamesAccepted", status: "True" }),
          expect.objectContaining({ type: "Established", status: "True" }),
        ]),
      },
    });
  });

  it("are created, defaulted and pruned by their schema", async () => {
    const spec = { bogus: 1, extra: { kept: { deep: true } }, hosts: [{ name: "a", bogus: 1 }] };
    const { status, headers, body } = await server.admin.json("POST", path, cronTab(group, "pruned", spec));
    expect(status).toBe(201);
    expect(body).toMatchObject({ metadata: { name: "pruned", generation: 1 } });
    expect(body).toHaveProperty("spec", {
      schedule: "* * * * */5",
      replicas: 1,
      extra: { kept: { deep: true } },
      hosts: [{ name: "a" }],
    });
    expect(headers["warning"]).toContain('unknown field \\"spec.bogus\\"');
  });

  it.each([
    ["a missing field", { schedule: undefined }, "FieldValueRequired", "spec.schedule"],
    ["a wrong type", { replicas: "two" }, "FieldValueTypeInvalid", "spec.replicas"],
    ["a pattern", { schedule: "daily" }, "FieldValueInvalid", "spec.schedule"],
    ["a maximum", { replicas: 11 }, "FieldValueInvalid", "spec.replicas"],
    ["an enum", { mode: "medium" }, "FieldValueNotSupported", "spec.mode"],
    ["keys that differ", { hosts: [{ name: "a" }, { name: "a" }] }, "FieldValueDuplicate", "spec.hosts[1]"],
  ])("are validated: %s", async (_, spec, reason, field) => {
    expect(await server.admin.json("POST", path, cronTab(group, "invalid", spec))).toMatchObject({
      status: 422,
      body: {
        reason: "Invalid",
        message: expect.stringMatching(/^CronTab\.stable\.example\.com "invalid" is invalid: /),
        details: {
          group,
          kind: "CronTab",
          causes: expect.arrayContaining([expect.objectContaining({ reason, field })]),
        },
      },
    });
  });

  it("refuse unknown fields where that is asked", async () => {
    const options = { query: { fieldValidation: "Strict" } };
    expect(await server.admin.json("POST", path, cronTab(group, "strict", { bogus: 1 }), options)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('unknown field "spec.bogus"') },
    });
  });

  it("need to say what they are", async () => {
    const { metadata, spec } = cronTab(group, "nameless-kind");
    expect(await server.admin.json("POST", path, { metadata, spec })).toMatchObject({ status: 400 });
  });

  it("are listed, selected, watched and deleted as all others", async () => {
    const { resourceVersion } = await server.admin.list(path);
    const watch = await server.admin.watch(path, { resourceVersion, labelSelector: "part=x" });
    const labels = { part: "x" };
    for (const name of ["one", "two"]) {
      await server.admin.object("POST", path, { ...cronTab(group, name), metadata: { name, labels } });
    }
    const { body } = await server.admin.json("GET", path, undefined, { query: { labelSelector: "part=x" } });
    expect(body).toMatchObject({
      apiVersion: `${group}/v1`,
      kind: "CronTabList",
      items: [{ apiVersion: `${group}/v1`, kind: "CronTab", metadata: { name: "one" } }, { metadata: { name: "two" } }],
    });
    await server.admin.json("DELETE", `${path}/one`);
    expect(summarize(await watch.take(3))).toEqual(["ADDED one", "ADDED two", "DELETED one"]);
    watch.close();
    const page = await server.admin.list(path, { limit: 1 });
    expect(page.items).toHaveLength(1);
    expect(page.next).not.toBe("");
    await server.admin.json("DELETE", path, undefined, { query: { labelSelector: "part=x" } });
    expect(namesOf((await server.admin.list(path, { labelSelector: "part=x" })).items)).toEqual([]);
  });

  it("need a resourceVersion to be updated", async () => {
    const before = await create("updated");
    const blind = changedMetadata(before, { resourceVersion: undefined });
    expect(await server.admin.json("PUT", `${path}/updated`, blind)).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: "metadata.resourceVersion" }] } },
    });
    const next = changed(before, { spec: { schedule: "1 2 3 4 5", replicas: 2 } });
    expect(await server.admin.json("PUT", `${path}/updated`, next)).toMatchObject({
      status: 200,
      body: { metadata: { generation: 2 }, spec: { schedule: "1 2 3 4 5" } },
    });
    expect(await server.admin.json("PUT", `${path}/updated`, next)).toMatchObject({ status: 409 });
  });

  it("are held up by a stricter schema only where they change", async () => {
    const own = "strict.example.com";
    const lenient = cronTabDefinition(own);
    const objects = await defineCronTabs(server.admin, own, lenient);
    const mode = "fast";
    await server.admin.object("POST", objects, cronTab(own, "old", { mode }));
    const url = `${DEFINITIONS}/crontabs.${own}`;
    const schema = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/mode/enum";
    await server.admin.patch("json", url, [{ op: "replace", path: schema, value: ["slow"] }]);
    // The new schema counts a moment later.
    const refused = { status: 422, body: { details: { causes: [{ field: "spec.mode" }] } } };
    const createNew = async () =>
      await server.admin.json("POST", objects, cronTab(own, "new", { mode }), { query: { dryRun: "All" } });
    await vi.waitFor(async () => expect(await createNew()).toMatchObject(refused), { timeout: 20_000 });
    const change = (fields: object) => server.admin.patch("merge", `${objects}/old`, fields);
    expect(await change({ metadata: { labels: { touched: "yes" } }, spec: { replicas: 2 } })).toMatchObject({
      status: 200,
    });
    expect(await change({ spec: { mode: "faster" } })).toMatchObject(refused);
  });

  it("have a status that is validated", async () => {
    await create("reported");
    const report = (status: object) => server.admin.patch("merge", `${path}/reported/status`, { status });
    expect(await report({ phase: "Active", replicas: 1 })).toMatchObject({ status: 200 });
    expect(await report({ phase: 5 })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ reason: "FieldValueTypeInvalid", field: "status.phase" }] } },
    });
  });

  it("are patched by merge, JSON patch and apply, and not strategically", async () => {
    await create("patched");
    const url = `${path}/patched`;
    expect(await server.admin.patch("merge", url, { spec: { mode: "fast" } })).toMatchObject({
      status: 200,
      body: { spec: { mode: "fast", replicas: 1 } },
    });
    expect(await server.admin.patch("json", url, [{ op: "remove", path: "/spec/mode" }])).toMatchObject({
      status: 200,
    });
    expect(await server.admin.patch("strategic", url, {})).toMatchObject({
      status: 415,
      body: { reason: "UnsupportedMediaType" },
    });
  });

  it("have lists whose items several managers own", async () => {
    const apply = (fieldManager: string, hosts: object[]) => {
      return server.admin.patch("apply", `${path}/applied`, cronTab(group, "applied", { hosts }), {
        query: { fieldManager },
      });
    };
    expect(await apply("a", [{ name: "x", port: 1 }])).toMatchObject({ status: 201 });
    expect(await apply("b", [{ name: "y", port: 2 }])).toMatchObject({
      status: 200,
      body: { spec: { hosts: [{ name: "x" }, { name: "y" }] } },
    });
    expect(await apply("b", [{ name: "x", port: 3 }])).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('conflict with "a": .spec.hosts[name="x"].port') },
    });
  });

  it("have a status apart, which nothing but it can be changed by", async () => {
    const before = await server.admin.object("POST", path, { ...cronTab(group, "told"), status: { phase: "forged" } });
    expect(before).not.toHaveProperty("status");
    const told = changedMetadata(await server.admin.object("GET", `${path}/told`), { labels: { ignored: "yes" } });
    const answer = await server.admin.json("PUT", `${path}/told/status`, {
      ...told,
      spec: { schedule: "1 1 1 1 1" },
      status: { phase: "Running", bogus: 1 },
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { metadata: { generation: 1 }, spec: { schedule: "* * * * */5" }, status: { phase: "Running" } },
    });
    expect(answer.body).not.toHaveProperty("metadata.labels");
    expect(answer.body).not.toHaveProperty("status.bogus");
    const ignored = await server.admin.patch("merge", `${path}/told`, { status: { phase: "forged" } });
    expect(ignored).toMatchObject({ status: 200, body: { status: { phase: "Running" } } });
  });

  it("have a scale where the definition says how", async () => {
    const before = await create("scaled", { replicas: 3 });
    await server.admin.object(
      "PUT",
      `${path}/scaled/status`,
      changed(before, { status: { replicas: 2, selector: "a=b" } }),
    );
    const scale = await server.admin.object("GET", `${path}/scaled/scale`);
    expect(scale).toMatchObject({ kind: "Scale", spec: { replicas: 3 }, status: { replicas: 2, selector: "a=b" } });
    expect(
      await server.admin.json("PUT", `${path}/scaled/scale`, changed(scale, { spec: { replicas: 5 } })),
    ).toMatchObject({
      status: 200,
    });
    expect(await server.admin.object("GET", `${path}/scaled`)).toMatchObject({ spec: { replicas: 5 } });
  });

  it("are the same objects in all of their versions", async () => {
    const created = await create("versioned");
    const older = path.replace("/v1/", "/v1beta1/");
    expect(await server.admin.object("GET", `${older}/versioned`)).toMatchObject({
      apiVersion: `${group}/v1beta1`,
      kind: "CronTab",
      metadata: { uid: created.metadata.uid, resourceVersion: created.metadata.resourceVersion },
      spec: created["spec"],
    });
    const watch = await server.admin.watch(older, { resourceVersion: created.metadata.resourceVersion ?? "" });
    expect(await server.admin.patch("merge", `${path}/versioned`, { spec: { replicas: 4 } })).toMatchObject({
      status: 200,
    });
    expect(await watch.next()).toMatchObject({
      type: "MODIFIED",
      object: { apiVersion: `${group}/v1beta1`, metadata: { name: "versioned" }, spec: { replicas: 4 } },
    });
    watch.close();
    const { items } = await server.admin.list(older, { fieldSelector: "metadata.name=versioned" });
    expect(items).toMatchObject([{ apiVersion: `${group}/v1beta1` }]);
  });

  it("are printed with the columns of their definition", async () => {
    await create("printed");
    const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
    expect(await server.admin.json("GET", `${path}/printed`, undefined, { headers })).toMatchObject({
      body: {
        kind: "Table",
        columnDefinitions: [
          { name: "Name", priority: 0 },
          { name: "Schedule", type: "string", priority: 0 },
          { name: "Replicas", type: "integer", priority: 1 },
        ],
        rows: [{ cells: ["printed", "* * * * */5", 1] }],
      },
    });
  });

  it("appear in discovery, and go from there with their definition and their objects", async () => {
    const own = "gone.example.com";
    const gone = await defineCronTabs(server.admin, own);
    await server.admin.object("POST", gone, cronTab(own, "content"));
    const { body } = await server.admin.json("GET", `/apis/${own}/v1`);
    expect(body).toMatchObject({
      kind: "APIResourceList",
      groupVersion: `${own}/v1`,
      resources: expect.arrayContaining([
        expect.objectContaining({ name: "crontabs", kind: "CronTab", namespaced: true, shortNames: ["ct"] }),
        expect.objectContaining({ name: "crontabs/status" }),
        expect.objectContaining({ name: "crontabs/scale", kind: "Scale" }),
      ]),
    });
    const watch = await server.admin.watch(DEFINITIONS, { fieldSelector: `metadata.name=crontabs.${own}` });
    await server.admin.json("DELETE", `${DEFINITIONS}/crontabs.${own}`);
    await watch.until(({ type }) => type === "DELETED");
    watch.close();
    await untilAnswered(server.admin, gone, 404);
    const again = await defineCronTabs(server.admin, own);
    expect((await server.admin.list(again.replace(/namespaces\/[^/]+\//, ""))).items).toEqual([]);
  });

  it("have the default status of their schema, in a group of the project that tells its approval", async () => {
    const own = "defaults.k8s.io";
    const approval = "https://example.com/review";
    const definition = cronTabDefinition(own);
    const conditions = [{ type: "Ready", status: "Unknown" }];
    const status = { type: "object", default: { conditions }, "x-kubernetes-preserve-unknown-fields": true };
    const openAPIV3Schema = { type: "object", properties: { spec: { type: "object" }, status } };
    const at = await defineCronTabs(server.admin, definition.spec.group, {
      ...definition,
      metadata: { ...definition.metadata, annotations: { "api-approved.kubernetes.io": approval } },
      spec: { ...definition.spec, versions: [{ ...CRON_TAB_VERSION, schema: { openAPIV3Schema } }] },
    });
    const { spec: _spec, ...sent } = cronTab(definition.spec.group, "told");
    const made = await server.admin.object("POST", at, { ...sent, status: { forged: true } });
    expect(made["status"]).toEqual({ conditions });
    await expect
      .poll(() => server.admin.object("GET", `${DEFINITIONS}/${definition.metadata.name}`))
      .toMatchObject({
        status: {
          conditions: expect.arrayContaining([
            expect.objectContaining({
              type: "KubernetesAPIApprovalPolicyConformant",
              status: "True",
              reason: "ApprovedAnnotation",
              message: `approved in ${approval}`,
            }),
          ]),
        },
      });
  });

  it("are not defined with rules that may cost too much", async () => {
    const own = "costs.example.com";
    const defineWith = async (list: object, rule: string) => {
      const rules = [{ rule }];
      const properties = { list: { type: "array", "x-kubernetes-validations": rules, ...list } };
      const openAPIV3Schema = { type: "object", properties };
      const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema } };
      const definition = cronTabDefinition(own);
      const body = { ...definition, spec: { ...definition.spec, versions: [version] } };
      const answer = await server.admin.json("POST", DEFINITIONS, body, { query: { dryRun: "All" } });
      return { status: answer.status, message: String(Object(answer.body).message ?? "") };
    };
    const quadratic = "self.all(x, self.all(y, x == y))";
    const open = await defineWith({ items: { type: "string" } }, quadratic);
    expect(open.status).toBe(422);
    expect(open.message).toContain("estimated rule cost exceeds budget by factor of more than 100x");
    expect(open.message).toContain("cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x");
    const bounded = { items: { type: "string", maxLength: 20 }, maxItems: 100 };
    expect(await defineWith(bounded, quadratic)).toMatchObject({ status: 201 });
    // 1 + 3,400,000 × 3 + 1 for a limit of 10,000,000.
    const long = await defineWith({ items: { type: "integer" }, maxItems: 3_400_000 }, "self.all(x, true)");
    expect(long).toMatchObject({ status: 422, message: expect.stringContaining("by factor of 1.020000x") });
  });

  it.each([
    ["a name that is not plural and group", { metadata: { name: "other" } }],
    [
      "no storage version",
      { spec: { ...cronTabDefinition("bad.example.com").spec, versions: [{ ...CRON_TAB_VERSION, storage: false }] } },
    ],
    [
      "no schema",
      {
        spec: { ...cronTabDefinition("bad.example.com").spec, versions: [{ name: "v1", served: true, storage: true }] },
      },
    ],
  ])("are not defined with %s", async (_, fields) => {
    expect(
      await server.admin.json("POST", DEFINITIONS, { ...cronTabDefinition("bad.example.com"), ...fields }),
    ).toMatchObject({
      status: 422,
      body: { reason: "Invalid", details: { kind: "CustomResourceDefinition" } },
    });
  });
});
