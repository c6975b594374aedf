import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRecord } from "../object.ts";
import { servedNode } from "../schema-node.ts";
import { applyStrategicMergePatch } from "./strategic-merge.ts";

type Json = Readonly<Record<string, unknown>>;

function apply(type: string, document: unknown, patch: unknown): unknown {
  const before = JSON.stringify([document, patch]);
  const patched = applyStrategicMergePatch(document, patch, servedNode(type));
  expect(JSON.stringify([document, patch])).toBe(before);
  return patched;
}

const patchSpec = (spec: Json, patch: Json) => apply("PodSpec", spec, patch);
/** Containers by their names. */
const named = (...names: string[]) => names.map((name) => ({ name }));

describe("$setElementOrder", () => {
  const order = (current: string[], wanted: string[], patch?: Json[]) => {
    const change = { "$setElementOrder/containers": named(...wanted), ...(patch && { containers: patch }) };
    const patched = patchSpec({ containers: named(...current) }, change);
    return isRecord(patched) && Array.isArray(patched["containers"])
      ? patched["containers"].map((item: unknown) => (isRecord(item) ? item["name"] : item)).join("")
      : patched;
  };

  it.each([
    ["sorts", "abc", "cab", undefined, "cab"],
    ["keeps others before what they stood before", "axbyc", "cba", undefined, "xycba"],
    ["keeps others in their order", "xayb", "ab", undefined, "xayb"],
    ["keeps others that stood last", "abxy", "ba", undefined, "baxy"],
    ["puts new items where it says", "ab", "acb", ["c"], "acb"],
    ["puts new items before others", "abx", "abc", ["c"], "abcx"],
    ["may name what is not there", "ab", "bza", undefined, "ba"],
    ["may be empty", "ab", "", undefined, "ab"],
    ["need not name items that the server has", "abs", "ba", ["b", "a"], "bas"],
  ])("%s", (_, current, wanted, patch, expected) => {
    expect(
      order(
        [...current],
        [...wanted],
        patch?.map((name) => ({ name })),
      ),
    ).toBe(expected);
  });

  it("and deletions go together", () => {
    const deleted = (name: string) => ({ name, $patch: "delete" });
    expect(order(["a", "b", "c"], ["c", "b"], [deleted("a")])).toBe("cb");
    // A new item takes the place that a deleted one leaves at the end of the live order.
    expect(order(["a", "b", "x"], ["b", "c"], [{ name: "c" }, deleted("a")])).toBe("bxc");
    expect(order(["a", "x"], ["b", "c"], [{ name: "b" }, { name: "c" }, deleted("a")])).toBe("xbc");
    expect(order(["a", "b"], ["c"], [{ $patch: "replace" }, { name: "c" }])).toBe("c");
  });

  it("sorts a list that is new", () => {
    expect(
      patchSpec(
        {},
        { "$setElementOrder/containers": named("b", "a"), containers: [{ name: "b", image: null }, { name: "a" }] },
      ),
    ).toEqual({ containers: named("b", "a") });
    expect(patchSpec({ hostname: "h" }, { "$setElementOrder/containers": named("a") })).toEqual({ hostname: "h" });
  });

  it("sorts scalars, also those of lists that are replaced", () => {
    expect(
      apply(
        "ObjectMeta",
        { finalizers: ["a", "b", "x"] },
        { "$setElementOrder/finalizers": ["c", "b", "a"], finalizers: ["c"] },
      ),
    ).toEqual({ finalizers: ["c", "b", "a", "x"] });
    expect(apply("Container", { args: ["a", "b"] }, { "$setElementOrder/args": ["c", "d"], args: ["c", "d"] })).toEqual(
      { args: ["c", "d"] },
    );
  });

  it("merges the items that it sorts", () => {
    const patched = apply(
      "Pod",
      {
        spec: {
          containers: [{ name: "a", image: "1", ports: [{ containerPort: 1 }, { containerPort: 2 }] }, { name: "b" }],
        },
      },
      {
        spec: {
          "$setElementOrder/containers": named("b", "a"),
          containers: [
            { "$setElementOrder/ports": [{ containerPort: 2 }, { containerPort: 1 }], name: "a", image: "2" },
          ],
        },
      },
    );
    expect(patched).toEqual({
      spec: {
        containers: [{ name: "b" }, { name: "a", image: "2", ports: [{ containerPort: 2 }, { containerPort: 1 }] }],
      },
    });
  });

  it.each<[Json, string]>([
    [
      { "$setElementOrder/containers": named("a", "b"), containers: named("b", "a") },
      "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:a] map[name:b]]\n",
    ],
    [
      { "$setElementOrder/containers": named("a"), containers: named("b") },
      "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    [{ "$setElementOrder/containers": "a" }, "expected a []interface {}, but received a string"],
    [{ "$setElementOrder/containers": null }, "expected a []interface {}, but received a %!s(<nil>)"],
    [{ "$setElementOrder/containers": ["a"] }, "expected a map[string]interface {}, but received a string"],
    [
      { "$setElementOrder/containers": [{ image: "a" }] },
      "map: map[image:a] does not contain declared merge key: name",
    ],
    [
      { "$setElementOrder/containers": [], containers: {} },
      "expected a []interface {}, but received a map[string]interface {}",
    ],
    [{ "$setElementOrder/hostname": [] }, "expected a []interface {}, but received a string"],
    [{ "$setElementOrder/nope": [] }, 'unable to find api field "nope"'],
    [{ $setElementOrder: [] }, "invalid patch format of setElementOrder list"],
    [{ "$setElementOrder/tolerations": [{ key: "a" }] }, "invalid patch format of setElementOrder list"],
  ])("%j is refused", (patch, message) => {
    const spec = { containers: named("a", "b"), hostname: "h", tolerations: [{ key: "a" }] };
    expect(() => patchSpec(spec, patch)).toThrow(expect.objectContaining({ reason: "BadRequest", message }));
  });

  it("a long list merges in no time", () => {
    const containers = Array.from({ length: 30_000 }, (_, index) => ({ name: `c${index}` }));
    const reversed = containers.toReversed();
    const patched = patchSpec({ containers }, { "$setElementOrder/containers": reversed, containers: reversed });
    expect(patched).toEqual({ containers: reversed });
  });
});

describe("any strategic merge patch", () => {
  const name = fc.constantFrom("a", "b", "c", "d");
  const uniqueNames = fc.uniqueArray(name, { maxLength: 4 });
  const container = fc.record(
    {
      image: fc.constantFrom("1", "2"),
      args: fc.array(fc.constantFrom("x", "y"), { maxLength: 2 }),
      tty: fc.constantFrom(true, null),
    },
    { requiredKeys: [] },
  );
  const containers = uniqueNames.chain((names) =>
    fc.tuple(...names.map((item) => container.map((fields) => ({ name: item, ...fields })))),
  );
  const withoutNulls = (items: readonly Json[]) =>
    items.map((item) => Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null)));
  const namesOf = (patched: unknown): unknown[] => {
    const items = isRecord(patched) && Array.isArray(patched["containers"]) ? patched["containers"] : [];
    return items.map((item: unknown) => (isRecord(item) ? item["name"] : undefined));
  };

  it("changes nothing more the second time", () => {
    fc.assert(
      fc.property(containers, containers, uniqueNames, (current, changes, deleted) => {
        const isDeleted = (item: { name: string }) => deleted.some((other) => other === item.name);
        const patch = {
          containers: [
            ...changes.filter((item) => !isDeleted(item)),
            ...deleted.map((item) => ({ name: item, $patch: "delete" })),
          ],
        };
        const once = patchSpec({ containers: withoutNulls(current) }, patch);
        expect(applyStrategicMergePatch(once, patch, servedNode("PodSpec"))).toEqual(once);
      }),
    );
  });

  it("with an order gives that order, and loses or doubles nothing", () => {
    fc.assert(
      fc.property(containers, uniqueNames, (current, wanted) => {
        const patched = patchSpec(
          { containers: withoutNulls(current) },
          { "$setElementOrder/containers": named(...wanted) },
        );
        const names = namesOf(patched);
        const had = current.map((item) => item.name);
        expect([...names].sort()).toEqual([...had].sort());
        expect(names.filter((item) => wanted.some((other) => other === item))).toEqual(
          wanted.filter((item) => had.some((other) => other === item)),
        );
        expect(names.filter((item) => !wanted.some((other) => other === item))).toEqual(
          had.filter((item) => !wanted.some((other) => other === item)),
        );
      }),
    );
  });

  it("of changed, new, deleted and reordered items makes one list of the other, as kubectl means it", () => {
    fc.assert(
      fc.property(containers, containers, (from, to) => {
        const [current, wanted] = [withoutNulls(from), withoutNulls(to)];
        const has = (items: readonly Json[], item: Json) => items.some((other) => other["name"] === item["name"]);
        const patch = {
          "$setElementOrder/containers": wanted.map((item) => ({ name: item["name"] })),
          containers: [
            ...wanted.map((item) => ({ image: null, args: null, tty: null, ...item })),
            ...current.filter((item) => !has(wanted, item)).map((item) => ({ name: item["name"], $patch: "delete" })),
          ],
        };
        expect(patchSpec({ containers: current }, patch)).toEqual({ containers: wanted });
      }),
    );
  });
});
