import { expect, it } from "vitest";
import type { PodState } from "../../pods/workers/pod-state.ts";
import { emptyPodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { createRuntimeRemover } from "./remove-from-runtime.ts";

const pod = emptyPodRuntimeStatus({ uid: "1", name: "a", namespace: "b" }, 0);
const finished: PodState = {
  phase: "finished",
  subject: { kind: "pod", pod: { spec: { containers: [] } } },
  fullName: "",
  restartRequested: false,
  deleted: false,
  evicted: false,
  gracePeriodSeconds: 1,
  statusOverride: undefined,
};

it.each<[string, PodState | undefined, string[]]>([
  ["a pod that its worker keeps", finished, ["outdated", "removed", "outdated", "read"]],
  ["a pod that is forgotten meanwhile", undefined, ["outdated", "removed"]],
])("leaves no reading from before of %s", async (_, state, expected) => {
  const steps: string[] = [];
  const note = (step: string) => async () => void steps.push(step);
  const remove = createRuntimeRemover({
    cache: { invalidate: () => void steps.push("outdated") },
    pleg: { refresh: note("read") },
    pods: { remove: note("removed") },
    workers: { state: () => state },
  });
  await remove(pod, new AbortController().signal);
  expect(steps).toEqual(expected);
});
