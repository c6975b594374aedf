import { beforeAll, describe, expect, it } from "vitest";
import { CRON_TAB_VERSION, cronTabDefinition, defineCronTabs } from "./cron-tabs.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { newNamespace, pathsIn } from "./objects.ts";

const STRICT = { query: { fieldValidation: "Strict", fieldManager: "contract" } };
const GROUP = "validation.example.com";

describe.each(apiServersUnderTest())("field validation, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let paths: ReturnType<typeof pathsIn>;
  let tabs = "";

  beforeAll(async () => {
    paths = pathsIn(await newNamespace(server.admin));
    tabs = await defineCronTabs(server.admin, GROUP);
  });

  const applyTab = (name: string, text: string) => {
    const body = `\napiVersion: ${GROUP}/v1\nkind: CronTab\nmetadata:\n  name: ${name}\n${text}`;
    return server.admin.patch("apply", `${tabs}/${name}`, body, STRICT);
  };

  describe("of a typed object", () => {
    const metadata = { name: "web", labels: { app: "web" } };
    const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const spec = `"selector":{"matchLabels":{"app":"web"}},"template":${JSON.stringify(template)}`;

    it("tells unknown fields and duplicates in their order", async () => {
      const body = `{"metadata":${JSON.stringify(metadata)},"spec":{"unknownField":1,"replicas":1,"replicas":2,${spec}}}`;
      const answer = await server.admin.json("POST", paths.deployments, body, STRICT);
      expect(answer).toMatchObject({ status: 400, body: { reason: "BadRequest" } });
      expect(answer).toHaveProperty(
        "body.message",
        expect.stringContaining(
          'strict decoding error: unknown field "spec.unknownField", duplicate field "spec.replicas"',
        ),
      );
    });

    it("tells unknown metadata", async () => {
      const body = `{"metadata":{"name":"web","unknownMeta":"x"},"spec":{${spec}}}`;
      const answer = await server.admin.json("POST", paths.deployments, body, STRICT);
      expect(answer).toHaveProperty("body.message", expect.stringContaining('unknown field "metadata.unknownMeta"'));
    });

    it("names duplicates of YAML by their line", async () => {
      const headers = { "content-type": "application/yaml" };
      const body = "metadata:\n  name: twice\ndata:\n  a: '1'\n  a: '2'\n";
      const answer = await server.admin.json("POST", paths.configMaps, body, { ...STRICT, headers });
      expect(answer).toHaveProperty(
        "body.message",
        expect.stringMatching(/strict decoding error: .*line 5: key "a" already set in map/s),
      );
    });

    it("refuses an apply with fields that there are not, whatever was asked", async () => {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" }, bogus: 1 };
      for (const fieldValidation of ["Strict", "Warn", "Ignore"]) {
        const query = { fieldManager: "contract", fieldValidation };
        const answer = await server.admin.patch("apply", `${paths.configMaps}/applied`, body, { query });
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer).toHaveProperty("body.message", expect.stringContaining(".bogus: field not declared in schema"));
      }
    });
  });

  describe("of a custom object that is applied", () => {
    it("takes what the schema has, and what it leaves open", async () => {
      expect(await applyTab("fits", `spec:\n  schedule: "* * * * *"\n  extra:\n    anything: 1\n`)).toMatchObject({
        status: 201,
      });
    });

    it("refuses what the schema lacks", async () => {
      const answer = await applyTab("extra", `unknownField: x\nspec:\n  schedule: "* * * * *"\n`);
      expect(answer).toHaveProperty(
        "body.message",
        expect.stringContaining(".unknownField: field not declared in schema"),
      );
    });

    it("refuses unknown metadata", async () => {
      const answer = await applyTab("meta", `  unknownMeta: x\nspec:\n  schedule: "* * * * *"\n`);
      expect(answer).toHaveProperty(
        "body.message",
        expect.stringContaining(".metadata.unknownMeta: field not declared in schema"),
      );
    });

    it("refuses duplicates, also beneath what the schema leaves open, by their line", async () => {
      const answer = await applyTab("twice", `spec:\n  schedule: "* * * * *"\n  extra:\n    a: 1\n    a: 2\n`);
      expect(answer).toMatchObject({ status: 400 });
      expect(answer).toHaveProperty("body.message", expect.stringContaining('line 10: key "a" already set in map'));
    });
  });

  it("reaches the metadata of objects within objects", async () => {
    const group = "embedded.example.com";
    const inner = {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    };
    const properties = {
      spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { inner } },
    };
    const definition = cronTabDefinition(group);
    const { subresources: _none, additionalPrinterColumns: _plain, ...version } = CRON_TAB_VERSION;
    const versions = [{ ...version, schema: { openAPIV3Schema: { type: "object", properties } } }];
    const path = await defineCronTabs(server.admin, group, { ...definition, spec: { ...definition.spec, versions } });
    const object = {
      apiVersion: `${group}/v1`,
      kind: "CronTab",
      metadata: { name: "outer" },
      spec: { inner: { apiVersion: "v1", kind: "Sub", metadata: { name: "x", unknownSubMeta: "y" }, kept: 1 } },
    };
    const refused = await server.admin.json("POST", path, object, STRICT);
    expect(refused).toMatchObject({ status: 400 });
    expect(refused).toHaveProperty(
      "body.message",
      expect.stringContaining('unknown field "spec.inner.metadata.unknownSubMeta"'),
    );
    const warned = await server.admin.json("POST", path, object);
    expect(warned.headers["warning"]).toContain('unknown field \\"spec.inner.metadata.unknownSubMeta\\"');
    expect(warned).toHaveProperty("body.spec.inner", { ...object.spec.inner, metadata: { name: "x" } });
  });
});
