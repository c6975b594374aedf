import { type KubeObject, type ObjectOf, typed, untyped } from "../../../api/object.ts";
import { isEqualJson } from "../../../api/patch/json-value.ts";
import { MINUTE, SECOND } from "../../../base/clock.ts";
import { type Controller, type ControllerDeps, runFollowingWithEvents } from "../../control-loop/controller.ts";
import { lenientSelectorOf } from "../../control-loop/lenient-selector.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createEventRecorder, type EventRecorder } from "../../control-loop/record-events.ts";
import { soonest } from "../../control-loop/soonest.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";
import type { ResourceEvent } from "../../ports/resources.ts";
import { claimDependents } from "../pod-control/claim-dependents.ts";
import { isControlledBy } from "../pod-control/controller-ref.ts";
import { createFailureTurns, type FailureTurns } from "../pod-control/failure-turns.ts";
import { followDependents } from "../pod-control/follow-dependents.ts";
import { createPodControl, type PodControl } from "../pod-control/pod-control.ts";
import { computeNextAvailableMs } from "../pod-control/pod-standing.ts";
import { callTogether, runSlowStart } from "../pod-control/slow-start.ts";
import { ensureNewestRevision, REVISIONS, truncateHistory } from "../revisions/revision-history.ts";
import { DAEMON_HASH_LABEL, podOfDaemonSet } from "./daemon-pod.ts";
import { computeDaemonSetStatus } from "./daemon-set-status.ts";
import { judgeNode } from "./node-eligibility.ts";
import { type DaemonPod, type DaemonView, planDaemonPods, planDaemonUpdate, viewDaemonSet } from "./plan-daemon-set.ts";

const SETS = "daemonsets.apps";
/** So many pods are made or deleted before the set is looked at again. */
const MAX_PODS_AT_ONCE = 250;
/** How long a failed pod stays before it is deleted: after one failure on its node, and at most. */
const FAILURE_DELAYS = { initialMs: SECOND, maxMs: 15 * MINUTE };

type StoredSet = ObjectOf<"DaemonSet">;
type DaemonDeps = ControllerDeps & {
  readonly events: EventRecorder;
  readonly control: PodControl;
  readonly failures: FailureTurns;
};

