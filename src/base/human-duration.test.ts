import { expect, it } from "vitest";
import { formatHumanDuration } from "./human-duration.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

it.each([
  [-5_000, "<invalid>"],
  [-500, "0s"],
  [0, "0s"],
  [119_999, "119s"],
  [2 * MINUTE, "2m"],
  [2 * MINUTE + 5_000, "2m5s"],
  [10 * MINUTE + 30_000, "10m"],
  [179 * MINUTE, "179m"],
  [3 * HOUR, "3h"],
  [3 * HOUR + 20 * MINUTE, "3h20m"],
  [8 * HOUR + 20 * MINUTE, "8h"],
  [47 * HOUR, "47h"],
  [2 * DAY + 3 * HOUR, "2d3h"],
  [8 * DAY + 3 * HOUR, "8d"],
  [2 * 365 * DAY, "2y"],
  [2 * 365 * DAY + 7 * DAY, "2y7d"],
  [9 * 365 * DAY + 7 * DAY, "9y"],
])("prints %d ms as kubectl does: %s", (ms, text) => {
  expect(formatHumanDuration(ms)).toBe(text);
});
