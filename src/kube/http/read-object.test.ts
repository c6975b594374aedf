import { describe, expect, it } from "vitest";
import { PODS } from "../../api/kube-resource.ts";
import { readNamedObject } from "./read-object.ts";

const bodyOf = (metadata: object) => Buffer.from(JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata }));
const ASKED = { namespace: "default", name: "web" };

describe("the answer to a request that names its object", () => {
  it("is the object", () => {
    expect(readNamedObject(PODS, ASKED, bodyOf({ ...ASKED, uid: "1" })).metadata?.uid).toBe("1");
  });

  it.each([
    ["another object", { ...ASKED, name: "db" }, "is about default/db, not default/web"],
    ["one of another namespace", { ...ASKED, namespace: "kube-system" }, "is about kube-system/web, not default/web"],
    ["one without a name", { namespace: "default" }, "is about default, not default/web"],
  ])("is not believed where it is %s", (_what, metadata, message) => {
    expect(() => readNamedObject(PODS, ASKED, bodyOf(metadata))).toThrow(message);
  });

  it("is not believed where it is no object", () => {
    expect(() => readNamedObject(PODS, ASKED, Buffer.from("[]"))).toThrow("is no Pod");
  });
});
