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

  it("may select a field by a name that CEL reserves", async () => {
    const group = "reserved.example.com";
    const metadata = { type: "object", properties: { name: { type: "string" }, namespace: { type: "string" } } };
    const rule = "!has(self.namespace) && !has(self.__namespace__)";
    const rules = { "x-kubernetes-validations": [{ rule, message: "no namespace" }] };
    const path = await defineWith(group, {
      template: { type: "object", properties: { metadata: { ...metadata, ...rules } } },
    });
    const create = (template: object) => {
      return server.admin.json("POST", path, cronTab(group, "one", { template: { metadata: template } }));
    };
    expect(await create({ namespace: "a" })).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("spec.template.metadata: Invalid value: no namespace") },
    });
    expect(await create({ name: "a" })).toMatchObject({ status: 201 });
  });

  it("tell what is wrong in upstream's words", async () => {
    const group = "words.example.com";
    const text = { type: "string" };
    const path = await defineWith(group, {
      mode: { ...text, enum: ["a", "b"] },
      names: { type: "array", maxItems: 1, items: { ...text, minLength: 1, pattern: "^[a-z]+$" } },
      ruled: { ...text, "x-kubernetes-validations": [{ rule: "self == 'good'", message: "must be good" }] },
      address: {
        type: "object",
        properties: { type: text, value: text },
        oneOf: [
          { properties: { type: { enum: ["IP"] }, value: { anyOf: [{ format: "ipv4" }, { format: "ipv6" }] } } },
          { properties: { type: { not: { enum: ["IP"] } } } },
        ],
      },
      count: { type: "integer", format: "int32" },
      whole: { type: "integer" },
      below: { type: "object", required: ["gone"], properties: { gone: text, here: { type: "integer", maximum: 1 } } },
    });
    const problemOf = async (spec: object) => {
      const { body } = await server.admin.json("POST", path, cronTab(group, "one", spec));
      return Object(body).message.replace(/^.* is invalid: /, "");
    };
    const unchecked =
      "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    expect(await problemOf({ mode: "c", ruled: "bad" })).toBe(
      `[spec.mode: Unsupported value: "c": supported values: "a", "b", ${unchecked}]`,
    );
    expect(await problemOf({ names: ["a", "b"] })).toBe(
      `[spec.names: Too many: 2: must have at most 1 item, ${unchecked}]`,
    );
    expect(await problemOf({ names: [""] })).toBe(
      'spec.names[0]: Invalid value: "": spec.names[0] in body should be at least 1 chars long',
    );
    expect(await problemOf({ address: { type: "IP", value: "x" } })).toBe(
      `[<nil>: Invalid value: "": "spec.address" must validate one and only one schema (oneOf). Found none valid, <nil>: Invalid value: "": "spec.address.value" must validate at least one schema (anyOf), spec.address.value: Invalid value: "x": spec.address.value in body must be of type ipv4: "x", ${unchecked}]`,
    );
    const ofType = '<nil>: Invalid value: "": Checked value must be of type integer';
    expect(await problemOf({ count: 2 ** 31 })).toBe(`${ofType} with format int32 in spec.count`);
    expect(await problemOf({ count: 1.5 })).toBe(
      `[spec.count: Invalid value: "float64": spec.count in body must be of type int32: "float64", ${ofType} with format int32 in spec.count, ${unchecked}]`,
    );
    expect(await problemOf({ whole: 1.5 })).toBe(
      `[spec.whole: Invalid value: "number": spec.whole in body must be of type integer: "number", ${ofType} (default format) in spec.whole, ${unchecked}]`,
    );
    expect(await problemOf({ count: true })).toBe(
      `[spec.count: Invalid value: "": spec.count in body must be of type int32: "", ${unchecked}]`,
    );
    expect(await problemOf({ below: { here: 2 } })).toBe(
      `[spec.below.here: Invalid value: 2: spec.below.here in body should be less than or equal to 1, spec.below.gone: Required value, ${unchecked}]`,
    );
  });

  it("may compare addresses and quantities in rules, which costs one step each", async () => {
    const text = { type: "string", maxLength: 48 };
    const rules = [{ rule: "cidr(self) == cidr(self).masked()" }, { rule: "!(quantity('1') == quantity('2'))" }];
    const group = "costs-of-types.example.com";
    expect(await defineWith(group, { cidr: { ...text, "x-kubernetes-validations": rules } })).toContain(group);
  });

  it("of another version lose what the storage version lacks, and get its defaults alone", async () => {
    const group = "shared.example.com";
    const definition = cronTabDefinition(group);
    const text = { type: "string" };
    const version = (name: string, fields: object, more: object) => {
      const properties = { spec: { type: "object", properties: { schedule: text, common: text, ...fields } } };
      return {
        name,
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { type: "object", properties } },
        ...more,
      };
    };
    const given = { default: "given" };
    const versions = [
      version("v1beta1", { both: text, own: { ...text, ...given }, old: text }, { deprecated: true }),
      version("v1", { both: { ...text, ...given }, own: text, fresh: { ...text, ...given } }, { storage: true }),
    ];
    const path = await defineCronTabs(server.admin, group, { ...definition, spec: { ...definition.spec, versions } });
    const beta = path.replace("/v1/", "/v1beta1/");
    const sent = { ...cronTab(group, "one", { old: "gone", common: "kept" }), apiVersion: `${group}/v1beta1` };
    const finalizers = ["a.example.com"];
    const made = { ...sent, metadata: { ...sent.metadata, finalizers } };
    const { headers, body } = await server.admin.json("POST", beta, made);
    const spec = { schedule: "* * * * */5", common: "kept", both: "given", own: "given" };
    expect(body).toHaveProperty("spec", spec);
    expect(headers["warning"]).toContain(`${group}/v1beta1 CronTab is deprecated; use ${group}/v1 CronTab`);
    expect(headers["warning"]).toContain('metadata.finalizers: \\"a.example.com\\": prefer a domain-qualified');
    const read = await server.admin.json("GET", `${beta}/one`);
    expect(read.body).toHaveProperty("spec", spec);
    expect(read.headers["warning"]).toContain("is deprecated");
    expect(await server.admin.object("GET", `${path}/one`)).toHaveProperty("spec", { ...spec, fresh: "given" });
    await server.admin.object("POST", path, cronTab(group, "two"));
    expect(await server.admin.object("GET", `${beta}/two`)).toHaveProperty("spec", {
      schedule: "* * * * */5",
      both: "given",
    });
  });
});
