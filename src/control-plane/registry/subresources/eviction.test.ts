import { expect, test } from "vitest";
import { isApiError } from "../../../api/api-error.ts";
import type { PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import { disruptedBudget, planDisruption } from "./eviction.ts";

const pod = (ready: "True" | "False", phase = "Running", metadata: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "a", labels: { app: "web" }, ...metadata },
  status: { phase, conditions: [{ type: "Ready", status: ready }] },
});
const budget = (
  status: PodDisruptionBudgetStatus,
  { name = "b", ...spec }: PodDisruptionBudgetSpec & { name?: string } = {},
): KubeObject => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name, namespace: "a", generation: 1 },
  spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } }, ...spec },
  status: { observedGeneration: 1, ...status },
});
const spent = { currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0 };
const free = { currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1 };
const failed = (reason: string, message: string) => ({
  ...spent,
  currentHealthy: 2,
  conditions: [{ type: "DisruptionAllowed", status: "False", reason, message, lastTransitionTime: "" }],
});

test.each<[string, KubeObject, KubeObject[], string]>([
  ["no budget selects the pod", pod("True"), [budget(spent, { selector: { matchLabels: { app: "x" } } })], "evict"],
  ["the pod is pending", pod("False", "Pending"), [budget(spent)], "evict"],
  ["the pod has ended", pod("False", "Failed"), [budget(spent)], "evict"],
  ["the pod is deleted", pod("True", "Running", { deletionTimestamp: "x" }), [budget(spent)], "evict"],
  ["the budget allows it", pod("True"), [budget(free)], "disrupt"],
  ["an unready pod is not what keeps a healthy budget", pod("False"), [budget(spent)], "evict-unready"],
  [
    "an unready pod may always go",
    pod("False"),
    [budget({ ...spent, currentHealthy: 0 }, { unhealthyPodEvictionPolicy: "AlwaysAllow" })],
    "evict-unready",
  ],
])("an eviction is allowed when %s", (_case, evicted, budgets, kind) => {
  expect(planDisruption(evicted, budgets).kind).toBe(kind);
});

const NEEDS = "The disruption budget b needs 1 healthy pods and has 1 currently";
const NOT_NOW = "The disruption budget b does not allow evicting pods currently";

test.each<[string, KubeObject, KubeObject, string, number | undefined]>([
  ["the budget is spent", pod("True"), budget(spent), NEEDS, undefined],
  [
    "the pod is unready, and too few others are healthy",
    pod("False"),
    budget({ ...spent, currentHealthy: 0 }),
    "The disruption budget b needs 1 healthy pods and has 0 currently",
    undefined,
  ],
  [
    "the budget's controller has not seen its last version",
    pod("True"),
    budget({ ...free, observedGeneration: 0 }),
    "The disruption budget b is still being processed by the server.",
    10,
  ],
  [
    "the budget could not be counted",
    pod("True"),
    budget(failed("SyncFailed", 'found no controllers for pod "p"')),
    `${NOT_NOW} because it failed sync: found no controllers for pod "p"`,
    undefined,
  ],
  ["the budget says why", pod("True"), budget(failed("Frozen", "no")), `${NOT_NOW} (Frozen): no`, undefined],
  ["the budget does not say why", pod("True"), budget(failed("Frozen", "")), NOT_NOW, undefined],
])("an eviction is refused when %s", (_case, evicted, claiming, message, retryAfterSeconds) => {
  const details = errorOf(() => planDisruption(evicted, [claiming]));
  expect(details).toMatchObject({
    code: 429,
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: { causes: [{ reason: "DisruptionBudget", message }] },
  });
  expect(details?.details.retryAfterSeconds).toBe(retryAfterSeconds);
});

test("two budgets of one pod are an error, and too many unconfirmed evictions are refused", () => {
  const both = [budget(free), budget(free, { name: "c" })];
  expect(errorOf(() => planDisruption(pod("True"), both))).toMatchObject({ code: 500 });
  const names = Array.from({ length: 2_001 }, (_, index) => [`p${index}`, "x"]);
  const crowded = budget({ ...free, disruptedPods: Object.fromEntries(names) });
  expect(errorOf(() => planDisruption(pod("True"), [crowded]))).toMatchObject({ code: 403 });
});

test("a disruption is counted at once", () => {
  expect(disruptedBudget(budget(free), "p", "2026-01-01T00:00:00Z")).toMatchObject({
    status: { disruptionsAllowed: 0, disruptedPods: { p: "2026-01-01T00:00:00Z" } },
  });
});

function errorOf(decide: () => unknown) {
  try {
    decide();
  } catch (error) {
    if (isApiError(error)) return error;
    throw error;
  }
  return undefined;
}
