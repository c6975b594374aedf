import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRecord, type KubeObject } from "../object.ts";
import type { ListNode, SchemaNode } from "../schema-node.ts";
import { applyObject } from "./apply.ts";
import { everyPath } from "./extract-set.ts";
import { hasPath, listPaths } from "./field-set.ts";
import { decodeManagedFields } from "./managed-entries.ts";
import { recordUpdate } from "./managed-fields.ts";

const SCALAR: SchemaNode = { kind: "scalar" };
const list = (kind: ListNode["list"], items: SchemaNode): ListNode => {
  return { kind: "list", list: kind, keys: kind === "map" ? ["name"] : [], items, patch: [], mergeKey: undefined };
};
function struct(fields: Readonly<Record<string, SchemaNode>>): SchemaNode {
  return {
    kind: "struct",
    atomic: false,
    patch: [],
    field: (name) => (Object.hasOwn(fields, name) ? fields[name] : undefined),
  };
}

const labels: SchemaNode = { kind: "map", atomic: false, values: SCALAR };
const item = struct({ name: SCALAR, value: SCALAR, tags: list("set", SCALAR), labels });
const spec = struct({
  size: SCALAR,
  labels,
  selector: { kind: "map", atomic: true, values: SCALAR },
  tags: list("set", SCALAR),
  args: list("atomic", SCALAR),
  items: list("map", item),
  free: { kind: "untyped" },
});
const node = struct({ apiVersion: SCALAR, kind: SCALAR, metadata: struct({ name: SCALAR }), spec });

const scalar = fc.constantFrom(1, 2, "x", true);
const names = fc.constantFrom("a", "b", "c");
const map = fc.dictionary(names, scalar, { maxKeys: 3 });
const tags = fc.uniqueArray(fc.constantFrom("r", "s", "t"), { maxLength: 3 });
const items = fc.uniqueArray(fc.record({ name: names, value: scalar, tags, labels: map }, { requiredKeys: ["name"] }), {
  maxLength: 3,
  selector: ({ name }) => name,
});
const free = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    scalar,
    fc.array(scalar, { maxLength: 2 }),
    fc.dictionary(names, tie("value"), { maxKeys: 3 }),
  ),
})).value;
const specs = fc.record(
  { size: scalar, labels: map, selector: map, tags, args: fc.array(scalar, { maxLength: 2 }), items, free },
  { requiredKeys: [] },
);
const objects = specs.map(
  (value): KubeObject => ({ apiVersion: "x.example.com/v1", kind: "X", metadata: { name: "n" }, spec: value }),
);
const managers = fc.constantFrom("one", "two", "three");
const writes = fc.array(fc.record({ manager: managers, object: objects, isApply: fc.boolean() }), {
  minLength: 1,
  maxLength: 6,
});

const common = { node, apiVersion: "x.example.com/v1", now: 0 };
function write(current: KubeObject | undefined, manager: string, object: KubeObject, isApply: boolean): KubeObject {
  if (isApply) return applyObject({ ...common, current, applied: object, manager, force: true });
  return recordUpdate({ ...common, before: current, after: object, manager });
}

function history(list: readonly { manager: string; object: KubeObject; isApply: boolean }[]): KubeObject | undefined {
  let current: KubeObject | undefined;
  for (const { manager, object, isApply } of list) current = write(current, manager, object, isApply);
  return current;
}

function bare(object: KubeObject): unknown {
  return { ...object, metadata: { name: object.metadata.name } };
}

const ownedPaths = (object: KubeObject, isOwner: (manager: string, operation: string) => boolean) => {
  const owners = [...decodeManagedFields(object.metadata.managedFields ?? []).values()];
  return owners.filter(({ manager, operation }) => isOwner(manager, operation)).flatMap(({ set }) => listPaths(set));
};

describe("whatever is written", () => {
  it("nobody owns a path that is not there", () => {
    fc.assert(
      fc.property(writes, (list) => {
        const object = history(list);
        if (!object) return;
        const paths = everyPath(node, bare(object)).children ?? new Map();
        for (const path of ownedPaths(object, () => true)) expect(hasPath(paths, path), path.join("/")).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it("the last to write owns what it wrote, and an updated object is as it was sent", () => {
    fc.assert(
      fc.property(writes, (list) => {
        const object = history(list);
        const last = list.at(-1);
        if (!object || !last) return;
        if (!last.isApply) expect(bare(object)).toEqual(last.object);
        else
          expect(isRecord(object["spec"]) && Object.keys(object["spec"])).toEqual(
            expect.arrayContaining(Object.keys(Object(last.object["spec"]))),
          );
      }),
    );
  });

  it("applying the same again changes nothing at all", () => {
    fc.assert(
      fc.property(writes, managers, objects, (list, manager, applied) => {
        const once = write(history(list), manager, applied, true);
        expect(applyObject({ ...common, current: once, applied, manager, force: false, now: 60_000 })).toBe(once);
      }),
    );
  });

  it("applying nothing takes away what only the manager owned, and nothing that others own", () => {
    fc.assert(
      fc.property(writes, objects, (list, applied) => {
        const before = write(history(list), "mine", applied, true);
        const nothing: KubeObject = { apiVersion: applied.apiVersion, kind: applied.kind, metadata: { name: "n" } };
        const after = write(before, "mine", nothing, true);
        const left = everyPath(node, bare(after)).children ?? new Map();
        const others = ownedPaths(before, (manager) => manager !== "mine").map((path) => path.join("/"));
        for (const path of ownedPaths(before, (manager) => manager === "mine")) {
          const isOthers = others.some((other) => other === path.join("/") || other.startsWith(`${path.join("/")}/`));
          if (!isOthers) expect(hasPath(left, path), path.join("/")).toBe(false);
        }
        for (const path of others) expect(hasPath(left, path.split("/")), path).toBe(true);
        expect(ownedPaths(after, (manager) => manager === "mine")).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });
});
