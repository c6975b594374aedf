import { isDeepStrictEqual } from "node:util";
import type { PodDisruptionBudgetStatus } from "../../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed } from "../../../api/object.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../../control-loop/controller.ts";
import { lenientSelectorOf } from "../../control-loop/lenient-selector.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createEventRecorder, type EventRecorder } from "../../control-loop/record-events.ts";
import { createWorkQueue, type WorkQueue } from "../../control-loop/work-queue.ts";
import { computeBudgetStatus, countBudget, failedBudgetStatus } from "./budget-status.ts";
import { computeExpectation, type ReadScale } from "./expected-pods.ts";

const BUDGETS = "poddisruptionbudgets.policy";

interface BudgetKeeper extends ControllerDeps {
  events: EventRecorder;
  readScale: ReadScale;
}

type StoredBudget = ObjectOf<"PodDisruptionBudget">;

/**
 * Keeps the status of disruption budgets, by which evictions are allowed (`pkg/controller/disruption`). A budget is
 * counted again whenever one of its pods changes.
 */
export function createDisruptionBudgets(deps: ControllerDeps & { readScale: ReadScale }): Controller {
  const { feed, reader } = deps;
  const events = createEventRecorder(deps, "controllermanager");
  const keeper: BudgetKeeper = { ...deps, events };
  const queue: WorkQueue = createWorkQueue(deps, { name: "disruption", reconcile: (key) => reconcile(keeper, key) });
  const wakeFor = (pod: KubeObject) => {
    for (const budget of reader.list(BUDGETS, pod.metadata.namespace ?? "")) {
      if (selects(typed("PodDisruptionBudget", budget), pod)) queue.add(namespacedKeyOf(budget.metadata));
    }
  };
  const follow = () => [
    feed.follow(BUDGETS, ({ type, object }) => {
      if (type !== "DELETED") queue.add(namespacedKeyOf(object.metadata));
    }),
    feed.follow("pods", ({ object, previous }) => {
      wakeFor(object);
      if (previous !== undefined) wakeFor(previous);
    }),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

function selects({ spec }: StoredBudget, { metadata }: KubeObject): boolean {
  return lenientSelectorOf(spec?.selector).matches(metadata.labels);
}

async function reconcile(keeper: BudgetKeeper, key: string): Promise<number | undefined> {
  const { reader, clock, events, readScale } = keeper;
  const object = reader.get({ resource: BUDGETS, ...splitNamespacedKey(key) });
  if (object === undefined) return undefined;
  const budget = typed("PodDisruptionBudget", object);
  const { spec = {}, status = {}, metadata } = budget;
  const pods = reader
    .list("pods", metadata.namespace ?? "")
    .filter((pod) => selects(budget, pod))
    .map((pod) => typed("Pod", pod));
  if (pods.length === 0) tell(keeper, budget, { reason: "NoPods", message: "No matching pods found" });
  const now = clock.now();
  const expectation = computeExpectation(spec, pods, readScale);
  if (expectation.kind === "failed") {
    const message = `Failed to calculate the number of expected pods: ${expectation.message}`;
    events.record({ about: budget, type: "Warning", reason: "CalculateExpectedPodCountFailed", message });
    await writeStatus(keeper, budget, failedBudgetStatus(status, expectation.message, now));
    return undefined;
  }
  const { unmanaged } = expectation;
  if (unmanaged.length > 0) tell(keeper, budget, { reason: "UnmanagedPods", message: unmanagedMessage(budget) });
  const count = countBudget(pods, status.disruptedPods ?? {}, now);
  for (const pod of pods.filter((candidate) => count.notDeleted.includes(candidate.metadata.name ?? ""))) {
    const message = `Pod was expected by PDB ${key} to be deleted but it wasn't`;
    events.record({ about: pod, type: "Warning", reason: "NotDeleted", message });
  }
  const { pods: expected, healthy: desired } = expectation;
  const numbers = { count, expected, desired, generation: metadata.generation ?? 0 };
  await writeStatus(keeper, budget, computeBudgetStatus(status, numbers, now));
  return count.nextCheckMs;
}

function tell(
  { events }: BudgetKeeper,
  about: StoredBudget,
  { reason, message }: { reason: "NoPods" | "UnmanagedPods"; message: string },
): void {
  events.record({ about, type: reason === "NoPods" ? "Normal" : "Warning", reason, message });
}

function unmanagedMessage({ spec }: StoredBudget): string {
  const selector = lenientSelectorOf(spec?.selector).toString();
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. ` +
    "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
  );
}

/** Writes into the version that was counted, so that no eviction that was allowed meanwhile is forgotten. */
async function writeStatus(
  { writer }: BudgetKeeper,
  budget: StoredBudget,
  status: PodDisruptionBudgetStatus,
): Promise<void> {
  if (isDeepStrictEqual(budget.status, status)) return;
  await unlessOvertaken(writer.update(BUDGETS, { ...budget, status }, "status"));
}
