import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MountEntry } from "../../mounts-port.ts";
import { planUnmount } from "./plan-unmount.ts";

const entry = (id: number, parentId: number, path: string, peerGroup?: number): MountEntry => ({
  id,
  parentId,
  path,
  device: "0:1",
  root: "/",
  type: "tmpfs",
  source: "tmpfs",
  options: [],
  propagation: peerGroup === undefined ? "private" : "shared",
  ...(peerGroup === undefined ? {} : { peerGroup }),
});

describe("plan of an unmount", () => {
  it.each([
    ["nothing below", [entry(1, 0, "/"), entry(2, 1, "/v"), entry(3, 1, "/w")], []],
    ["innermost first", [entry(1, 0, "/"), entry(2, 1, "/v"), entry(3, 2, "/v/a"), entry(4, 3, "/v/a/b")], [4, 3]],
    ["the latest first", [entry(1, 0, "/"), entry(2, 1, "/v"), entry(3, 2, "/v/a"), entry(4, 2, "/v/b")], [4, 3]],
    ["stacked ones", [entry(1, 0, "/"), entry(2, 1, "/v"), entry(3, 2, "/v/a"), entry(4, 3, "/v/a")], [4, 3]],
    ["what hides another", [entry(1, 0, "/"), entry(2, 1, "/v"), entry(3, 2, "/v/a/b"), entry(4, 2, "/v/a")], [4, 3]],
    ["not what it is stacked on", [entry(1, 0, "/"), entry(3, 1, "/v"), entry(2, 3, "/v"), entry(4, 3, "/v/a")], []],
    ["a table that contradicts itself", [entry(2, 3, "/v"), entry(3, 2, "/v/a")], [3]],
  ])("takes %s", (_what, entries, expected) => {
    const plan = planUnmount(entries, 2);
    expect(plan.below.map(({ id }) => id)).toEqual(expected);
    expect(plan).toMatchObject({ path: "/v", type: "tmpfs" });
  });

  it.each([
    ["private mounts", [entry(1, 0, "/"), entry(2, 1, "/v"), entry(3, 2, "/v/a")], false],
    ["peers with something below", [entry(1, 0, "/", 7), entry(2, 1, "/v", 7), entry(3, 2, "/v/a")], true],
    ["peers with nothing below", [entry(1, 0, "/", 7), entry(2, 1, "/v", 7)], false],
    [
      "what is below shared, and nothing under it",
      [entry(1, 0, "/", 7), entry(2, 1, "/v"), entry(3, 2, "/v/a", 7)],
      false,
    ],
    ["peers within the tree only", [entry(1, 0, "/"), entry(2, 1, "/v", 7), entry(3, 2, "/v/a", 7)], false],
  ])("knows whether others share it: %s", (_what, entries, expected) => {
    expect(planUnmount(entries, 2).isShownElsewhere).toBe(expected);
  });

  it("takes each mount of the tree once, before its parent", () => {
    const parents = fc.array(fc.nat(), { maxLength: 40 });
    fc.assert(
      fc.property(parents, (numbers) => {
        const entries = numbers.map((number, index) => entry(index + 1, index === 0 ? 0 : (number % index) + 1, "/"));
        const { below } = planUnmount(entries, 1);
        expect(new Set(below.map(({ id }) => id)).size).toBe(Math.max(0, entries.length - 1));
        const placeOf = new Map(below.map(({ id }, place) => [id, place]));
        for (const { id, parentId } of below) {
          if (parentId !== 1) expect(placeOf.get(parentId)).toBeGreaterThan(placeOf.get(id) ?? -1);
        }
      }),
    );
  });
});
