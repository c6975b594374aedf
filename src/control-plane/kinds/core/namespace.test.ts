import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { Namespace, ObjectMeta } from "../../../api/gen/types.ts";
import { type KubeObject, untyped } from "../../../api/object.ts";
import { namespaceKind } from "./namespace.ts";

const { strategy } = namespaceKind;
const namespace = (rest: Omit<Namespace, "metadata"> = {}, metadata: ObjectMeta = {}): KubeObject =>
  untyped({ apiVersion: "v1", kind: "Namespace", metadata: { name: "a", ...metadata }, ...rest });
const part = (name: string) => namespaceKind.subresources.find((subresource) => subresource.name === name);

describe("a namespace", () => {
  it("is active, carries its name as a label, and is guarded by the finalizer of its contents", () => {
    const sent = namespace(
      { status: { phase: "Terminating" } },
      { labels: { team: "x", "kubernetes.io/metadata.name": "other" } },
    );
    expect(strategy.prepareCreate?.(sent)).toMatchObject({
      metadata: { labels: { team: "x", "kubernetes.io/metadata.name": "a" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  it("keeps the finalizers that it came with", () => {
    const sent = namespace({ spec: { finalizers: ["a.b/c", "kubernetes"] } });
    expect(strategy.prepareCreate?.(sent)["spec"]).toEqual({ finalizers: ["a.b/c", "kubernetes"] });
  });

  it("defaults the same when it is defaulted twice", () => {
    const once = strategy.default?.(namespace()) ?? namespace();
    expect(strategy.default?.(once)).toEqual(once);
  });

  it("has finalizers that are known or qualified", () => {
    const errors = strategy.validate?.(namespace({ spec: { finalizers: ["mine", "a.b/c"] } })) ?? [];
    expect(errors.map(formatFieldError)).toEqual([
      'spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });

  it("cannot be let go of by an update", () => {
    const current = namespace({ spec: { finalizers: ["kubernetes"] } });
    expect(strategy.prepareUpdate?.(namespace({ spec: {} }), current)["spec"]).toEqual({ finalizers: ["kubernetes"] });
  });

  it("is let go of through finalize, which leaves the status alone", () => {
    const current = namespace({ spec: { finalizers: ["kubernetes"] }, status: { phase: "Terminating" } });
    const taken = part("finalize")?.take?.(
      namespace({ spec: { finalizers: [] }, status: { phase: "Active" } }),
      current,
    );
    expect(taken).toMatchObject({ spec: {}, status: { phase: "Terminating" } });
    expect(strategy.isHeld?.(current)).toBe(true);
    expect(taken && strategy.isHeld?.(taken)).toBe(false);
  });

  it("is terminating once it is deleted", () => {
    const deleted = strategy.markDeleted?.(namespace({ status: { phase: "Active" } }));
    expect(deleted && strategy.fields?.["status.phase"]?.(deleted)).toBe("Terminating");
  });

  it.each<[string, string | undefined, string[]]>([
    ["Active", undefined, []],
    ["Terminating", "2026-01-01T00:00:00Z", []],
    [
      "Terminating",
      undefined,
      ["status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"],
    ],
    [
      "Active",
      "2026-01-01T00:00:00Z",
      ["status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty"],
    ],
  ])("may say %s with deletion time %s", (phase, deletionTimestamp, errors) => {
    const object = namespace({ status: { phase } }, deletionTimestamp === undefined ? {} : { deletionTimestamp });
    expect((part("status")?.validateUpdate?.(object, namespace()) ?? []).map(formatFieldError)).toEqual(errors);
  });

  it("is deleted by name only", () => {
    expect(namespaceKind.verbs).not.toContain("deletecollection");
  });
});
