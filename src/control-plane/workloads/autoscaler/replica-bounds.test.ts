import { expect, it } from "vitest";
import type { HPAScalingRules } from "../../../api/gen/types.ts";
import { MINUTE, SECOND } from "../../../base/clock.ts";
import { type BoundsInput, boundReplicas } from "./replica-bounds.ts";
import { beginHistory, withScaleChange } from "./scaling-history.ts";

// These are the cases of upstream's horizontal_test.go.
const NOW = Date.parse("2026-01-01T12:00:00Z");

function bound(changes: Partial<BoundsInput>) {
  const { replicas, ableToScale, scalingLimited, history } = boundReplicas({
    currentReplicas: 5,
    recommended: 5,
    minReplicas: 1,
    maxReplicas: 1000,
    behavior: undefined,
    history: { recommendations: [], ups: [], downs: [] },
    downscaleStabilizationMs: 5 * MINUTE,
    now: NOW,
    ...changes,
  });
  return { replicas, able: ableToScale.reason, limited: scalingLimited.reason, history };
}

/** From how many replicas to how many, of at least and at most how many. */
type Sizes = readonly [current: number, recommended: number, min: number, max: number];

const sizesOf = ([currentReplicas, recommended, minReplicas, maxReplicas]: Sizes) => {
  return { currentReplicas, recommended, minReplicas, maxReplicas };
};

it.each<[Sizes, number, string]>([
  [[5, 7, 3, 8], 7, "DesiredWithinRange"],
  [[3, 1, 2, 8], 2, "TooFewReplicas"],
  [[20, 1000, 1, 10], 10, "TooManyReplicas"],
  [[3, 1000, 1, 2000], 6, "ScaleUpLimit"],
  [[1, 1000, 1, 2000], 4, "ScaleUpLimit"],
])("without rules, of %j makes %i: %s", (sizes, replicas, reason) => {
  expect(bound(sizesOf(sizes))).toMatchObject({ replicas, limited: reason });
});

const ago = (minutes: number, replicas: number) => ({ replicas, at: NOW - minutes * MINUTE });
const recommended = (...recommendations: ReadonlyArray<{ replicas: number; at: number }>) => {
  return { recommendations, ups: [], downs: [] };
};

it.each<[string, ReturnType<typeof recommended>, number, number]>([
  ["nothing", recommended(), 5, 5],
  ["higher ones", recommended(ago(2, 4), ago(1, 5)), 3, 5],
  ["lower ones", recommended(ago(2, 1), ago(1, 2)), 3, 3],
  ["higher ones of long ago", recommended(ago(10, 10), ago(9, 9)), 3, 3],
  ["both", recommended(ago(10, 10), ago(1, 4), ago(2, 5), ago(9, 9)), 3, 5],
])("recommended before was %s", (_what, history, wanted, replicas) => {
  expect(bound({ currentReplicas: 10, recommended: wanted, history }).replicas).toBe(replicas);
});

it.each<[string, ReturnType<typeof recommended>, readonly [number, number], readonly [number, number], number]>([
  ["nothing to go by", recommended(), [100, 5], [0, 0], 5],
  ["down to the highest", recommended(ago(2, 4), ago(1, 5)), [100, 3], [0, 180], 5],
  ["up to the lowest", recommended(ago(2, 4), ago(1, 5)), [1, 7], [300, 0], 4],
  ["down, above all", recommended(ago(2, 1), ago(1, 2)), [100, 3], [300, 0], 3],
  ["up, below all", recommended(ago(2, 4), ago(1, 5)), [1, 3], [0, 300], 3],
  ["down to the highest of late", recommended(ago(10, 10), ago(1, 4), ago(2, 5), ago(9, 9)), [100, 3], [0, 180], 5],
  ["up to the lowest of late", recommended(ago(100, 10), ago(1, 6), ago(2, 5), ago(3, 9)), [1, 100], [300, 0], 5],
  ["not up when it goes down", recommended(ago(100, 2), ago(3, 3)), [2, 1], [300, 300], 2],
  ["not down when it goes up", recommended(ago(100, 2), ago(3, 1)), [2, 3], [300, 300], 2],
])("waits: %s", (_what, history, [current, wanted], [up, down], replicas) => {
  const policies = [{ type: "Pods", value: 1000, periodSeconds: 60 }];
  const behavior = {
    scaleUp: { stabilizationWindowSeconds: up, policies },
    scaleDown: { stabilizationWindowSeconds: down, policies },
  };
  expect(bound({ currentReplicas: current, recommended: wanted, history, behavior }).replicas).toBe(replicas);
});

