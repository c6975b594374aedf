import { describe, expect, it } from "vitest";
import { formatFieldError } from "../field-error.ts";
import type { ObjectMeta, OwnerReference } from "../gen/types.ts";
import { checkDnsSubdomain } from "./names.ts";
import { type ObjectMetaRules, validateObjectMeta, validateObjectMetaUpdate } from "./object-meta.ts";

const FINE: ObjectMeta = { name: "a", namespace: "default" };

function problems(metadata: ObjectMeta, rules: Partial<ObjectMetaRules> = {}): string[] {
  const errors = validateObjectMeta(
    { ...FINE, ...metadata },
    { namespaced: true, checkName: checkDnsSubdomain, ...rules },
  );
  return errors.map(formatFieldError);
}

const owner = (fields: Partial<OwnerReference> = {}): OwnerReference => {
  return { apiVersion: "apps/v1", kind: "ReplicaSet", name: "r", uid: "u", ...fields };
};

/** Some complaints quote whole rules; their beginning says which one it is. */
function expectProblem(found: string[], expected: string): void {
  expect(found.map((problem) => problem.slice(0, expected.length))).toEqual([expected]);
}

describe("metadata that is fine", () => {
  it.each<[string, ObjectMeta]>([
    ["a name and a namespace", {}],
    ["the start of a name that ends in a dash", { generateName: "a-" }],
    [
      "labels, annotations in any case, and their like",
      { labels: { "x.io/a": "", b: "C" }, annotations: { "X.io/A": "any\nthing" }, generation: 0 },
    ],
    [
      "several owners, one of them the controller",
      {
        ownerReferences: [
          owner({ controller: true }),
          owner({ controller: false }),
          owner({ apiVersion: "v1", kind: "Node" }),
        ],
      },
    ],
    ["finalizers with and without a domain", { finalizers: ["x.io/a", "orphan", "finalizer.x.io"] }],
    [
      "managed fields",
      {
        managedFields: [
          {
            manager: "kubectl (édition 2)",
            operation: "Apply",
            fieldsType: "FieldsV1",
            apiVersion: "v1",
            subresource: "status",
          },
        ],
      },
    ],
  ])("%s", (_, metadata) => {
    expect(problems(metadata)).toEqual([]);
  });
});

