import { expect, it } from "vitest";
import { apiVersionOf } from "../../api/object.ts";
import { hasProtobufForm } from "../../api/protobuf/encode-protobuf.ts";
import { BUILT_IN_KINDS } from "./built-in-kinds.ts";

const rows = BUILT_IN_KINDS.map((row) => ({ apiVersion: apiVersionOf(row), ...row }));

it.each(rows)("objects of $kind, $apiVersion, and lists of them have a form in protobuf", (row) => {
  const { apiVersion, kind, listKind } = row;
  expect(hasProtobufForm({ apiVersion, kind })).toBe(true);
  expect(hasProtobufForm({ apiVersion, kind: listKind })).toBe(true);
});

it.each(rows.flatMap(({ subresources }) => subresources.filter(({ verbs }) => verbs.includes("create"))))(
  "what is sent to $name, a $kind, has one too",
  ({ group, version, kind }) => {
    const isStream = kind.endsWith("Options");
    expect(isStream || hasProtobufForm({ apiVersion: apiVersionOf({ group, version }), kind })).toBe(true);
  },
);
