import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { target as careless } from "./__fixtures__/careless-target.ts";
import { target as endless } from "./__fixtures__/endless-target.ts";
import { target as hoarding } from "./__fixtures__/hoarding-target.ts";
import { target as hungry } from "./__fixtures__/hungry-target.ts";
import { DEFAULT_BATCH } from "./target.ts";
import { jsonTarget } from "./targets/json.ts";
import { watchChild } from "./watch-child.ts";

const work = mkdtempSync(join(tmpdir(), "nodelet-fuzz-test-"));
afterAll(() => rmSync(work, { recursive: true }));

const placeOf = (fixture: string) => new URL(`__fixtures__/${fixture}-target.ts`, import.meta.url).href;

/** The fixture's target, until it has done what it does; a minute is more than it needs. */
async function watch(fixture: string, silentBusyMs: number) {
  return await watchChild(
    { target: placeOf(fixture), seed: 1, forMs: 60_000, currentFile: join(work, "current") },
    { silentBusyMs, heapMegabytes: 96 },
  );
}

it.each([
  ["runs in circles", endless.name, "hang", "no end after", 3_000],
  ["runs out of memory", hungry.name, "crash", "heap out of memory", 100_000],
  ["leaves a promise rejected", careless.name, "crash", "nobody looks", 100_000],
])("a process that %s is a finding, with the input that did it", async (...[, fixture, kind, words, silentBusyMs]) => {
  const { findings, result } = await watch(fixture, silentBusyMs);
  expect(findings.map(({ verdict }) => verdict.kind)).toEqual([kind]);
  expect(findings[0]?.verdict.message).toContain(words);
  expect(findings[0]?.input.toString("latin1")).toMatch(/^\{/);
  expect(result).toBeUndefined();
});

it("a process that keeps something of each input is a finding", async () => {
  const assignment = { target: placeOf(hoarding.name), seed: 1, forMs: 0, runs: 1, currentFile: join(work, "current") };
  const { findings } = await watchChild(assignment);
  expect(findings.map(({ verdict }) => verdict.kind)).toEqual(["memory"]);
});

it.each([
  ["asked for", 2 * DEFAULT_BATCH, 2 * DEFAULT_BATCH],
  ["the target says", "fixed" as const, jsonTarget.runs],
])("a process makes as many inputs as %s, however little time it has", async (_who, runs, expected) => {
  const currentFile = join(work, "current");
  const { findings, result } = await watchChild({ target: "json", seed: 1, forMs: 0, runs, currentFile });
  expect(findings).toEqual([]);
  expect(result?.runs).toBe(expected);
});
