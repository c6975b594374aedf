import type { Pod } from "../../../api/gen/types.ts";
import { aborted, childController, isAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Random } from "../../../base/random.ts";
import { createRateLimiter } from "../../../base/rate-limiter.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { createEventCorrelator } from "./correlate-events.ts";
import { createEventQueue } from "./event-queue.ts";
import { eventMessage, isEventWorthy } from "./event-worthy.ts";
import { createEventMaker, type EventFacts, type NodeEvent, referToNode, referToPod } from "./make-event.ts";
import { logFieldsOf, sendEvent } from "./send-event.ts";

/** Tells the API server what happens on the node, as core/v1 events in kubelet's words. */
interface EventSink {
  /**
   * Sends what is recorded, until the signal fires. Events that were recorded before the run wait for it. May be called
   * only once.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Records an event about the node itself: `NodeReady`, `Starting`, `Rebooted`, … */
  recordNode(facts: EventFacts): void;
  /**
   * Resolves when every recorded event has been sent or given up, and in any case after `timeoutMs`; at once when the
   * sink does not run. A shutdown calls this before it fires the signal of `run`. Never rejects.
   */
  flush(timeoutMs: number): Promise<void>;
  /** The number of events that were lost because the queue was full. */
  readonly dropped: number;
}

interface EventSinkDeps {
  /**
   * The client should be used for events only, because events must not use up the rate limit of the pods' status
   * updates.
   */
  readonly client: Pick<KubeClient, "create" | "patch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly timeline: Pick<Timeline, "subscribe">;
  /**
   * Finds the pod by the UID under which the node runs it: a static pod itself or its mirror. The result is undefined
   * when the pod is gone.
   */
  apiPodOf(uid: string): Pod | undefined;
}

interface EventSinkOptions {
  readonly nodeName: string;
  /** `eventRecordQPS`: the calls per second in the long run. 0 means no limit. */
  readonly qps: number;
  /** `eventBurst`: the number of calls that may be made at once. */
  readonly burst: number;
}

/** The bound is that of client-go's broadcaster. */
const MAX_QUEUED_EVENTS = 1_000;

export function createEventSink(deps: EventSinkDeps, options: EventSinkOptions): EventSink {
  const { clock, log } = deps;
  const makeEvent = createEventMaker(deps, options.nodeName);
  const correlator = createEventCorrelator();
  const queue = createEventQueue(MAX_QUEUED_EVENTS);
  const sendDeps = { ...deps, limiter: createRateLimiter(clock, options) };
  /** Ends the sender's sleep. */
  let wake = () => {};
  /** These callbacks are called when there is nothing left to send. */
  const idleWaits = new Set<() => void>();
  let isRunning = false;
  let isSending = false;
  let dropped = 0;
  let isFull = false;

  const accept = (made: NodeEvent, kind?: Pick<EventFacts, "isProgress">) => {
    log.debug("Event occurred", logFieldsOf(made), 3);
    const correlated = correlator.correlate(made, clock.monotonic(), { isProgress: kind?.isProgress });
    if (correlated === undefined) return;
    if (queue.offer(correlated)) {
      isFull = false;
      wake();
      return;
    }
    dropped++;
    // The loss is logged once each time the queue fills up, because events are lost in thousands.
    if (!isFull) log.error("Unable to record event: too many queued events, dropped event", logFieldsOf(made));
    isFull = true;
  };
  const unsubscribe = deps.timeline.subscribe((record) => {
    if (!isEventWorthy(record)) return;
    const { pod, type, reason, container, annotations, isProgress } = record;
    const facts = { type, reason, message: eventMessage(record), annotations };
    accept(makeEvent(referToPod(pod, deps.apiPodOf(pod.uid), container), facts), { isProgress });
  });

  const sendAll = async (signal: AbortSignal) => {
    for (let next = queue.take(); next !== undefined; next = queue.take()) {
      isSending = true;
      try {
        await sendEvent(sendDeps, next, signal);
      } finally {
        isSending = false;
      }
    }
    for (const resolve of idleWaits) resolve();
  };
  const sleepUntilOffered = async (signal: AbortSignal) => {
    if (queue.size > 0) return;
    const { controller, release } = childController(signal);
    wake = () => {
      wake = () => undefined;
      controller.abort();
    };
    await aborted(controller.signal);
    release();
  };

  return {
    async run(signal) {
      isRunning = true;
      try {
        while (!signal.aborted) {
          await sendAll(signal);
          await sleepUntilOffered(signal);
        }
      } catch (error) {
        if (!isAbort(error)) throw error;
      } finally {
        isRunning = false;
        unsubscribe();
        for (const resolve of idleWaits) resolve();
        if (queue.size > 0) log.info("Events were not sent before the end", { count: queue.size });
      }
    },
    recordNode: (facts) => accept(makeEvent(referToNode(options.nodeName), facts)),
    async flush(timeoutMs) {
      if (!isRunning || (queue.size === 0 && !isSending)) return;
      let resolveIdle = () => {};
      const timer = clock.setTimer(timeoutMs, () => resolveIdle());
      await new Promise<void>((resolve) => {
        resolveIdle = resolve;
        idleWaits.add(resolve);
      });
      idleWaits.delete(resolveIdle);
      timer.cancel();
    },
    get dropped() {
      return dropped;
    },
  };
}
