import { expect, it } from "vitest";
import type { Node } from "../../../api/gen/types.ts";
import { nodeInfo } from "./__fixtures__/stub-drivers.ts";
import { type CsiFacts, withCsiFacts, withoutCollisions } from "./csi-node-facts.ts";

const ANNOTATION = "csi.volume.kubernetes.io/nodeid";
const facts = (drivers: Record<string, ReturnType<typeof nodeInfo>>, removed: string[] = []): CsiFacts => ({
  drivers: new Map(Object.entries(drivers)),
  removed: new Set(removed),
});
const node = (annotation?: string, labels: Record<string, string> = {}): Node => ({
  metadata: {
    name: "n",
    labels,
    annotations: { other: "x", ...(annotation !== undefined && { [ANNOTATION]: annotation }) },
  },
});

it.each<[what: string, facts: CsiFacts, before: string | undefined, after: string | undefined]>([
  ["the first driver", facts({ a: nodeInfo("1") }), undefined, '{"a":"1"}'],
  ["a driver beside one from before", facts({ b: nodeInfo("2") }), '{"a":"1"}', '{"a":"1","b":"2"}'],
  ["a driver with another ID", facts({ a: nodeInfo("2") }), '{"a":"1"}', '{"a":"2"}'],
  ["one of two gone", facts({}, ["a"]), '{"a":"1","b":"2"}', '{"b":"2"}'],
  ["the last gone", facts({}, ["a"]), '{"a":"1"}', undefined],
  ["nothing known yet", facts({}), '{"a":"1"}', '{"a":"1"}'],
  ["nothing at all", facts({}), undefined, undefined],
  ["an annotation that is no JSON", facts({ a: nodeInfo("1") }), "{", '{"a":"1"}'],
  ["an annotation that is no object", facts({ a: nodeInfo("1") }), "[1]", '{"a":"1"}'],
  ["an annotation with other values", facts({ a: nodeInfo("1") }), '{"b":2}', '{"a":"1"}'],
])("with %s the annotation is right, and others stay", (_what, known, before, after) => {
  const { annotations } = withCsiFacts(node(before), known).metadata ?? {};
  expect(annotations).toEqual({ other: "x", ...(after !== undefined && { [ANNOTATION]: after }) });
});

it("adds topology labels, and leaves those of a driver that is gone", () => {
  const known = facts({ a: nodeInfo("1", { topology: { zone: "z" } }), b: nodeInfo("2", { topology: { rack: "r" } }) });
  expect(withCsiFacts(node(undefined, { mine: "1" }), known).metadata?.labels).toEqual({
    mine: "1",
    rack: "r",
    zone: "z",
  });
  expect(withCsiFacts(node(undefined, { zone: "z" }), facts({}, ["a"])).metadata?.labels).toEqual({ zone: "z" });
});

it("leaves out a driver that contradicts the node, with all that it says", () => {
  const known = facts({
    a: nodeInfo("1", { topology: { zone: "z", rack: "r" } }),
    b: nodeInfo("2", { topology: { row: "r" } }),
  });
  const { labels, annotations } = withCsiFacts(node(undefined, { zone: "other" }), known).metadata ?? {};
  expect(labels).toEqual({ zone: "other", row: "r" });
  expect(annotations).toEqual({ other: "x", [ANNOTATION]: '{"b":"2"}' });
  expect(withoutCollisions(known, { zone: "other" }).collisions).toEqual(
    new Map([
      ["a", 'detected topology value collision: driver reported "zone":"z" but existing label is "zone":"other"'],
    ]),
  );
});

it("is the node itself where nothing differs, so that no patch comes of it", () => {
  const current = node('{"a":"1"}', { zone: "z" });
  expect(withCsiFacts(current, facts({ a: nodeInfo("1", { topology: { zone: "z" } }) }))).toBe(current);
  const bare: Node = { metadata: { name: "n" } };
  expect(withCsiFacts(bare, facts({}, ["a"]))).toBe(bare);
});
