import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { storedTextOf } from "./stored-text.ts";

function textOf(object: object) {
  const json = Buffer.from(JSON.stringify(object));
  const { metadata, ...text } = storedTextOf({ json });
  return { ...text, metadata: json.subarray(metadata.start, metadata.end).toString() };
}

describe("the text of a stored object", () => {
  it("gives the metadata as it is stored, and the rest without managed fields", () => {
    const metadata = { name: "one", managedFields: [{ manager: 'a "b" \\', fieldsV1: { "f:x": {} } }], uid: "1" };
    const text = textOf({ spec: { metadata: 1, list: ["}", "\\"] }, metadata, kind: "Pod", status: { ready: true } });
    expect(text.metadata).toBe(JSON.stringify(metadata));
    expect(text.parseRest()).toEqual({
      spec: { metadata: 1, list: ["}", "\\"] },
      metadata: { name: "one", managedFields: null, uid: "1" },
      kind: "Pod",
      status: { ready: true },
    });
  });

  it("does so wherever they are, whatever is around them", () => {
    const members = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue());
    const nested = fc.record({ metadata: members, managedFields: fc.jsonValue() });
    const whatever = fc.oneof(members, nested);
    fc.assert(
      fc.property(
        whatever,
        whatever,
        fc.option(fc.jsonValue(), { nil: undefined }),
        whatever,
        (before, own, managed, after) => {
          const { managedFields: _, ...ownWithout } = { managedFields: undefined, ...own };
          const { metadata: _before, ...first } = { metadata: undefined, ...before };
          const { metadata: _after, ...last } = { metadata: undefined, ...after };
          const withManaged = managed === undefined ? {} : { managedFields: managed };
          for (const metadata of [
            { ...ownWithout, ...withManaged },
            { ...withManaged, ...ownWithout },
          ]) {
            const object = { ...first, metadata, ...last };
            const text = textOf(object);
            expect(text.metadata).toBe(JSON.stringify(object.metadata));
            expect(text.parse()).toEqual(JSON.parse(JSON.stringify(object)));
            const cut = managed === undefined ? {} : { managedFields: null };
            expect(text.parseRest()).toEqual(
              JSON.parse(JSON.stringify({ ...object, metadata: { ...metadata, ...cut } })),
            );
          }
        },
      ),
    );
  });
});
