import { expect, test } from "vitest";
import { createReadiness } from "./readiness.ts";

test("the API server is ready once the cluster's first objects are there", async () => {
  const readiness = createReadiness();
  expect(readiness.healthCheck.check()).toBe("the cluster's first objects are not there yet");
  readiness.reach();
  await readiness.reached;
  expect(readiness.isReached).toBe(true);
  expect(readiness.healthCheck.check()).toBeUndefined();
});
