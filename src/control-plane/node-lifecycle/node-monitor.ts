import type { Node } from "../../api/gen/types.ts";
import { typed, untyped } from "../../api/object.ts";
import { formatTime, SECOND } from "../../base/clock.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../control-loop/controller.ts";
import type { ObjectIndex } from "../control-loop/object-index.ts";
import { withPodCondition } from "../control-loop/pod-condition.ts";
import { createPodsByNode, podNameOf } from "../control-loop/pods-by-node.ts";
import { createEventRecorder, type EventRecorder } from "../control-loop/record-events.ts";
import { createWorkQueue, type WorkQueue } from "../control-loop/work-queue.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import { createHeartbeats, type Heartbeats } from "./heartbeats.ts";
import { NODE_MONITOR_DEFAULTS, type NodeMonitorSettings } from "./monitor-settings.ts";
import { readinessOf, withUnknownConditions } from "./node-conditions.ts";
import { withReconciledLabels } from "./node-labels.ts";
import { computeNodeTaints, type EvictionState, isGivenUp } from "./node-taints.ts";
import { computeZones, evictionRateOf, isAllDisrupted, type ZoneMember, zoneMemberOf } from "./zones.ts";

/** When the end of a grace period is noticed this much too late, it was this process that did not listen. */
const STALL_MS = 5 * SECOND;
const COMPONENT = "node-controller";
const LEASES = "leases.coordination.k8s.io";
const LEASE_NAMESPACE = "kube-node-lease";

interface Monitor extends ControllerDeps {
  settings: NodeMonitorSettings;
  heartbeats: Heartbeats;
  pods: ObjectIndex;
  events: EventRecorder;
  /** All nodes by name. */
  members: Map<string, ZoneMember>;
  /** The time since when a node is not ready, by its name. */
  unreadySince: Map<string, number>;
  /** The time at which a node of the zone was last given up, by zone. */
  givenUpAt: Map<string, number>;
}

/**
 * Watches over nodes (`pkg/controller/nodelifecycle`). A node that is silent for too long becomes not ready, and so do
 * its pods. Conditions become taints, which keep new pods off the node and have its pods evicted in the end. While no
 * node is ready, no pod is evicted.
 */
export function createNodeMonitor(
  deps: ControllerDeps,
  settings: NodeMonitorSettings = NODE_MONITOR_DEFAULTS,
): Controller {
  const { feed, clock } = deps;
  const events = createEventRecorder(deps, COMPONENT);
  const monitor: Monitor = {
    ...deps,
    settings,
    events,
    heartbeats: createHeartbeats(clock),
    pods: createPodsByNode(),
    members: new Map(),
    unreadySince: new Map(),
    givenUpAt: new Map(),
  };
  const queue: WorkQueue = createWorkQueue(deps, {
    name: "node-monitor",
    reconcile: (name) => reconcile(monitor, name),
  });
  const follow = () => [
    feed.follow(LEASES, ({ type, object }) => {
      if (type === "DELETED" || object.metadata.namespace !== LEASE_NAMESPACE) return;
      monitor.heartbeats.observeLease(typed("Lease", object));
    }),
    feed.follow("nodes", (event) => {
      for (const name of followNode(monitor, event)) queue.add(name);
    }),
    feed.follow("pods", (event) => {
      monitor.pods.apply(event);
      const { nodeName = "" } = typed("Pod", event.object).spec ?? {};
      // A pod that comes to a silent node is not ready either.
      if (nodeName !== "" && event.type !== "DELETED" && !(monitor.members.get(nodeName)?.isReady ?? true)) {
        queue.add(nodeName);
      }
    }),
  ];
  return {
    run: (signal) => runFollowingWithEvents(queue, follow, events, signal),
  };
}

/** Returns the names of the nodes about which a decision is due now. */
function followNode(monitor: Monitor, { type, object }: ResourceEvent): string[] {
  const { members, heartbeats, events, givenUpAt, unreadySince, clock, settings } = monitor;
  const { name = "" } = object.metadata;
  const before = members.get(name);
  const wasAllDisrupted = isAllDisrupted(computeZones(members.values(), settings));
  const tell = (reason: string, what: string) => {
    const message = `Node ${name} event: ${what} Node ${name} ${reason === "RegisteredNode" ? "in" : "from"} Controller`;
    events.record({ about: object, type: "Normal", reason, message });
  };
  if (type === "DELETED") {
    members.delete(name);
    heartbeats.forget(name);
    tell("RemovingNode", "Removing");
  } else {
    const node = typed("Node", object);
    if (before === undefined) tell("RegisteredNode", "Registered");
    heartbeats.observeNode(node);
    members.set(name, zoneMemberOf(node));
  }
  if (members.get(name)?.isReady ?? true) unreadySince.delete(name);
  else unreadySince.set(name, unreadySince.get(name) ?? clock.monotonic());
  const zones = computeZones(members.values(), settings);
  for (const zone of givenUpAt.keys()) if (!zones.has(zone)) givenUpAt.delete(zone);
  // Now that one node answers, the other nodes get a full grace period again.
  if (wasAllDisrupted && !isAllDisrupted(zones)) heartbeats.restart();
  const isOther = JSON.stringify(before) !== JSON.stringify(members.get(name));
  return isOther ? [...members.keys()] : [name];
}

