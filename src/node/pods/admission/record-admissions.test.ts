import { expect, it } from "vitest";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import type { PodVerdict } from "./pod-admission.ts";
import { recordAdmissions } from "./record-admissions.ts";

it.each<[PodVerdict, string[]]>([
  [undefined, ["PodAdmitted"]],
  ["undecided", ["AdmissionWaits"]],
  [{ reason: "OutOfcpu", message: "no" }, []],
])("a verdict of %j is handed on, and recorded as %j", (verdict, told) => {
  const timeline = createTimeline(createFakeClock());
  const pod = { metadata: { namespace: "default", name: "web", uid: "u" }, spec: { containers: [] } };
  expect(recordAdmissions(() => verdict, timeline)(pod)).toBe(verdict);
  expect(timeline.read("u").map(({ reason }) => reason)).toEqual(told);
});
