import { expect, test } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { createTtlAfterFinished } from "./ttl-after-finished.ts";

function job(name: string, ttlSecondsAfterFinished?: number, condition?: string): KubeObject {
  const at = "2026-01-01T00:00:00Z";
  const conditions = condition === undefined ? [] : [{ type: condition, status: "True", lastTransitionTime: at }];
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace: "a" },
    spec: { template: {}, ...(ttlSecondsAfterFinished !== undefined && { ttlSecondsAfterFinished }) },
    status: { conditions },
  };
}

test("jobs that have ended go when their time is over, and take their pods along", async () => {
  const { start, deps, create, clock, reader } = createControllerBench();
  start(createTtlAfterFinished(deps));
  await create("jobs.batch", job("done", 60, "Complete"));
  await create("jobs.batch", job("lost", 120, "Failed"));
  await create("jobs.batch", job("kept", undefined, "Complete"));
  await create("jobs.batch", job("runs", 0));
  await create("jobs.batch", job("ending", 0, "SuccessCriteriaMet"));
  // The garbage collector would take the finalizer off when the pods are gone.
  const deleted = () => {
    const marked = reader.list("jobs.batch").filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    return marked.map(({ metadata }) => `${metadata.name} ${metadata.finalizers?.join()}`);
  };
  await clock.advance(59_000);
  expect(deleted()).toEqual([]);
  await clock.advance(1_000);
  expect(deleted()).toEqual(["done foregroundDeletion"]);
  await clock.advance(60_000);
  expect(deleted()).toEqual(["done foregroundDeletion", "lost foregroundDeletion"]);
  await clock.advance(3_600_000);
  expect(deleted()).toHaveLength(2);
});

test("a job whose deletion is refused goes later, also when the clock is set back meanwhile", async () => {
  const { start, deps, create, clock, reader } = createControllerBench();
  let refusals = 1;
  const remove: typeof deps.writer.remove = async (...order) => {
    if (refusals === 0) return await deps.writer.remove(...order);
    refusals -= 1;
    clock.jumpWallClock(-30_000);
    throw new ApiError("InternalError", "refused for once");
  };
  start(createTtlAfterFinished({ ...deps, writer: { ...deps.writer, remove } }));
  await create("jobs.batch", job("done", 60, "Complete"));
  const isEnding = () => reader.list("jobs.batch").some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  await clock.advance(89_000);
  expect(isEnding()).toBe(false);
  await clock.advance(2_000);
  expect(isEnding()).toBe(true);
});
