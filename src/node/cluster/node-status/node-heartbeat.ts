import { isApiError } from "../../../api/api-error.ts";
import type { Node } from "../../../api/gen/types.ts";
import { NODES } from "../../../api/kube-resource.ts";
import { childController, sleep, throwIfAborted } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { jitter, type Random } from "../../../base/random.ts";
import { withDeadline } from "../../../base/time-limit.ts";
import type { Decision } from "../../../base/timeline.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { computeDesiredNode } from "./desired-node.ts";
import { createFailureLog } from "./failure-log.ts";
import { newerNode } from "./newer-node.ts";
import { computeNodeEvents, computeSchedulingEvent, STARTING_DECISION, withoutPressure } from "./node-events.ts";
import { computeNodePatch, isNodeChanged } from "./node-patch.ts";
import type { NodeStatusInput } from "./node-status.ts";

/** Keeps the status of the node object up to date. */
interface NodeHeartbeat {
  /** Runs from when the node is registered until the signal fires. Rejects with AbortedError only. */
  run(signal: AbortSignal): Promise<void>;
  /** Tells that something in the status has changed, so that it is computed at once. Extra calls cost nothing. */
  syncNow(): void;
}

export interface NodeHeartbeatDeps {
  /** The client for heartbeats, which no other traffic slows down. */
  client: Pick<KubeClient, "get" | "patch">;
  clock: Clock;
  random: Random;
  log: Log;
  readStatus(signal: AbortSignal): Promise<NodeStatusInput>;
  /** Called after the server has the status that the event is about. */
  recordNodeEvent(decision: Decision): void;
  /**
   * Called with every version of the node object that was read or written. The version includes its pod ranges and
   * volumes in use.
   */
  observeNode?(node: Node): void;
  /** Adds to the object what other parts of the node want in it, before it is written. */
  decorate?(node: Node): Node;
  /** Makes the node object again after it was deleted; undefined where the node does not register itself. */
  registerAgain?: ((signal: AbortSignal) => Promise<Node>) | undefined;
}

interface NodeHeartbeatOptions {
  readonly nodeName: string;
  /** How often the status is computed. */
  readonly updateFrequencyMs: number;
  /** How often the status is sent although nothing changed. */
  readonly reportFrequencyMs: number;
  /** The smaller of this and `updateFrequencyMs` is the bound of each call. */
  readonly leaseDurationSeconds: number;
}

const MAX_TRIES = 5;
const PERIOD_JITTER = 0.04;
/** The least time between the end of one sync and the beginning of the next, however often `syncNow` is called. */
const MIN_GAP_MS = 100;

export function createNodeHeartbeat(deps: NodeHeartbeatDeps, options: NodeHeartbeatOptions): NodeHeartbeat {
  const { client, clock, random } = deps;
  const log = deps.log.with({ node: options.nodeName });
  const failures = createFailureLog(log, "Updating the node's status");
  const name = { namespace: "", name: options.nodeName };
  const timeoutMs = Math.min(options.updateFrequencyMs, options.leaseDurationSeconds * 1000);
  /** The node as it was last written. The server's cache may be older. */
  let written: Node | undefined;
  let reportDueAt = clock.monotonic() + options.reportFrequencyMs;
  let wasUnschedulable = false;
  let problem: string | undefined;
  let isWanted = false;
  let endPause: () => void = () => undefined;

  const observe = (node: Node) => {
    const event = computeSchedulingEvent(node, wasUnschedulable);
    wasUnschedulable = node.spec?.unschedulable === true;
    if (event !== undefined) deps.recordNodeEvent(event);
    deps.observeNode?.(node);
  };

  const tellProblem = (now: string | undefined) => {
    if (now !== problem && now !== undefined) log.error("The node's addresses are not told", { error: now });
    problem = now;
  };

  /** In a large cluster these reads are a large part of a server's work, so the first read is served from its cache. */
  const readNode = async (attempt: number, signal: AbortSignal): Promise<Node> => {
    const call = { signal, timeoutMs, ...(attempt === 0 && { resourceVersion: "0" }) };
    try {
      return newerNode(await client.get(NODES, name, call), written);
    } catch (error) {
      const isGone = attempt > 0 && isApiError(error, "NotFound");
      if (!isGone || deps.registerAgain === undefined) throw error;
      log.warn("The node object is gone, registering again");
      return deps.registerAgain(signal);
    }
  };

  const trySync = async (attempt: number, signal: AbortSignal): Promise<void> => {
    const current = await readNode(attempt, signal);
    const reading = { timeoutMs, signal, what: "reading the node's status" };
    const input = await withDeadline(clock, reading, async (inner) => deps.readStatus(inner));
    const { node, problem: addressProblem } = computeDesiredNode(current, input, clock.now());
    const desired = deps.decorate?.(node) ?? node;
    tellProblem(addressProblem);
    const isChanged = isNodeChanged(current, desired);
    const body = computeNodePatch(current, desired);
    const isDue = isChanged || clock.monotonic() >= reportDueAt;
    if (!isDue || body === undefined) {
      observe(current);
      if (written === undefined) tellEvents(current, desired);
      written = current;
      return;
    }
    const call = { subresource: "status", signal, timeoutMs };
    const updated = await client.patch(NODES, name, { type: "strategic", body }, call);
    // After a change the next report comes up to half a period earlier or later, so that a change of many nodes at once
    // does not make them report together from then on.
    const delayMs = isChanged ? options.reportFrequencyMs * (random.next() - 0.5) : 0;
    reportDueAt = clock.monotonic() + options.reportFrequencyMs + delayMs;
    tellEvents(current, desired);
    written = updated;
    observe(updated);
  };

  /** At the start the pressure is told even when it is no news, as upstream does. */
  const tellEvents = (before: Node, after: Node) => {
    const known = written === undefined ? withoutPressure(before.status ?? {}) : (before.status ?? {});
    for (const event of computeNodeEvents(options.nodeName, known, after.status ?? {})) deps.recordNodeEvent(event);
  };

  const sync = async (signal: AbortSignal): Promise<void> => {
    isWanted = false;
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      try {
        await trySync(attempt, signal);
        failures.succeeded();
        return;
      } catch (error) {
        throwIfAborted(signal);
        // A node that is missing from the cache is no failure yet.
        if (attempt > 0 || !isApiError(error, "NotFound")) failures.failed(error);
      }
    }
  };

  const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
    const { controller, release } = childController(signal);
    endPause = () => controller.abort();
    try {
      await sleep(clock, ms, controller.signal);
    } catch {
      throwIfAborted(signal);
    } finally {
      release();
    }
  };

  return {
    async run(signal) {
      deps.recordNodeEvent(STARTING_DECISION);
      while (!signal.aborted) {
        await sync(signal);
        await sleep(clock, MIN_GAP_MS, signal);
        if (!isWanted) await pause(jitter(random, options.updateFrequencyMs - MIN_GAP_MS, PERIOD_JITTER), signal);
      }
    },
    syncNow() {
      isWanted = true;
      endPause();
    },
  };
}
