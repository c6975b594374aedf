import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { formatYaml, formatYamlItem } from "./format-yaml.ts";

describe("a value as YAML", () => {
  it("stands in blocks, with quotes where they are needed", () => {
    const object = {
      kind: "ConfigMapList",
      metadata: { resourceVersion: "7", labels: {}, gone: undefined },
      items: [
        { metadata: { name: "a" }, data: { no: "yes", text: 'ä "quoted"\n', path: "/a/b-c.d" } },
        [1, [true, null], []],
      ],
    };
    expect(formatYaml(object)).toBe(`kind: ConfigMapList
metadata:
  resourceVersion: "7"
  labels: {}
items:
  - metadata:
      name: a
    data:
      "no": "yes"
      text: "ä \\"quoted\\"\\n"
      path: /a/b-c.d
  - - 1
    - - true
      - null
    - []
`);
  });

  it.each(["1.1", "1.2"] as const)("is read as what it was, by YAML %s", (version) => {
    const odd = fc.constantFrom(
      "~",
      "e0",
      "null",
      "Yes",
      "0x1f",
      "1e3",
      "1:30",
      "- a",
      "# a",
      "a: b",
      "|",
      "\u0085",
      "\ufeff",
      "<<",
    );
    const text = fc.oneof(odd, fc.string({ unit: "binary" }), fc.string());
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        text,
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        tie("list"),
        tie("object"),
      ),
      list: fc.array(tie("any"), { maxLength: 4 }),
      object: fc.dictionary(text, tie("any"), { maxKeys: 4 }),
    }));
    const withoutSigns = (given: unknown) => JSON.parse(JSON.stringify(given)) as unknown;
    fc.assert(
      fc.property(value.any, (given) => {
        const wanted = withoutSigns(given);
        expect(withoutSigns(parse(formatYaml(wanted), { version, merge: false }))).toEqual(wanted);
        expect(withoutSigns(parse(`items:\n${formatYamlItem(wanted)}`, { version, merge: false }))).toEqual({
          items: [wanted],
        });
      }),
      { numRuns: 60 },
    );
  });

  it("has names of any length", () => {
    const object = { ["x".repeat(5_000)]: { ["y".repeat(5_000)]: [1] } };
    expect(parse(formatYaml({ list: [object] }))).toEqual({ list: [object] });
  });
});
