import { expect, it } from "vitest";
import { computeProgramDirectory } from "./program-directory.ts";

it.each([
  ["the machine's cache", 0, { HOME: "/r", XDG_CACHE_HOME: "/c" }, "/var/cache/nodelet"],
  ["the user's cache", 1000, { HOME: "/h/u" }, "/h/u/.cache/nodelet"],
  ["where the user's caches are", 1000, { HOME: "/h/u", XDG_CACHE_HOME: "/c" }, "/c/nodelet"],
  ["no relative place", 1000, { HOME: "/h/u", XDG_CACHE_HOME: "c" }, "/h/u/.cache/nodelet"],
  ["what was asked for", 0, { HOME: "/r", NODELET_PROGRAM_DIRECTORY: "/opt/p" }, "/opt/p"],
  ["nothing that is empty", 0, { NODELET_PROGRAM_DIRECTORY: "" }, "/var/cache/nodelet"],
  ["the machine's cache without a home", 1000, {}, "/var/cache/nodelet"],
])("keeps the program's files in %s", (_, userId, environment, directory) => {
  expect(computeProgramDirectory(userId, environment)).toBe(directory);
});
