import { expect, it } from "vitest";
import type { AdmissionPlugin } from "../ports/request.ts";
import { requestFor } from "./__fixtures__/admission-bench.ts";
import { createUnattendedKinds } from "./unattended-kinds.ts";

function warningsOf(...targets: string[]): string[] {
  return warningsBy(createUnattendedKinds(), ...targets);
}

function warningsBy(plugin: AdmissionPlugin, ...targets: string[]): string[] {
  const warnings: string[] = [];
  for (const target of targets) plugin.validate?.(requestFor(target, { warn: (text) => warnings.push(text) }));
  return warnings;
}

it("says of each object of such a kind that its controller is not here", () => {
  const warnings = warningsOf("ingresses.networking.k8s.io");
  expect(warnings).toEqual([
    "nodelet has no controller for ingresses.networking.k8s.io: the object is stored, but no traffic is routed by it unless you run one",
  ]);
});

it("says nothing about kinds that need no controller, and about changes", () => {
  expect(warningsOf("pods", "configmaps", "deployments.apps/scale", "horizontalpodautoscalers.autoscaling")).toEqual(
    [],
  );
});

it("tells of network policies only where no proxy of ours keeps to them", () => {
  expect(warningsOf("networkpolicies.networking.k8s.io")).toEqual([expect.stringContaining("no traffic is filtered")]);
  expect(warningsBy(createUnattendedKinds({ networkPolicies: true }), "networkpolicies.networking.k8s.io")).toEqual([]);
});
