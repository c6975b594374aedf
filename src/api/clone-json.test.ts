import fc from "fast-check";
import { expect, it } from "vitest";
import { cloneJson } from "./clone-json.ts";

it("copies everything, and shares nothing with the original", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const copy = cloneJson(value);
      expect(JSON.stringify(copy)).toBe(text);
      empty(copy);
      expect(JSON.stringify(value)).toBe(text);
    }),
  );
});

it("keeps members that are undefined, and a member by the name of the prototype", () => {
  expect(Object.keys(cloneJson({ a: undefined }))).toEqual(["a"]);
  const copy = cloneJson(JSON.parse('{"labels":{"__proto__":{"a":"b"}}}'));
  expect(JSON.stringify(copy)).toBe('{"labels":{"__proto__":{"a":"b"}}}');
  expect(Object.getPrototypeOf(copy.labels)).toBe(Object.prototype);
});

/** Takes everything out of it, at every depth. */
function empty(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const member of Object.values(value)) empty(member);
  if (Array.isArray(value)) value.length = 0;
  else for (const name of Object.keys(value)) Reflect.deleteProperty(value, name);
}
