import { describe, expect, it } from "vitest";
import type { KubeObject } from "../object.ts";
import { settleTimes } from "./settle-times.ts";

const entry = {
  manager: "a",
  operation: "Apply",
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:data": {} },
};
function object(time: string, data: unknown, other = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", managedFields: [{ ...entry, time, ...other }] },
    data,
  };
}
const current = object("2024-01-01T00:00:00Z", { x: "1" });

describe("times of managed fields", () => {
  it("that are all that differs are as they were", () => {
    expect(settleTimes(object("2024-02-02T00:00:00Z", { x: "1" }), current)).toEqual(current);
  });

  it.each([
    ["the object differs", object("2024-02-02T00:00:00Z", { x: "2" })],
    ["the owned fields differ", object("2024-02-02T00:00:00Z", { x: "1" }, { fieldsV1: { "f:data": { "f:x": {} } } })],
    ["there are other entries", { ...current, metadata: { name: "a", managedFields: [entry, entry] } }],
    ["there are none", { ...current, metadata: { name: "a" } }],
  ])("stay new when %s", (_, next) => {
    expect(settleTimes(next, current)).toBe(next);
  });
});
