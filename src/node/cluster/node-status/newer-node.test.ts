import { expect, it } from "vitest";
import { newerNode } from "./newer-node.ts";

const node = (uid: string, resourceVersion: string) => ({ metadata: { uid, resourceVersion } });

it.each([
  ["what is known, when the cache is behind", node("a", "9"), node("a", "10"), "known"],
  ["what was read, when it is newer", node("a", "11"), node("a", "10"), "read"],
  ["what was read, of another object", node("b", "9"), node("a", "10"), "read"],
  ["what was read, when versions are no numbers", node("a", "x9"), node("a", "10"), "read"],
  ["what was read, when nothing is known", node("a", "9"), undefined, "read"],
])("takes %s", (_what, read, known, expected) => {
  expect(newerNode(read, known)).toBe(expected === "known" ? known : read);
});
