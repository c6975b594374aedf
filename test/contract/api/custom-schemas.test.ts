import { describe, expect, it } from "vitest";
import { CRON_TAB_VERSION, cronTab, cronTabDefinition, defineCronTabs } from "./cron-tabs.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";

/** What definitions of large projects do, and schemas in tests seldom have. */
describe.each(apiServersUnderTest())("schemas of custom resources, on $name", (candidate) => {
  const server = useApiServer(candidate);

  /** Defines the kind with these fields in its spec. */
  async function defineWith(group: string, properties: object): Promise<string> {
    const definition = cronTabDefinition(group);
    const spec = { type: "object", properties: { schedule: { type: "string" }, ...properties } };
    const openAPIV3Schema = { type: "object", properties: { spec } };
    const versions = [{ ...CRON_TAB_VERSION, schema: { openAPIV3Schema } }];
    return await defineCronTabs(server.admin, group, { ...definition, spec: { ...definition.spec, versions } });
  }

  it("keep unknown fields in the items of a list that keeps them", async () => {
    const group = "lists.example.com";
    const items = { type: "object", properties: { known: { type: "object", properties: {} } } };
    const open = { "x-kubernetes-preserve-unknown-fields": true };
    const path = await defineWith(group, {
      lists: { type: "array", ...open, items: { type: "array", items } },
      texts: { type: "array", ...open, items: { type: "string" } },
    });
    const lists = [[{ "config.string": "input {}", known: { bogus: 1 } }]];
    const sent = cronTab(group, "kept", { lists, texts: ["a"] });
    const { headers, body } = await server.admin.json("POST", path, sent);
    expect(body).toMatchObject({ spec: { lists: [[{ "config.string": "input {}", known: {} }]], texts: ["a"] } });
    expect(headers["warning"]).toBe('299 - "unknown field \\"spec.lists[0][0].known.bogus\\""');
    await server.admin.json("PATCH", `${path}/kept`, sent, {
      headers: { "content-type": "application/apply-patch+yaml" },
      query: { fieldManager: "applier", force: true },
    });
    const { spec } = await server.admin.object("GET", `${path}/kept`);
    expect(spec).toEqual({
      schedule: "* * * * */5",
      lists: [[{ "config.string": "input {}", known: {} }]],
      texts: ["a"],
    });
  });
});