/** Rules of so many pods and so many percent in so many seconds, of which none is 0. */
function rules(pods: number, podSeconds: number, percent = 0, percentSeconds = 60): HPAScalingRules {
  const policies = [
    { type: "Pods", value: pods, periodSeconds: podSeconds },
    { type: "Percent", value: percent, periodSeconds: percentSeconds },
  ];
  return { stabilizationWindowSeconds: 0, policies: policies.filter(({ value }) => value > 0) };
}

/** Changes that lie evenly in the time before now. */
function changes(counts: readonly number[], seconds: number) {
  const step = (seconds * SECOND) / (counts.length + 1);
  return counts.map((by, index) => ({ by, at: NOW - (index + 1) * step }));
}

const DEFAULT_UP = rules(4, 15, 100, 15);
const DEFAULT_DOWN = rules(0, 0, 100, 15);
const percent = (share: number, seconds = 60) => rules(0, 0, share, seconds);

it.each<[Sizes, HPAScalingRules, readonly number[], readonly [number, string]]>([
  [[3, 1000, 1, 2000], percent(1), [], [4, "ScaleUpLimit"]],
  [[10, 50, 1, 1000], DEFAULT_UP, [], [20, "ScaleUpLimit"]],
  [[100, 1000, 100, 150], DEFAULT_UP, [], [150, "TooManyReplicas"]],
  [[10, 500, 1, 1000], rules(100, 60, 100, 60), [], [110, "ScaleUpLimit"]],
  [[10, 500, 1, 1000], rules(2, 60, 100, 60), [], [20, "ScaleUpLimit"]],
  [[10, 50, 1, 1000], rules(100, 60), [], [50, "DesiredWithinRange"]],
  [[10, 50, 1, 1000], rules(30, 60), [], [40, "ScaleUpLimit"]],
  [[10, 50, 1, 1000], percent(200), [], [30, "ScaleUpLimit"]],
  [[100, 500, 1, 200], rules(300, 60), [1, 5, 9], [200, "TooManyReplicas"]],
  [[100, 500, 1, 1000], rules(5, 120), [1, 5, 9], [100, "ScaleUpLimit"]],
  [[100, 500, 1, 1000], rules(150, 120), [1, 5, 9], [235, "ScaleUpLimit"]],
  [[100, 500, 1, 1000], percent(200, 120), [1, 5, 9], [255, "ScaleUpLimit"]],
  [[100, 200, 1, 1000], rules(1000, 60), [8, 12, 9, 11], [200, "DesiredWithinRange"]],
  [[10, 50, 1, 1000], { ...DEFAULT_UP, selectPolicy: "Min" }, [], [14, "ScaleUpLimit"]],
  [[10, 50, 1, 1000], { ...DEFAULT_UP, selectPolicy: "Disabled" }, [], [10, "ScaleUpLimit"]],
])("with rules, up by %j, %j after %j: %j", (sizes, scaleUp, ups, [replicas, limited]) => {
  const history = { recommendations: [], ups: changes(ups, 120), downs: [] };
  const behavior = { scaleUp, scaleDown: DEFAULT_DOWN };
  expect(bound({ ...sizesOf(sizes), behavior, history })).toMatchObject({ replicas, limited });
});

