import { describe, expect, it } from "vitest";
import type { Circumstances } from "../circumstances.ts";
import { type Measure, timed } from "../measure.ts";
import { formatRunFile, parseRunFile } from "./run-file.ts";

const circumstances: Circumstances = {
  date: "2026-01-02",
  runtimes: ["containerd 1.6.20"],
  node: "20.20.0",
  processor: "Some CPU",
  cpus: 2,
  kernel: "6.12.0",
  load: { start: 0.1, median: 1.5 },
  minutes: 20,
};

describe("run file", () => {
  it("reads what it wrote, but the rounds, to a thousandth", () => {
    const measure: Measure = { ...timed({ case: "single", name: "start" }, [1.23456]), rounds: [1.23456] };
    const { measures, ...read } = parseRunFile(formatRunFile({ circumstances, measures: [measure] }));
    expect(read.circumstances).toEqual(circumstances);
    expect(measures).toEqual([timed({ case: "single", name: "start" }, [1.235])]);
  });

  it("has a line a measure, so that two runs can be compared", () => {
    const measures = [1, 2].map((value) => timed({ case: "single", name: `start ${value}` }, [value]));
    expect(formatRunFile({ circumstances, measures }).trimEnd().split("\n")).toHaveLength(3);
  });

  it("refuses an empty file", () => {
    expect(() => parseRunFile("")).toThrow("no run");
  });
});
