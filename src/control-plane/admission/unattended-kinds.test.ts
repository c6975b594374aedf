import { expect, it } from "vitest";
import { requestFor } from "./__fixtures__/admission-bench.ts";
import { createUnattendedKinds } from "./unattended-kinds.ts";

function warningsOf(...targets: string[]): string[] {
  const plugin = createUnattendedKinds();
  const warnings: string[] = [];
  for (const target of targets) plugin.validate?.(requestFor(target, { warn: (text) => warnings.push(text) }));
  return warnings;
}

it("says once for each kind that its controller is not here", () => {
  const warnings = warningsOf("deployments.apps", "deployments.apps", "jobs.batch");
  expect(warnings).toEqual([
    "nodelet has no controller for deployments.apps: the object is stored, but no replica sets and no pods are made of it unless you run one",
    "nodelet has no controller for jobs.batch: the object is stored, but no pods are made of it unless you run one",
  ]);
});

it("says nothing about kinds that need no controller, and about changes", () => {
  expect(warningsOf("pods", "configmaps", "deployments.apps/scale")).toEqual([]);
});