it.each<[Sizes, HPAScalingRules, readonly number[], readonly [number, string]]>([
  [[1000, 3, 3, 2000], rules(20, 60), [], [980, "ScaleDownLimit"]],
  [[100, 2, 1, 1000], rules(20, 60, 1, 60), [], [80, "ScaleDownLimit"]],
  [[100, 2, 1, 1000], rules(2, 60, 1, 60), [], [98, "ScaleDownLimit"]],
  [[10, 0, 1, 1000], rules(100, 60), [], [1, "TooFewReplicas"]],
  [[10, 2, 5, 1000], percent(100), [], [5, "TooFewReplicas"]],
  [[10, 2, 1, 1000], rules(5, 60), [], [5, "ScaleDownLimit"]],
  [[10, 5, 1, 1000], percent(50), [], [5, "DesiredWithinRange"]],
  [[10, 5, 1, 1000], DEFAULT_DOWN, [1, 5, 9], [5, "DesiredWithinRange"]],
  [[100, 0, 1, 1000], rules(115, 120), [1, 5, 9], [1, "TooFewReplicas"]],
  [[100, 2, 1, 1000], rules(5, 120), [1, 5, 9], [100, "ScaleDownLimit"]],
  [[100, 0, 1, 1000], percent(50, 120), [2, 4, 6], [56, "ScaleDownLimit"]],
  [[100, 0, 1, 1000], percent(10, 120), [10, 10, 10], [100, "ScaleDownLimit"]],
  [[10, 5, 1, 1000], percent(1000, 120), [10, 10, 10], [5, "DesiredWithinRange"]],
  [[10, 1, 1, 1000], { ...rules(5, 60, 20, 60), selectPolicy: "Min" }, [], [8, "ScaleDownLimit"]],
  [[10, 1, 1, 1000], { ...DEFAULT_DOWN, selectPolicy: "Disabled" }, [], [10, "ScaleDownLimit"]],
])("with rules, down by %j, %j after %j: %j", (sizes, scaleDown, downs, [replicas, limited]) => {
  const history = { recommendations: [], ups: [], downs: changes(downs, 120) };
  const behavior = { scaleUp: DEFAULT_UP, scaleDown };
  expect(bound({ ...sizesOf(sizes), behavior, history })).toMatchObject({ replicas, limited });
});

it("looks at the scale before all changes of the period, up and down", () => {
  const behavior = { scaleUp: percent(300, 300), scaleDown: percent(50, 180) };
  const up = { recommendations: [], ups: changes([4], 120), downs: changes([2], 120) };
  expect(bound({ ...sizesOf([6, 24, 1, 1000]), behavior, history: up }).replicas).toBe(16);
  const down = { recommendations: [], ups: changes([2], 120), downs: changes([4], 120) };
  expect(bound({ ...sizesOf([10, 1, 1, 1000]), behavior, history: down }).replicas).toBe(6);
});

it("says when what was recommended holds it back", () => {
  const higher = recommended(ago(1, 8));
  expect(bound({ currentReplicas: 8, history: higher })).toMatchObject({ able: "ScaleDownStabilized", replicas: 8 });
  expect(bound({})).toMatchObject({ able: "ReadyForNewScale", limited: "DesiredWithinRange" });
});

it("forgets what nothing looks back to", () => {
  const old = recommended(ago(10, 10), ago(6, 9), ago(1, 4));
  expect(bound({ recommended: 3, history: old }).history.recommendations).toEqual([ago(1, 4), ago(0, 3)]);
  const both = { up: rules(1, 60), down: rules(1, 30) };
  const first = withScaleChange(beginHistory(1, NOW), { from: 1, to: 3, at: NOW - 2 * MINUTE }, both);
  const second = withScaleChange(first, { from: 3, to: 4, at: NOW }, both);
  expect(second.ups).toEqual([{ by: 1, at: NOW }]);
  expect(withScaleChange(second, { from: 4, to: 2, at: NOW }, both).downs).toEqual([{ by: 2, at: NOW }]);
});
