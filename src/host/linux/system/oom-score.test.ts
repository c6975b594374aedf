import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { setOwnOomScore } from "./oom-score.ts";

it("the score that the process has may be set again, and no score beyond 1000", async () => {
  const path = "/proc/self/oom_score_adj";
  const score = (await readFile(path, "utf8")).trim();
  await setOwnOomScore(Number(score));
  await expect(setOwnOomScore(1001)).rejects.toMatchObject({ code: "EINVAL" });
  expect((await readFile(path, "utf8")).trim()).toBe(score);
});
