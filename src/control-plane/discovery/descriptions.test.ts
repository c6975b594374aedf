import { describe, expect, it } from "vitest";
import { SERVED_SCHEMA } from "../../api/gen/served-schema.ts";
import { DESCRIPTIONS, describeField, describeType } from "./descriptions.ts";

/** `kubectl explain` wraps a sentence at 80 columns: three lines are read at a glance. */
const MAX_CHARACTERS = 240;
const isList = (type: string) => type.endsWith("List");

describe("what kubectl explain says", () => {
  it.each(Object.keys(SERVED_SCHEMA))("of %s is a whole sentence, and so of each of its fields", (type) => {
    const fields = Object.keys(SERVED_SCHEMA[type] ?? {});
    const sentences: Array<[of: string, sentence: string | undefined]> = fields.map((field) => [
      `${type}.${field}`,
      describeField(type, field),
    ]);
    if (!isList(type)) sentences.push([type, describeType(type)]);
    const wrong = sentences.filter(
      ([, sentence = ""]) => !/^[^ ].*[.)]$/.test(sentence) || sentence.length > MAX_CHARACTERS,
    );
    expect(wrong).toEqual([]);
  });

  it("names no type and no field that the API does not have", () => {
    const unknown = Object.entries(DESCRIPTIONS).flatMap(([type, { fields }]) =>
      Object.keys(fields).flatMap((field) => (SERVED_SCHEMA[type]?.[field] === undefined ? [`${type}.${field}`] : [])),
    );
    const types = Object.keys(DESCRIPTIONS).filter((type) => SERVED_SCHEMA[type] === undefined);
    expect([...types, ...unknown]).toEqual([]);
  });
});
