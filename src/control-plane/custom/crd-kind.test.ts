import { describe, expect, test } from "vitest";
import { formatFieldError } from "../../api/field-error.ts";
import { untyped } from "../../api/object.ts";
import { CRON_TAB_SCHEMA, createCrd, cronTabManifest, establishCrd } from "./__fixtures__/cron-tab.ts";
import { decodeCrd } from "./crd-decode.ts";
import { CRD_KIND } from "./crd-kind.ts";

const { strategy } = CRD_KIND;
const problemsOf = (manifest: unknown) => strategy.validate?.(untyped(createCrd(manifest))).map(formatFieldError);
const withSchema = (openAPIV3Schema: unknown, version = {}) =>
  cronTabManifest({ schema: { openAPIV3Schema }, ...version });
/** A schema in which `spec` has one field, `x`. */
const withField = (x: unknown) => withSchema({ type: "object", properties: { x } });
/** What all versions share is told of as one. */
const at = "spec.validation.openAPIV3Schema";
const sentAt = "spec.versions[0].schema.openAPIV3Schema";

describe("a CRD", () => {
  test("gets the names that follow from others, no conversion, and its storage version as stored", () => {
    const crd = createCrd({ ...cronTabManifest(), status: { storedVersions: ["v9"] } });
    expect(crd.spec).toMatchObject({
      conversion: { strategy: "None" },
      names: { singular: "crontab", listKind: "CronTabList" },
    });
    expect(crd.status).toEqual({ storedVersions: ["v1"] });
  });

  test("of upstream's documentation is fine", () => {
    expect(problemsOf(cronTabManifest({ subresources: { status: {} } }))).toEqual([]);
  });

  test.each<[string, unknown, string[]]>([
    [
      "a name that is not plural and group",
      { ...cronTabManifest(), metadata: { name: "x" } },
      ['metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group'],
    ],
    [
      "a group without a dot",
      { ...cronTabManifest({}, { group: "example" }), metadata: { name: "crontabs.example" } },
      ['spec.group: Invalid value: "example": should be a domain with at least one dot'],
    ],
    [
      "a scope that there is not",
      cronTabManifest({}, { scope: "Galactic" }),
      ['spec.scope: Unsupported value: "Galactic": supported values: "Cluster", "Namespaced"'],
    ],
    [
      "a list kind that is the kind",
      cronTabManifest({}, { names: { plural: "crontabs", kind: "CronTab", listKind: "CronTab" } }),
      ['spec.names.listKind: Invalid value: "CronTab": kind and listKind may not be the same'],
    ],
    [
      "no storage version",
      cronTabManifest({ storage: false }),
      [
        'spec.versions: Invalid value: ["v1"]: must have exactly one version marked as storage version',
        "status.storedVersions: Invalid value: []: must have at least one stored version",
      ],
    ],
    ["no schema", cronTabManifest({ schema: {} }), [`${sentAt}: Required value`]],
    [
      "a webhook for conversion that is nowhere",
      cronTabManifest({}, { conversion: { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"] } } }),
      ["spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook"],
    ],
    [
      "unknown fields everywhere",
      cronTabManifest({}, { preserveUnknownFields: true }),
      [
        "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
      ],
    ],
    [
      "a group of the project without approval",
      { ...cronTabManifest({}, { group: "x.k8s.io" }), metadata: { name: "crontabs.x.k8s.io" } },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    [
      "a column without a path that starts with a dot",
      cronTabManifest({ additionalPrinterColumns: [{ name: "A", type: "text", jsonPath: "spec" }] }),
      [
        'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .',
      ],
    ],
    [
      "a scale of something else than the spec",
      cronTabManifest({
        subresources: { scale: { specReplicasPath: ".a.b", statusReplicasPath: ".status.replicas" } },
      }),
      ['spec.subresources.scale.specReplicasPath: Invalid value: ".a.b": should be a json path under .spec'],
    ],
    [
      "a selectable object",
      cronTabManifest({ selectableFields: [{ jsonPath: ".spec.template" }, { jsonPath: ".spec.nothing" }] }),
      [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.template": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        'spec.selectableFields[1].jsonPath: Invalid value: ".spec.nothing": is an invalid path: does not refer to a valid field',
      ],
    ],
  ])("is refused with %s", (_, manifest, expected) => {
    expect(problemsOf(manifest)).toEqual(expected);
  });
});

describe("a schema", () => {
  test.each<[string, unknown, string[]]>([
    ["a root without a type", withSchema({}), [`${at}.type: Required value: must not be empty at the root`]],
    [
      "a root that is a list",
      withSchema({ type: "array", items: { type: "string" } }),
      [`${at}.type: Invalid value: "array": must be object at the root`],
    ],
    [
      "a field without a type",
      withField({ description: "x" }),
      [`${at}.properties[x].type: Required value: must not be empty for specified object fields`],
    ],
    [
      "an unknown type",
      withField({ type: "text" }),
      [
        `${at}.properties[x].type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
      ],
    ],
    [
      "a list without items",
      withField({ type: "array" }),
      [`${at}.properties[x].items: Required value: must be specified`],
    ],
    [
      "a reference",
      withField({ type: "object", $ref: "#/definitions/x" }),
      [`${at}.properties[x].$ref: Forbidden: $ref is not supported`],
    ],
    [
      "unique items",
      withField({ type: "array", items: { type: "string" }, uniqueItems: true }),
      [
        `${at}.properties[x].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
      ],
    ],
    [
      "fields beside a map's values",
      withField({ type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } }),
      [`${at}.properties[x].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
    ],
    [
      "a pattern that Go does not have",
      withField({ type: "string", pattern: "^(?=a)" }),
      [
        `${at}.properties[x].pattern: Invalid value: "^(?=a)": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
      ],
    ],
    [
      "a type in a junctor",
      withField({ type: "string", anyOf: [{ type: "string" }, { pattern: "a" }] }),
      [`${at}.properties[x].anyOf[0].type: Forbidden: must be empty to be structural`],
    ],
    [
      "a junctor about a field that there is not",
      withSchema({ type: "object", oneOf: [{ properties: { y: { minimum: 1 } } }] }),
      [`${at}.properties[y]: Required value: because it is defined in ${at}.oneOf[0].properties[y]`],
    ],
    [
      "metadata",
      withSchema({
        type: "object",
        properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
      }),
      [
        `${at}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
      ],
    ],
    [
      "a map list without keys",
      withField({ type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } }),
      [
        `${at}.properties[x].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
      ],
    ],
    [
      "a key that may be absent",
      withField({
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: { type: "object", properties: { k: { type: "string" } } },
      }),
      [
        `${at}.properties[x].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      ],
    ],
    [
      "a default of the wrong type",
      withField({ type: "string", default: 1 }),
      [`${at}.properties[x].default: Invalid value: "integer":  in body must be of type string: "integer"`],
    ],
    [
      "a default with unknown fields",
      withField({ type: "object", properties: { a: { type: "string" } }, default: { b: 1 } }),
      [`${at}.properties[x].default: Invalid value: {"b":1}: must not have unknown fields`],
    ],
    [
      "a default for the kind",
      withSchema({ type: "object", properties: { kind: { type: "string", default: "A" } } }),
      [`${at}.properties[kind].default: Forbidden: must not be set in top-level kind`],
    ],
  ])("is refused with %s", (_, manifest, expected) => {
    expect(problemsOf(manifest)).toEqual(expected);
  });

  test("may name types in the one junctor of integers or strings", () => {
    const anyOf = [{ type: "integer" }, { type: "string" }];
    expect(problemsOf(withField({ "x-kubernetes-int-or-string": true, anyOf }))).toEqual([]);
    expect(problemsOf(withField({ "x-kubernetes-int-or-string": true, allOf: [{ anyOf }, { pattern: "a" }] }))).toEqual(
      [],
    );
  });
});

describe("decoding", () => {
  test("finds unknown fields in schemas however deep", () => {
    const items = { type: "object", properties: { properties: { type: "string", tpye: 1 } } };
    const x = { type: "object", additionalProperties: { type: "array", items, odd: true } };
    expect(decodeCrd(withField(x)).warnings.map(({ message }) => message)).toEqual([
      `unknown field "${sentAt}.properties[x].additionalProperties.items.properties[properties].tpye"`,
      `unknown field "${sentAt}.properties[x].additionalProperties.odd"`,
    ]);
  });

  test("keeps null in an enum and booleans for a map's values", () => {
    const x = { type: "object", additionalProperties: true, enum: [null, "a"] };
    const { spec } = createCrd(withField(x));
    expect(spec.versions[0]?.schema?.openAPIV3Schema?.properties?.["x"]).toEqual(x);
  });

  test("refuses a list of schemas for items", () => {
    const { errors } = decodeCrd(withField({ type: "array", items: [{ type: "string" }] }));
    expect(errors.map(formatFieldError)).toEqual([`${sentAt}.properties[x].items: expected object, got list`]);
  });
});

describe("an update", () => {
  const current = establishCrd(cronTabManifest());
  const update = (manifest: unknown) => {
    return strategy.validateUpdate?.(untyped(createCrd(manifest)), untyped(current)).map(formatFieldError);
  };

  test("may not change what the objects' place depends on", () => {
    const spec = { group: "other.example.com", scope: "Cluster", names: { plural: "tabs", kind: "Tab" } };
    expect(update(cronTabManifest({}, spec))).toEqual([
      'spec.group: Invalid value: "other.example.com": field is immutable',
      'spec.names.plural: Invalid value: "tabs": field is immutable',
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Tab": field is immutable',
    ]);
  });

  test("remembers the storage versions that there were, and keeps them in the spec", () => {
    const next = { ...createCrd(cronTabManifest({ name: "v2" })), status: { storedVersions: ["v1"] } };
    const prepared = strategy.prepareUpdate?.(untyped(next), untyped(current));
    expect(prepared?.["status"]).toEqual({ storedVersions: ["v1", "v2"] });
    const problems = prepared && strategy.validate?.(prepared).map(formatFieldError);
    expect(problems?.[0]).toContain(
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was',
    );
  });
});

test("formats that are not known are told", () => {
  const x = { type: "string", format: "colour" };
  const crd = createCrd(withSchema({ type: "object", properties: { x } }));
  expect(strategy.warnings?.(untyped(crd))).toEqual(['unrecognized format "colour"']);
  expect(strategy.warnings?.(untyped(createCrd(withSchema(CRON_TAB_SCHEMA))))).toEqual([]);
  expect(strategy.warnings?.(untyped(crd), untyped(crd)), "told when it came").toEqual([]);
});

test.each([
  ["string", "int64"],
  ["integer", "double"],
  ["array", "cidr"],
])("a format of values of another type than %s is told", (type, format) => {
  const x = type === "array" ? { type, format, items: { type: "string" } } : { type, format };
  const crd = createCrd(withSchema({ type: "object", properties: { x } }));
  expect(strategy.warnings?.(untyped(crd))).toEqual([`unrecognized format "${format}"`]);
});

test("what is false is not kept of a definition", () => {
  const crd = createCrd(cronTabManifest({}, { preserveUnknownFields: false }));
  expect(crd.spec).not.toHaveProperty("preserveUnknownFields");
});

describe("rules that may cost too much", () => {
  const rule = { rule: "self.all(x, self.all(y, x == y))" };
  const dear = { type: "array", items: { type: "string" }, "x-kubernetes-validations": [rule] };
  const costsOf = (manifest: unknown) =>
    strategy.validateCreate?.(untyped(createCrd(manifest))).map((error) => formatFieldError(error));
  const changed = (next: unknown, before: unknown) =>
    strategy.validateUpdate?.(untyped(createCrd(next)), untyped(createCrd(before))).map(formatFieldError) ?? [];

  test("are refused in a new definition, and told at the place that versions share", () => {
    expect(costsOf(cronTabManifest())).toEqual([]);
    expect(costsOf(withField(dear))?.[0]).toMatch(
      /^spec\.validation\.openAPIV3Schema\.properties\[x\]\.x-kubernetes-validations\[0\]\.rule: Forbidden: estimated rule cost/,
    );
  });

  test("stay in a definition that has them already, and come into none", () => {
    expect(changed(withField(dear), withField(dear))).toEqual([]);
    expect(changed(withField(dear), cronTabManifest()).join()).toContain("estimated rule cost exceeds budget");
  });
});
