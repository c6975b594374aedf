import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addResult, startTrack } from "./probe-track.ts";
import type { ProbeType } from "./probe-type.ts";

const KINDS: readonly ProbeType[] = ["startup", "readiness", "liveness"];

/** Results as letters, `s` or `f`; verdicts as letters too, `u` for unknown, and `!` where the probe is over. */
function follow(
  kind: ProbeType,
  results: string,
  thresholds: { successThreshold?: number; failureThreshold?: number },
) {
  let track = startTrack(kind);
  return [...results]
    .map((letter) => {
      track = addResult(track, letter === "s" ? "success" : "failure", { kind, probe: thresholds });
      return `${track.verdict.slice(0, 1)}${track.isOver ? "!" : ""}`;
    })
    .join(" ");
}

describe("a verdict", () => {
  it.each<[ProbeType, string, [success: number, failure: number], string]>([
    ["readiness", "s", [1, 3], "s"],
    ["readiness", "ss", [2, 1], "f s"],
    ["readiness", "sfss", [2, 3], "f f f s"],
    ["readiness", "sffsff", [1, 2], "s s f s s f"],
    ["readiness", "sff", [1, 3], "s s s"],
    ["liveness", "fff", [1, 3], "s s f!"],
    ["liveness", "ffsff", [1, 3], "s s s s s"],
    ["startup", "ffs", [1, 30], "u u s!"],
    ["startup", "ff", [1, 2], "u f!"],
  ])("of %s after %s with thresholds %j: %s", (kind, results, [successThreshold, failureThreshold], expected) => {
    expect(follow(kind, results, { successThreshold, failureThreshold })).toBe(expected);
  });

  it("has the API's thresholds where none are given", () => {
    expect(follow("readiness", "sfff", {})).toBe("s s s f");
  });

  it("is not ready, alive and unknown before the first result, unless more is known", () => {
    expect(KINDS.map((kind) => startTrack(kind).verdict)).toEqual(["unknown", "failure", "success"]);
    expect(startTrack("readiness", "success")).toMatchObject({ verdict: "success", isOver: false });
    expect(startTrack("startup", "success")).toMatchObject({ verdict: "success", isOver: true });
  });

  it("changes with nothing less than its threshold of results in a row", () => {
    const results = fc.array(fc.constantFrom<"success" | "failure">("success", "failure"), { maxLength: 40 });
    const threshold = fc.integer({ min: 1, max: 5 });
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), results, threshold, threshold, (kind, all, success, failure) => {
        const probe = { successThreshold: success, failureThreshold: failure };
        let track = startTrack(kind);
        for (const [index, result] of all.entries()) {
          if (track.isOver) return;
          const next = addResult(track, result, { kind, probe });
          if (next.verdict !== track.verdict) {
            const needed = result === "success" ? success : failure;
            const newest = all.slice(Math.max(0, index + 1 - needed), index + 1);
            expect(newest).toEqual(Array.from({ length: needed }, () => result));
            expect(next.verdict).toBe(result);
          }
          track = next;
        }
      }),
    );
  });
});
