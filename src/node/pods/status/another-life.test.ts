import { expect, it } from "vitest";
import type { PodStatus } from "../../../api/gen/types.ts";
import { isAnotherLife } from "./another-life.ts";

const status = (phase: string, restartCount: number): PodStatus => ({
  phase,
  containerStatuses: [{ name: "main", image: "", imageID: "", ready: false, restartCount }],
});

it.each<[name: string, told: PodStatus, known: PodStatus, expected: boolean]>([
  ["the same is said", status("Running", 1), status("Running", 1), false],
  ["a restart is not told yet", status("Running", 1), status("Running", 2), false],
  ["the end is not told yet", status("Running", 1), status("Succeeded", 1), false],
  ["nothing was told yet", {}, status("Pending", 0), false],
  ["the node does not speak of a container", status("Running", 1), { phase: "Pending" }, false],
  ["a restart was told that there was not", status("Running", 1), status("Running", 0), true],
  ["an end was told of what runs", status("Failed", 0), status("Running", 0), true],
])("of an earlier life, where %s: %#", (_name, told, known, expected) => {
  expect(isAnotherLife(told, known)).toBe(expected);
});