/** Keeps one pod of each daemon set on each node that should have it (`pkg/controller/daemon`). */
export function createDaemonSetController(deps: ControllerDeps): Controller {
  const { feed, reader } = deps;
  const events = createEventRecorder(deps, "daemonset-controller");
  const failures = createFailureTurns(deps.clock, FAILURE_DELAYS);
  const daemons: DaemonDeps = { ...deps, events, control: createPodControl(deps, events), failures };
  const queue = createWorkQueue(deps, { name: "daemonset", reconcile: (key) => reconcileSet(daemons, key) });
  const owners = { ownerKind: "DaemonSet", ownerResource: SETS, selects };
  const follow = () => [
    feed.follow(SETS, ({ type, object }) => {
      if (type === "DELETED") failures.forget(object.metadata.uid ?? "");
      queue.add(namespacedKeyOf(object.metadata));
    }),
    followDependents(deps, { ...owners, resource: "pods" }, queue.add),
    followDependents(deps, { ...owners, resource: REVISIONS }, queue.add),
    feed.follow("nodes", (event) => {
      for (const set of reader.list(SETS)) {
        if (isOfInterest(typed("DaemonSet", set), event)) queue.add(namespacedKeyOf(set.metadata));
      }
    }),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

function selects(set: KubeObject, object: KubeObject): boolean {
  return lenientSelectorOf(typed("DaemonSet", set).spec?.selector).matches(object.metadata.labels ?? {});
}

/** A node tells its status all the time; only what decides about a pod of the set is of interest. */
function isOfInterest(set: StoredSet, { type, object, previous }: ResourceEvent): boolean {
  if (type !== "MODIFIED" || previous === undefined) return true;
  return !isEqualJson(judgeNode(set, typed("Node", object)), judgeNode(set, typed("Node", previous)));
}

async function reconcileSet(deps: DaemonDeps, key: string): Promise<number | undefined> {
  const { reader, clock } = deps;
  const object = reader.get({ resource: SETS, ...splitNamespacedKey(key) });
  // The garbage collector takes the pods of a set that is being deleted.
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  const set = typed("DaemonSet", object);
  const selectsOwn = (candidate: KubeObject) => selects(object, candidate);
  const history = await ensureNewestRevision(deps, {
    object,
    resource: SETS,
    template: set.spec?.template ?? {},
    selects: selectsOwn,
    hashLabel: DAEMON_HASH_LABEL,
    collisionCount: set.status?.collisionCount ?? 0,
  });
  const hash = history.newest.metadata.labels?.[DAEMON_HASH_LABEL] ?? "";
  const candidates = reader.list("pods", object.metadata.namespace ?? "");
  await claimDependents(deps, {
    owner: object,
    ownerResource: SETS,
    resource: "pods",
    candidates,
    selects: selectsOwn,
  });
  const placed = await placePods(deps, set, hash);
  const updated = placed.error === undefined ? await updatePods(deps, set, hash) : placed.error;
  const view = lookAt(deps, set, hash);
  await writeStatus(deps, view, history.collisionCount);
  const live = new Set(
    view.nodes.flatMap(({ pods }) => pods).map(({ metadata }) => metadata.labels?.[DAEMON_HASH_LABEL]),
  );
  await truncateHistory(deps, {
    revisions: history.revisions.filter(({ metadata }) => metadata.uid !== history.newest.metadata.uid),
    limit: set.spec?.revisionHistoryLimit,
    isLive: ({ metadata }) => live.has(metadata.labels?.[DAEMON_HASH_LABEL]),
  });
  if (updated !== undefined) throw updated;
  const pods = view.nodes.flatMap((node) => node.pods);
  return soonest([placed.waitMs, computeNextAvailableMs(pods, set.spec?.minReadySeconds ?? 0, clock.now())]);
}

function lookAt({ reader, clock }: DaemonDeps, set: StoredSet, hash: string): DaemonView {
  const own = reader.list("pods", set.metadata.namespace ?? "").filter((pod) => {
    return isControlledBy(pod, set) && selects(set, pod);
  });
  const pods = own.map((pod) => typed("Pod", pod));
  const nodes = reader.list("nodes").map((node) => typed("Node", node));
  return viewDaemonSet(set, { nodes, pods, hash, now: clock.now() });
}

interface Placement {
  readonly error: Error | undefined;
  /** When the next failed pod may be deleted. */
  readonly waitMs: number | undefined;
}

async function placePods(deps: DaemonDeps, set: StoredSet, hash: string): Promise<Placement> {
  const { events, failures } = deps;
  const plan = planDaemonPods(lookAt(deps, set, hash));
  const tell = (pod: DaemonPod, node: string, what: "failed" | "succeeded") => {
    const verb = what === "failed" ? "kill" : "delete";
    const message = `Found ${what} daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${node}, will try to ${verb} it`;
    const [type, reason] =
      what === "failed" ? (["Warning", "FailedDaemonPod"] as const) : (["Normal", "SucceededDaemonPod"] as const);
    events.record({ about: set, type, reason, message });
  };
  for (const { node, pod } of plan.ended) tell(pod, node, "succeeded");
  const due: DaemonPod[] = [];
  const waits: number[] = [];
  for (const { node, pod } of plan.failed) {
    const waitMs = failures.takeTurn(set, node);
    if (waitMs > 0) waits.push(waitMs);
    else {
      tell(pod, node, "failed");
      due.push(pod);
    }
  }
  const remove = [...plan.remove, ...plan.ended.map(({ pod }) => pod), ...due];
  const error = await changePods(deps, { set, hash, create: plan.create, remove });
  return { error, waitMs: soonest(waits) };
}

async function updatePods(deps: DaemonDeps, set: StoredSet, hash: string): Promise<Error | undefined> {
  return await changePods(deps, { set, hash, ...planDaemonUpdate(lookAt(deps, set, hash)) });
}

interface PodChanges {
  readonly set: StoredSet;
  readonly hash: string;
  readonly create: readonly string[];
  readonly remove: readonly DaemonPod[];
}

/** Returns the first ApiError, for another attempt after the status is written. */
async function changePods(
  { control }: DaemonDeps,
  { set, hash, create, remove }: PodChanges,
): Promise<Error | undefined> {
  const nodes = create.slice(0, MAX_PODS_AT_ONCE);
  const { error } = await runSlowStart(nodes.length, async (index) => {
    await control.create(set, podOfDaemonSet(set, nodes[index] ?? "", hash));
  });
  const removals = remove.slice(0, MAX_PODS_AT_ONCE).map((pod) => () => control.remove(set, pod));
  const [failed] = await callTogether(removals);
  return error ?? failed;
}

/** Writes the status into the version that is stored now, for the generation that was acted on. */
async function writeStatus({ reader, writer }: DaemonDeps, view: DaemonView, collisionCount: number): Promise<void> {
  const { namespace = "", name = "", uid } = view.set.metadata ?? {};
  const newest = reader.get({ resource: SETS, namespace, name });
  if (newest === undefined || newest.metadata.uid !== uid) return;
  const counted = computeDaemonSetStatus(view);
  const status = collisionCount > 0 ? { ...counted, collisionCount } : counted;
  if (isEqualJson(status, newest["status"])) return;
  await writer.update(SETS, { ...untyped(typed("DaemonSet", newest)), status }, "status");
}
