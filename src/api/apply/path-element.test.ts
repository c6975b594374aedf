import { describe, expect, it, vi } from "vitest";
import { servedNode } from "../schema-node.ts";
import { formatElement, formatPath, itemElement, itemProblem, parseElement, sortElements } from "./path-element.ts";

const ports = { list: "map", keys: ["containerPort", "protocol"] } as const;
const byName = { list: "map", keys: ["name"] } as const;
const set = { list: "set", keys: [] } as const;

describe("an item's element", () => {
  it.each([
    [byName, { name: "a", image: "b" }, 'k:{"name":"a"}'],
    [ports, { protocol: "UDP", containerPort: 53 }, 'k:{"containerPort":53,"protocol":"UDP"}'],
    [ports, { containerPort: 80 }, 'k:{"containerPort":80,"protocol":"TCP"}'],
    [{ list: "map", keys: ["z", "a"] } as const, { z: 1, a: true }, 'k:{"a":true,"z":1}'],
    [{ list: "map", keys: ["zone"], keyDefaults: { zone: "any" } } as const, {}, 'k:{"zone":"any"}'],
    [{ list: "map", keys: ["name", "protocol"] } as const, { name: "a" }, 'k:{"name":"a"}'],
    [set, "a/b", 'v:"a/b"'],
    [set, 3, "v:3"],
    [set, "<a&b>\u2028", 'v:"\\u003ca\\u0026b\\u003e\\u2028"'],
  ])("of %j for %j is %s", (list, item, element) => {
    expect(itemElement(list, item)).toBe(element);
    expect(itemProblem(list, item)).toBeUndefined();
  });

  it("has the protocol's default in the API's own port lists", () => {
    const pod = servedNode("Pod");
    const spec = pod.kind === "struct" ? pod.field("spec") : undefined;
    const containers = spec?.kind === "struct" ? spec.field("containers") : undefined;
    const container = containers?.kind === "list" ? containers.items : undefined;
    const list = container?.kind === "struct" ? container.field("ports") : undefined;
    if (list?.kind !== "list") throw new Error("no list of ports");
    expect(itemElement(list, { containerPort: 8080 })).toBe('k:{"containerPort":8080,"protocol":"TCP"}');
  });

  it.each([
    [byName, null, "associative list with keys may not have a null element"],
    [byName, "a", "associative list with keys may not have non-map elements"],
    [
      { list: "map", keys: ["name", "kind"] } as const,
      { image: "x" },
      'associative list with keys has an element that omits all key fields ["name" "kind"] (and doesn\'t have default values for any key fields)',
    ],
    [set, null, "associative list without keys has an element that's an explicit null"],
    [set, {}, "associative list without keys has an element that's a map type"],
    [set, [], "not supported: associative list with lists as elements"],
  ])("is refused of %j for %j", (list, item, problem) => {
    expect(itemProblem(list, item)).toBe(problem);
  });
});

describe("an element from outside", () => {
  it.each([
    ["f:", "f:"],
    ["f:a:b.c/d", "f:a:b.c/d"],
    ['k:{"b": 1.0, "a":"x"}', 'k:{"a":"x","b":1}'],
    ['v: "x"', 'v:"x"'],
    ["v:true", "v:true"],
    ["i:007", "i:7"],
    ["x:future", undefined],
  ])("%s is read as %s", (text, element) => {
    expect(parseElement(text)).toBe(element);
  });

  it.each(["", "f", "no colon", "v:", "v:{", 'k:"a"', "k:[1]", 'k:{"a":1}x', "i:", "i:1.5"])(
    "%j is refused",
    (text) => {
      expect(() => parseElement(text)).toThrow();
    },
  );
});

describe("order", () => {
  it("is fields, keys, values, indices, each by what they hold", () => {
    const sorted = [
      "f:",
      "f:1",
      "f:10",
      "f:2",
      "f:a",
      'k:{"a":1}',
      'k:{"a":1,"b":1}',
      'k:{"a":9}',
      'k:{"a":10}',
      'k:{"a":"1"}',
      'k:{"b":0}',
      "v:2",
      "v:10",
      'v:"10"',
      'v:"2"',
      "v:false",
      "v:true",
      "v:null",
      "i:2",
      "i:10",
    ];
    expect(sortElements(sorted.toReversed())).toEqual(sorted);
  });

  it("is found by reading each element once, however long the list is", () => {
    const elements = Array.from({ length: 1_000 }, (_, index) => `k:{"port":${(index * 7) % 1_000}}`);
    const read = vi.spyOn(JSON, "parse");
    try {
      expect(sortElements(elements).slice(0, 2)).toEqual(['k:{"port":0}', 'k:{"port":1}']);
      expect(read).toHaveBeenCalledTimes(elements.length);
    } finally {
      read.mockRestore();
    }
  });
});

describe("as conflicts show it", () => {
  it.each([
    ["f:spec", ".spec"],
    ['k:{"containerPort":80,"protocol":"TCP"}', '[containerPort=80,protocol="TCP"]'],
    ['v:"a"', '[="a"]'],
    ["v:1", "[=1]"],
    ["i:3", "[3]"],
  ])("%s is %s", (element, shown) => {
    expect(formatElement(element)).toBe(shown);
  });

  it("a path is its elements in a row", () => {
    expect(formatPath(["f:spec", "f:containers", 'k:{"name":"a"}', "f:image"])).toBe(
      '.spec.containers[name="a"].image',
    );
  });
});
