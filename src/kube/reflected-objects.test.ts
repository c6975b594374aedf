import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "../api/gen/types.ts";
import { createReflectedObjects, type ReflectedObjects } from "./reflected-objects.ts";

const pod = (name: string, uid: string, resourceVersion: string): Pod => ({
  metadata: { namespace: "default", name, uid, resourceVersion },
});
const names = (changes: ReturnType<ReflectedObjects<Pod>["replace"]>) =>
  changes.map(({ type, object }) => `${type} ${object.metadata?.name}/${object.metadata?.uid}`);
const held = (...pods: Pod[]) => {
  const objects = createReflectedObjects<Pod>();
  objects.replace(pods);
  return objects;
};
const event = (type: "ADDED" | "MODIFIED" | "DELETED", object: Pod) => ({
  type,
  object,
  resourceVersion: object.metadata?.resourceVersion ?? "",
});

describe("a list", () => {
  it.each<[string, Pod[], Pod[], string[]]>([
    ["an object that is new", [], [pod("a", "1", "5")], ["ADDED a/1"]],
    ["an object that changed", [pod("a", "1", "5")], [pod("a", "1", "6")], ["MODIFIED a/1"]],
    ["an object that is as it was", [pod("a", "1", "5")], [pod("a", "1", "5")], []],
    ["an object that is gone", [pod("a", "1", "5")], [], ["DELETED a/1"]],
    ["another object of the name", [pod("a", "1", "5")], [pod("a", "2", "9")], ["DELETED a/1", "ADDED a/2"]],
    ["an object without a revision", [pod("a", "1", "")], [pod("a", "1", "")], ["MODIFIED a/1"]],
    [
      "an object that is another under the same revision, as after a restore",
      [pod("a", "1", "5")],
      [{ ...pod("a", "1", "5"), spec: { containers: [] } }],
      ["MODIFIED a/1"],
    ],
    ["no end where an item has no name: it may be that object", [pod("a", "1", "5")], [{ metadata: {} }], []],
    [
      "ends before beginnings",
      [pod("a", "1", "5"), pod("z", "1", "5")],
      [pod("b", "1", "6"), pod("z", "2", "6")],
      ["DELETED a/1", "DELETED z/1", "ADDED b/1", "ADDED z/2"],
    ],
    ["nothing for an object without a name", [], [{ metadata: {} }, {}], []],
  ])("gives %s", (_what, before, now, expected) => {
    expect(names(held(...before).replace(now))).toEqual(expected);
  });

  it("keeps the very object that did not change", () => {
    const [before] = [pod("a", "1", "5")];
    const objects = held(before);
    objects.replace([pod("a", "1", "5")]);
    expect(objects.get("default", "a")).toBe(before);
  });
});

describe("an event", () => {
  it.each<[string, Pod[], ReturnType<typeof event>[], string[]]>([
    ["adds", [], [event("ADDED", pod("a", "1", "5"))], ["ADDED a/1"]],
    ["changes", [pod("a", "1", "5")], [event("MODIFIED", pod("a", "1", "6"))], ["MODIFIED a/1"]],
    ["ends", [pod("a", "1", "5")], [event("DELETED", pod("a", "1", "6"))], ["DELETED a/1"]],
    ["of an unknown object adds it", [], [event("MODIFIED", pod("a", "1", "6"))], ["ADDED a/1"]],
    ["of an unknown object ends nothing", [], [event("DELETED", pod("a", "1", "6"))], []],
    [
      "that is older than what is held changes nothing",
      [pod("a", "1", "10")],
      [event("MODIFIED", pod("a", "1", "9"))],
      [],
    ],
    ["of an older end changes nothing", [pod("a", "1", "10")], [event("DELETED", pod("a", "1", "9"))], []],
    [
      "that comes after the end of its object, and is older, brings nothing back",
      [pod("a", "1", "5")],
      [event("DELETED", pod("a", "1", "11")), event("MODIFIED", pod("a", "1", "10"))],
      ["DELETED a/1"],
    ],
    [
      "of what had the name before changes nothing",
      [pod("a", "2", "10")],
      [event("ADDED", pod("a", "1", "5")), event("MODIFIED", pod("a", "2", "11"))],
      ["MODIFIED a/2"],
    ],
    [
      "of revisions that cannot be compared is believed",
      [pod("a", "1", "x10")],
      [event("MODIFIED", pod("a", "1", "x9"))],
      ["MODIFIED a/1"],
    ],
    ["that the list has already changes nothing", [pod("a", "1", "5")], [event("ADDED", pod("a", "1", "5"))], []],
    [
      "of a name's next object, its end unseen",
      [pod("a", "1", "5")],
      [event("ADDED", pod("a", "2", "7"))],
      ["DELETED a/1", "ADDED a/2"],
    ],
    ["of a name's earlier object ends nothing", [pod("a", "2", "7")], [event("DELETED", pod("a", "1", "6"))], []],
    [
      "that repeats late does not take an object back",
      [],
      [
        event("ADDED", pod("a", "1", "5")),
        event("MODIFIED", pod("a", "1", "6")),
        event("ADDED", pod("a", "1", "5")),
        event("DELETED", pod("a", "1", "7")),
        event("MODIFIED", pod("a", "1", "6")),
      ],
      ["ADDED a/1", "MODIFIED a/1", "DELETED a/1"],
    ],
  ])("%s", (_what, before, events, expected) => {
    const objects = held(...before);
    expect(names(events.flatMap((one) => objects.apply(one)))).toEqual(expected);
  });

  it("of a server that lost its data is news although its revisions repeat", () => {
    const objects = createReflectedObjects<Pod>();
    objects.apply(event("ADDED", pod("a", "1", "5")));
    objects.replace([]);
    expect(names(objects.apply(event("ADDED", pod("a", "1", "5"))))).toEqual(["ADDED a/1"]);
  });
});

describe("changes", () => {
  const anyPod = fc
    .tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"), fc.integer({ min: 1, max: 30 }))
    .map(([name, uid, revision]) => pod(name, uid, String(revision)));
  const anyEvent = fc.tuple(fc.constantFrom("ADDED", "MODIFIED", "DELETED"), anyPod).map((args) => event(...args));
  const anyList = fc.uniqueArray(anyPod, { selector: ({ metadata }) => metadata?.name });

  it("replayed on an empty copy give the copy, and never contradict what was said before", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyEvent, anyList)), (steps) => {
        const objects = createReflectedObjects<Pod>();
        const replayed = new Map<string, Pod>();
        for (const step of steps) {
          for (const { type, object, previous } of Array.isArray(step) ? objects.replace(step) : objects.apply(step)) {
            const name = object.metadata?.name ?? "";
            expect(replayed.get(name)).toBe(previous);
            if (type === "DELETED") replayed.delete(name);
            else replayed.set(name, object);
          }
          if (Array.isArray(step)) expect(replayed.size).toBe(step.length);
        }
        expect(new Set(objects.list())).toEqual(new Set(replayed.values()));
      }),
    );
  });
});