describe("metadata that is refused", () => {
  it.each<[ObjectMeta, string]>([
    [{ name: "" }, "metadata.name: Required value: name or generateName is required"],
    [{ name: "A" }, 'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of'],
    [{ name: "a-" }, 'metadata.name: Invalid value: "a-": a lowercase RFC 1123 subdomain must consist of'],
    [
      { generateName: "AB-" },
      'metadata.generateName: Invalid value: "AB-": a lowercase RFC 1123 subdomain must consist of',
    ],
    [
      { generateName: "-" },
      'metadata.generateName: Invalid value: "-": a lowercase RFC 1123 subdomain must consist of',
    ],
    [{ namespace: "" }, "metadata.namespace: Required value"],
    [{ namespace: "a.b" }, 'metadata.namespace: Invalid value: "a.b": must not contain dots'],
    [{ generation: -1 }, "metadata.generation: Invalid value: -1: must be greater than or equal to 0"],
    [{ labels: { "-": "a" } }, 'metadata.labels: Invalid value: "-": name part must consist of'],
    [{ labels: { a: "b c" } }, 'metadata.labels: Invalid value: "b c": a valid label must be'],
    [
      { annotations: { "a/b/c": "" } },
      'metadata.annotations: Invalid value: "a/b/c": a valid label key must consist of',
    ],
    [
      { annotations: { a: "é".repeat(128 * 1024) } },
      "metadata.annotations: Too long: may not be more than 262144 bytes",
    ],
    [
      { ownerReferences: [owner(), owner({ apiVersion: "" })] },
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
    ],
    [
      { ownerReferences: [owner({ apiVersion: "a/b/c" })] },
      'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
    ],
    [
      { ownerReferences: [owner({ apiVersion: "a/" })] },
      'metadata.ownerReferences.apiVersion: Invalid value: "a/": version must not be empty',
    ],
    [{ ownerReferences: [owner({ kind: "" })] }, 'metadata.ownerReferences.kind: Invalid value: "": must not be empty'],
    [{ ownerReferences: [owner({ name: "" })] }, 'metadata.ownerReferences.name: Invalid value: "": must not be empty'],
    [{ ownerReferences: [owner({ uid: "" })] }, 'metadata.ownerReferences.uid: Invalid value: "": must not be empty'],
    [{ finalizers: ["a b"] }, 'metadata.finalizers: Invalid value: "a b": name part must consist of'],
    [
      { finalizers: ["orphan", "foregroundDeletion"] },
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ],
    [{ managedFields: [{}] }, "metadata.managedFields[0].operation: Required value: must not be empty"],
    [
      { managedFields: [{ operation: "Patch" }] },
      'metadata.managedFields[0].operation: Unsupported value: "Patch": supported values: "Apply", "Update"',
    ],
    [
      { managedFields: [{ operation: "Apply", fieldsType: "FieldsV2" }] },
      'metadata.managedFields[0].fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`',
    ],
    [
      { managedFields: [{ operation: "Apply", manager: "m".repeat(129) }] },
      "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
    ],
    [
      { managedFields: [{ operation: "Apply", manager: "é\n" }] },
      'metadata.managedFields[0].manager: Invalid value: "é\\n": invalid character U+000A (at position 2)',
    ],
    [
      { managedFields: [{ operation: "Apply", subresource: "s".repeat(257) }] },
      "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes",
    ],
  ])("%j", (metadata, problem) => {
    expectProblem(problems(metadata), problem);
  });

  it("as an event owns nothing", () => {
    const found = problems({ ownerReferences: [owner({ apiVersion: "v1", kind: "Event" })] });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(
      /^metadata.ownerReferences: Invalid value: \{.*\}: \/v1, Kind=Event is disallowed from being an owner$/,
    );
  });

  it("as only one owner controls", () => {
    const controllers = ["a", "b", "c"].map((name) => owner({ name, controller: true }));
    const rule =
      'Only one reference can have Controller set to true. Found "true" in references for ReplicaSet/a and ReplicaSet/';
    const found = problems({ ownerReferences: controllers });
    expect(found.map((problem) => problem.slice(problem.indexOf("Only")))).toEqual([`${rule}b`, `${rule}c`]);
  });

  it("as the kind has no namespaces", () => {
    expect(problems({ namespace: "" }, { namespaced: false })).toEqual([]);
    expect(problems({}, { namespaced: false })).toEqual(["metadata.namespace: Forbidden: not allowed on this type"]);
  });

  it("as finalizers of built-in kinds need a domain", () => {
    const rules = { onlyStandardFinalizers: true };
    expect(problems({ finalizers: ["kubernetes", "orphan", "x.io/a"] }, rules)).toEqual([]);
    expect(problems({ finalizers: ["x.io/a", "mine"] }, rules)).toEqual([
      'metadata.finalizers[1]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });
});

describe("an update", () => {
  const CURRENT: ObjectMeta = {
    ...FINE,
    uid: "u",
    resourceVersion: "7",
    generation: 2,
    creationTimestamp: "2024-01-02T03:04:05Z",
  };
  const changed = (next: ObjectMeta, current: ObjectMeta = {}) => {
    const errors = validateObjectMetaUpdate({ ...CURRENT, ...current, ...next }, { ...CURRENT, ...current });
    return errors.map(formatFieldError);
  };
  const deleting = {
    deletionTimestamp: "2024-01-03T00:00:00Z",
    deletionGracePeriodSeconds: 30,
    finalizers: ["x.io/a"],
  };

  it.each<[string, ObjectMeta, ObjectMeta]>([
    ["changes nothing", {}, {}],
    [
      "changes labels, owners and finalizers",
      { labels: { a: "b" }, ownerReferences: [owner()], finalizers: ["x.io/a"], generation: 3 },
      {},
    ],
    ["removes a finalizer of what is being deleted", { finalizers: [] }, deleting],
    ["keeps the finalizers of what is being deleted", { finalizers: ["x.io/a", "x.io/a"] }, deleting],
    ["writes a time in another way", { creationTimestamp: "2024-01-02T04:04:05+01:00" }, {}],
  ])("that %s is fine", (_, next, current) => {
    expect(changed(next, current)).toEqual([]);
  });

  it.each<[ObjectMeta, ObjectMeta, string]>([
    [{ name: "b" }, {}, 'metadata.name: Invalid value: "b": field is immutable'],
    [{ namespace: "b" }, {}, 'metadata.namespace: Invalid value: "b": field is immutable'],
    [{ uid: "v" }, {}, 'metadata.uid: Invalid value: "v": field is immutable'],
    [{ uid: "" }, {}, 'metadata.uid: Invalid value: "": field is immutable'],
    [
      { creationTimestamp: "2024-01-02T03:04:06Z" },
      {},
      'metadata.creationTimestamp: Invalid value: "2024-01-02T03:04:06Z": field is immutable',
    ],
    [
      { deletionTimestamp: "2024-01-02T03:04:06Z" },
      {},
      'metadata.deletionTimestamp: Invalid value: "2024-01-02T03:04:06Z": field is immutable',
    ],
    [
      { deletionGracePeriodSeconds: 1 },
      deleting,
      "metadata.deletionGracePeriodSeconds: Invalid value: 1: field is immutable",
    ],
    [{ resourceVersion: "" }, {}, 'metadata.resourceVersion: Invalid value: "": must be specified for an update'],
    [{ generation: 1 }, {}, "metadata.generation: Invalid value: 1: must not be decremented"],
    [
      { finalizers: ["x.io/c", "x.io/a", "x.io/b"] },
      deleting,
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/b", "x.io/c"}',
    ],
  ])("%j is refused", (next, current, problem) => {
    expect(changed(next, current)).toEqual([problem]);
  });

  it("does not take back a deletion", () => {
    const { deletionTimestamp, ...kept } = { ...CURRENT, ...deleting };
    const errors = validateObjectMetaUpdate(kept, { ...kept, deletionTimestamp });
    expect(errors.map(formatFieldError)).toEqual([
      "metadata.deletionTimestamp: Invalid value: null: field is immutable",
    ]);
  });
});
