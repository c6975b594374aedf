import { describe, expect, test } from "vitest";
import type { Job, Pod, PodFailurePolicyRule, SuccessPolicyRule } from "../../../api/gen/types.ts";
import { parseIndexes } from "./completion-indexes.ts";
import { continueStreak, remainingBackOffMs } from "./job-back-off.ts";
import { judgeFailure, metSuccessRule } from "./job-policies.ts";

const AT = "2026-01-01T00:00:10Z";
const container = (name: string, exitCode: number, finishedAt = AT) => {
  const state = { terminated: { exitCode, finishedAt } };
  return { name, image: "i", imageID: "", ready: false, restartCount: 0, state };
};
const FAILED: Pod = {
  metadata: { name: "p", namespace: "a" },
  status: {
    phase: "Failed",
    conditions: [{ type: "DisruptionTarget", status: "True" }],
    containerStatuses: [container("main", 3), container("side", 0)],
    initContainerStatuses: [container("first", 9)],
  },
};

describe("a failed pod", () => {
  const codes = (operator: string, values: number[], containerName?: string): PodFailurePolicyRule => ({
    action: "FailJob",
    onExitCodes: { operator, values, ...(containerName && { containerName }) },
  });
  test.each<[string, PodFailurePolicyRule[], object]>([
    ["counts without a rule", [], { isCounted: true }],
    [
      "fits by a code that is listed",
      [codes("In", [1, 3])],
      { failsJob: "Container main for pod a/p failed with exit code 3 matching FailJob rule at index 0" },
    ],
    [
      "fits by a code that is not listed, which 0 never does",
      [codes("NotIn", [3])],
      { failsJob: "Container first for pod a/p failed with exit code 9 matching FailJob rule at index 0" },
    ],
    ["is judged by the container that is named", [codes("In", [3], "side")], { isCounted: true }],
    [
      "fits by a condition",
      [codes("In", [1]), { action: "FailJob", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
      { failsJob: "Pod a/p has condition DisruptionTarget matching FailJob rule at index 1" },
    ],
    [
      "is judged by the first rule that fits",
      [{ ...codes("In", [3]), action: "Ignore" }, codes("In", [3])],
      { action: "Ignore", isCounted: false },
    ],
    ["may fail its index", [{ ...codes("In", [3]), action: "FailIndex" }], { action: "FailIndex", isCounted: true }],
  ])("%s", (_case, rules, expected) => {
    expect(judgeFailure({ rules }, FAILED)).toMatchObject(expected);
  });
});

test.each<[string, SuccessPolicyRule, string | undefined]>([
  ["0-2", { succeededCount: 3 }, "Matched rules at index 0"],
  ["0-1", { succeededCount: 3 }, undefined],
  ["0-2", { succeededIndexes: "1-2" }, "Matched rules at index 0"],
  ["0-1", { succeededIndexes: "1-2" }, undefined],
  ["0-1", { succeededIndexes: "1-2", succeededCount: 1 }, "Matched rules at index 0"],
  ["", { succeededCount: 0 }, undefined],
])("with %j done, a job that needs %j: %s", (done, rule, expected) => {
  const job: Job = { spec: { template: {}, completions: 5, successPolicy: { rules: [rule] } } };
  expect(metSuccessRule(job, parseIndexes(done, 5))).toBe(expected);
});

describe("failures in a row", () => {
  const ended = (second: number): Pod => {
    const finishedAt = new Date(second * 1_000).toISOString();
    return { status: { containerStatuses: [container("main", 1, finishedAt)] } };
  };
  const before = { failures: 2, lastFailureAt: 5_000 };
  test.each<[string, number[], number[], object | undefined]>([
    ["go on", [], [8, 7], { failures: 4, lastFailureAt: 8_000 }],
    ["stay as they are when nothing ended", [], [], before],
    ["end with a success", [9], [], undefined],
    ["begin anew after a success", [7], [6, 8], { failures: 1, lastFailureAt: 8_000 }],
  ])("%s", (_case, successes, failures, expected) => {
    const news = { newSucceeded: successes.map(ended), newFailed: failures.map(ended) };
    expect(continueStreak(before, news)).toEqual(expected);
  });

  test.each([
    [1, 10_000],
    [2, 20_000],
    [7, 600_000],
    [99, 600_000],
  ])("after %d of them the job waits %d ms", (failures, waitMs) => {
    expect(remainingBackOffMs({ failures, lastFailureAt: 5_000 }, 5_000)).toBe(waitMs);
    expect(remainingBackOffMs({ failures, lastFailureAt: 5_000 }, 5_000 + waitMs)).toBe(0);
  });

  test("bears a clock that is a little behind, and waits for none that was set back", () => {
    const streak = { failures: 1, lastFailureAt: 100_000 };
    expect(remainingBackOffMs(streak, 98_000)).toBe(12_000);
    expect(remainingBackOffMs(streak, 20_000)).toBe(0);
  });
});
