import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { formatTime } from "../../../base/clock.ts";
import { remainingRefusalMs } from "./refusal-back-off.ts";

const NOW = Date.parse("2026-01-01T00:30:00Z");
const podOf = (secondsAgo: number, status: NonNullable<Pod["status"]>): Pod => ({
  metadata: { creationTimestamp: formatTime(NOW - secondsAgo * 1_000) },
  status,
});
const refused = (secondsAgo: number) => podOf(secondsAgo, { phase: "Failed", reason: "NodePorts" });
const ended = podOf(0, {
  phase: "Failed",
  containerStatuses: [{ name: "c", image: "i", imageID: "", ready: false, restartCount: 0 }],
});

it.each<[string, Pod[], number, number]>([
  ["no pod", [], 1, 0],
  ["a pod that ended by itself", [ended], 1, 0],
  ["the first refusal", [refused(0)], 1, 1_000],
  ["the fourth", [refused(9), refused(7), refused(3), refused(1)], 1, 7_000],
  ["the fourth, when its time has come", [refused(30), refused(29), refused(27), refused(20)], 1, 0],
  ["many", Array.from({ length: 40 }, () => refused(60)), 1, 240_000],
  ["one of three replicas", [refused(0)], 3, 0],
  ["all of three replicas", [refused(0), refused(0), refused(0)], 3, 1_000],
  ["refusals of long ago", [refused(700), refused(650)], 1, 0],
  ["a refusal of a clock that was set back since", [refused(-3_600)], 1, 0],
])("after %s the next round waits", (_case, pods, replicas, expected) => {
  expect(remainingRefusalMs(pods, replicas, NOW)).toBe(expected);
});