async function reconcile(monitor: Monitor, name: string): Promise<number | undefined> {
  const { reader, heartbeats, settings } = monitor;
  const found = reader.get({ resource: "nodes", namespace: "", name });
  if (found === undefined) return undefined;
  const node = await markSilent(monitor, typed("Node", found));
  if (node === undefined) return undefined;
  const retryMs = await updateTaints(monitor, node);
  if (readinessOf(node) === "Unknown") {
    await markPodsNotReady(monitor, name);
    return retryMs;
  }
  return Math.min(
    retryMs ?? Number.POSITIVE_INFINITY,
    Math.max(0, heartbeats.remainingMs(name, graceOf(node, settings))),
  );
}

const graceOf = (node: Node, { graceMs, startupGraceMs }: NodeMonitorSettings) =>
  readinessOf(node) === undefined ? startupGraceMs : graceMs;

/** Returns the node as it is afterwards; undefined when it went away. */
async function markSilent(monitor: Monitor, node: Node): Promise<Node | undefined> {
  const { writer, heartbeats, clock, events, log, settings } = monitor;
  const { name = "" } = node.metadata ?? {};
  const remainingMs = heartbeats.remainingMs(name, graceOf(node, settings));
  if (remainingMs > 0) return node;
  const unknown = withUnknownConditions(node, formatTime(clock.now()));
  if (unknown === undefined) return node;
  if (remainingMs < -STALL_MS) {
    log.warn("a node's silence was noticed late, it is given more time", { node: name, lateMs: -remainingMs });
    heartbeats.restart(name);
    return node;
  }
  log.warn("nothing is heard of a node", { node: name });
  let written: Node | undefined;
  const isThere = await unlessOvertaken(
    writer.update("nodes", untyped(unknown), "status").then((object) => {
      written = typed("Node", object);
    }),
  );
  if (isThere && readinessOf(node) === "True") {
    const message = `Node ${name} status is now: NodeNotReady`;
    events.record({ about: untyped(node), type: "Normal", reason: "NodeNotReady", message });
  }
  return written;
}

/** Returns after how long to look again when a node is to be given up and its turn has not come. */
async function updateTaints(monitor: Monitor, node: Node): Promise<number | undefined> {
  const { writer, clock, givenUpAt, unreadySince, log, settings } = monitor;
  const { name = "" } = node.metadata ?? {};
  const { zone } = zoneMemberOf(node);
  const { eviction, spacingMs } = evictionOf(monitor, zone);
  const turnAt = (givenUpAt.get(zone) ?? Number.NEGATIVE_INFINITY) + spacingMs;
  const settledAt = (unreadySince.get(name) ?? clock.monotonic()) + settings.periodMs;
  const waitMs = Math.max(turnAt, settledAt) - clock.monotonic();
  const isTurn = waitMs <= 0;
  const now = formatTime(clock.now());
  const taints = computeNodeTaints(node, eviction === "allowed" && !isTurn ? "held" : eviction, now);
  const next = withReconciledLabels(taints === undefined ? node : { ...node, spec: { ...node.spec, taints } });
  if (next !== node) {
    const isGivenUpNow = isGivenUp(next) && !isGivenUp(node);
    if (isGivenUpNow) {
      givenUpAt.set(zone, clock.monotonic());
      log.warn("a node is given up, its pods are evicted when they do not tolerate it any longer", { node: name });
    }
    await unlessOvertaken(writer.update("nodes", untyped(next)));
  }
  const readiness = readinessOf(node);
  const isWaiting =
    eviction === "allowed" && !isTurn && readiness !== undefined && readiness !== "True" && !isGivenUp(next);
  return isWaiting ? waitMs : undefined;
}

/** Whether nodes of the zone may be given up now, and the time between two of them. */
function evictionOf({ members, settings }: Monitor, name: string): { eviction: EvictionState; spacingMs: number } {
  const zones = computeZones(members.values(), settings);
  if (isAllDisrupted(zones)) return { eviction: "withdrawn", spacingMs: 0 };
  const zone = zones.get(name);
  const rate = zone === undefined ? settings.evictionRate : evictionRateOf(zone, settings);
  return rate > 0 ? { eviction: "allowed", spacingMs: SECOND / rate } : { eviction: "held", spacingMs: 0 };
}

/** Marks the node's pods as not ready, so that services do not count on them: no agent reports their state any more. */
async function markPodsNotReady({ reader, writer, clock, events, pods }: Monitor, node: string): Promise<void> {
  for (const key of pods.keysOf(node)) {
    const object = reader.get(podNameOf(key));
    const pod = object && typed("Pod", object);
    const ready = pod?.status?.conditions?.find(({ type }) => type === "Ready");
    if (object === undefined || pod === undefined || ready?.status !== "True") continue;
    const marked = withPodCondition(pod, { ...ready, status: "False" }, formatTime(clock.now()));
    if (marked === undefined || !(await unlessOvertaken(writer.update("pods", untyped(marked), "status")))) continue;
    events.record({ about: object, type: "Warning", reason: "NodeNotReady", message: "Node is not ready" });
  }
}
