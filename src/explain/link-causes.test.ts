import { expect, it } from "vitest";
import type { TimelineRecord } from "../base/timeline.ts";
import { linkCauses } from "./link-causes.ts";

const POD = { namespace: "default", name: "web", uid: "u" };
const record = (reason: string, message = "", more: Partial<TimelineRecord> = {}): TimelineRecord => {
  return { pod: POD, at: 1, firstAt: 1, count: 1, type: "Warning", reason, message, container: "main", ...more };
};
const ofPod = (reason: string, more: Partial<TimelineRecord> = {}): TimelineRecord => {
  const { container: _of, ...whole } = record(reason, "", more);
  return whole;
};
/** What the last record follows from, the nearest first. */
const chainOf = (...records: TimelineRecord[]) => {
  return (linkCauses(records).at(-1)?.causes ?? []).map(({ reason }) => reason);
};
const exited = (message = "Container ended with exit code 137") => record("Exited", message);

it("an end by eviction leads by the pressure to the reading", () => {
  const told = ["EvictionRank", "MemoryPressure", "Reading"].map((reason) => ({ reason, message: "", at: 1 }));
  const chain = chainOf(
    record("Started"),
    ofPod("Evicted", { causes: told }),
    record("Killing", "Stopping container main"),
    exited(),
  );
  expect(chain).toEqual(["Killing", "Evicted", "EvictionRank", "MemoryPressure", "Reading"]);
});

it("a restart leads by the stop to the probe that failed", () => {
  const chain = chainOf(
    record("Started"),
    record("ProbeVerdict", "Liveness probe failed 3 times in a row"),
    record("Killing", "Container main failed liveness probe, will be restarted"),
    exited(),
    record("BackOff"),
  );
  expect(chain).toEqual(["Exited", "Killing", "ProbeVerdict"]);
});

it.each([["before"], ["after"]])("an end by the kernel leads to the peak of memory that is recorded %s it", (when) => {
  const end = exited("Container ended with exit code 137: OOMKilled");
  const peak = record("MemoryPeak", "at 24Mi");
  const records =
    when === "before" ? [record("Started"), peak, end] : [record("Started"), end, record("BackOff"), peak];
  const linked = linkCauses(records).find(({ reason }) => reason === "Exited");
  expect(linked?.causes).toEqual([{ reason: "MemoryPeak", message: "at 24Mi", at: 1 }]);
});

it("does not blame an end for what led to the one before it, nor a container for another", () => {
  const stop = record("Killing", "Container main failed liveness probe");
  expect(chainOf(record("Started"), stop, exited(), record("Started"), exited())).toEqual([]);
  expect(chainOf(record("Started"), { ...stop, container: "other" }, exited())).toEqual([]);
  expect(chainOf(record("ProbeVerdict"), record("Killing", "Stopping container failed-probe"))).toEqual([]);
});

it("a hook that fails, and who wants the pod no more, are causes of stops", () => {
  expect(chainOf(record("FailedPostStartHook"), record("Killing", "FailedPostStartHook"))).toEqual([
    "FailedPostStartHook",
  ]);
  expect(chainOf(ofPod("PodRemoved"), record("Killing", "Stopping container main"))).toEqual(["PodRemoved"]);
});

it("bounds a chain", () => {
  const causes = Array.from({ length: 20 }, (_, at) => ({ reason: `${at}`, message: "", at }));
  expect(chainOf(ofPod("Evicted", { causes }))).toHaveLength(8);
});
