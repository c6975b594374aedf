import { expect, it } from "vitest";
import { createStatusz } from "./statusz.ts";

it("says since when the node agent runs, and what it is", () => {
  const startedAt = Date.UTC(2026, 10, 2, 0, 22, 58);
  const clock = { now: () => startedAt + ((26 * 60 + 3) * 60 + 7) * 1_000 + 999 };
  const page = createStatusz(clock, { startedAt, version: "v1.36.2+nodelet.1.2.3", paths: ["/pods", "/configz"] })();
  expect(page.status).toBe(200);
  expect(page.body.split("\n").slice(4, -1)).toEqual([
    "Started:  Mon Nov  2 00:22:58 UTC 2026",
    "Up:  26 hr 03 min 07 sec",
    "Go version:  none",
    "Binary version:  1.36.2+nodelet.1.2.3",
    "Emulation version:  1.36",
    "Paths:  /configz /pods",
  ]);
  expect(page.body).toMatch(/^\nkubelet statusz\nWarning: This endpoint is not meant to be machine parseable/);
});
