import { childController, isAbort, sleep, untilAborted } from "../../../base/abort.ts";
import { SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { createMailbox, type Mailbox } from "../../../base/mailbox.ts";
import { runWithTasks } from "../../../base/tasks.ts";
import type { Decision } from "../../../base/timeline.ts";
import type { Logind, ShutdownDelay } from "../../../host/logind-port.ts";
import { type EndPodsDeps, endPods } from "./end-pods.ts";
import { ensureInhibitDelay, type InhibitDelayDeps } from "./inhibit-delay.ts";
import type { ShutdownNotice } from "./shutdown-notice.ts";
import type { ShutdownPeriod } from "./shutdown-periods.ts";
import type { ShutdownRecord } from "./shutdown-record.ts";

interface NodeShutdownDeps extends EndPodsDeps, InhibitDelayDeps {
  readonly logind: Logind;
  readonly notice: Pick<ShutdownNotice, "isSet" | "set">;
  readonly record: ShutdownRecord;
  /** False while this agent has just started, and has not taken up all pods that the one before it left running. */
  isEveryPodTakenUp(): boolean;
  recordNodeEvent(decision: Decision): void;
  /** Sends the API server the updates that are still pending. It is bounded in time and never rejects. */
  flush(): Promise<void>;
}

const FIRST_RECONNECT_MS = SECOND;
const LAST_RECONNECT_MS = 30 * SECOND;
const WHY = "Kubelet needs time to handle node shutdown";
/** Pods that an agent before this one left running are waited for this long, and looked for this often. */
const TAKE_UP_MS = 10 * SECOND;
const LOOK_AGAIN_MS = SECOND / 10;
/** A machine announces or cancels its shutdown a few times at most. Only the newest announcement matters. */
const MAX_ANNOUNCEMENTS = 64;

/**
 * Delays the machine's shutdown until its pods have ended:
 *
 *     (connect) ──► holding ── announced ──► ending pods ── all ended, or their time is over ──► released
 *         ▲            ▲                          │                                                 │
 *         │            └──────── called off ──────┴─────────────────────────────────────────────────┘
 *         └── the bus is lost: again after 1 s, at most 30 s
 *
 * It follows upstream's nodeshutdown (pkg/kubelet/nodeshutdown), with four differences. A shutdown that is called off
 * ends no further pods. A shutdown that was announced while no agent listened is not missed. An agent that has just
 * started takes up the pods of before first: they would be refused otherwise, and end all at once. The outcome of the
 * pods is reported before the machine may go down.
 */
interface NodeShutdown {
  run(signal: AbortSignal): Promise<void>;
}

export function createNodeShutdown(deps: NodeShutdownDeps, periods: readonly ShutdownPeriod[]): NodeShutdown {
  const { clock, log, logind, record } = deps;
  const seconds = periods.reduce((sum, period) => sum + period.seconds, 0);

  const watch = async (signal: AbortSignal): Promise<void> => {
    await ensureInhibitDelay(deps, seconds, signal);
    const announcements = createMailbox<boolean>(MAX_ANNOUNCEMENTS);
    await runWithTasks(signal, async (tasks, inside) => {
      let onWatching = () => {};
      const watching = new Promise<void>((resolve) => {
        onWatching = resolve;
      });
      const onShutdown = (isAnnounced: boolean) => announcements.offer(isAnnounced);
      tasks.spawn("shutdown announcements", async () => {
        await logind.watchShutdowns({ onWatching, onShutdown }, inside);
      });
      await untilAborted(watching, inside);
      // The shutdown may have been announced before this agent listened, for example to the former agent. It is then
      // too late to delay the shutdown, but not too late to end the pods.
      const isAnnounced = await logind.isPreparingForShutdown(inside);
      const delay = isAnnounced ? undefined : await logind.delayShutdown(WHY, inside);
      log.info("Watching for the shutdown of the machine", { seconds, periods });
      await followAnnouncements(deps, { periods, announcements, isAnnounced, delay }, inside);
    });
  };

  return {
    async run(signal) {
      await record.load();
      let problem: string | undefined;
      let waitMs = FIRST_RECONNECT_MS;
      while (!signal.aborted) {
        const begunAt = clock.monotonic();
        try {
          await watch(signal);
        } catch (error) {
          if (isAbort(error)) return;
          const message = messageOf(error);
          if (message !== problem) log.error("Unable to watch the node for shutdown events", { error: message });
          problem = message;
        }
        if (clock.monotonic() - begunAt > LAST_RECONNECT_MS) {
          waitMs = FIRST_RECONNECT_MS;
          problem = undefined;
        }
        await sleep(clock, waitMs, signal).catch(() => undefined);
        waitMs = Math.min(2 * waitMs, LAST_RECONNECT_MS);
      }
    },
  };
}

interface Vigil {
  readonly periods: readonly ShutdownPeriod[];
  readonly announcements: Mailbox<boolean>;
  /** Whether a shutdown was announced already before the first entry of `announcements`. */
  readonly isAnnounced: boolean;
  readonly delay: ShutdownDelay | undefined;
}

/** Acts on each announcement. It ends only by a failure or an abort, and holds no delay afterwards. */
async function followAnnouncements(deps: NodeShutdownDeps, vigil: Vigil, signal: AbortSignal): Promise<void> {
  let { delay, isAnnounced } = vigil;
  let haveEnded = false;
  try {
    for (;;) {
      if (isAnnounced) await untilTakenUp(deps, signal);
      tellOf(deps, isAnnounced);
      if (!isAnnounced) {
        haveEnded = false;
        delay ??= await deps.logind.delayShutdown(WHY, signal);
      } else if (!haveEnded) {
        await endAllPods(deps, vigil, signal);
        await delay?.release();
        [delay, haveEnded] = [undefined, true];
      }
      isAnnounced = await vigil.announcements.take(signal);
    }
  } finally {
    await delay?.release();
  }
}

async function untilTakenUp({ clock, log, isEveryPodTakenUp }: NodeShutdownDeps, signal: AbortSignal): Promise<void> {
  const deadline = clock.monotonic() + TAKE_UP_MS;
  while (!isEveryPodTakenUp()) {
    if (clock.monotonic() >= deadline) {
      log.warn("Pods that run may end out of order: not all sources of pods were read before the shutdown");
      return;
    }
    await sleep(clock, LOOK_AGAIN_MS, signal);
  }
}

/** Reports a change in the log, in an event of the node and to the notice. */
function tellOf({ log, notice, recordNodeEvent }: NodeShutdownDeps, isAnnounced: boolean): void {
  if (isAnnounced === notice.isSet()) return;
  const message = `Shutdown manager detected ${isAnnounced ? "shutdown event" : "shutdown cancellation"}`;
  log.warn(message);
  recordNodeEvent({ type: "Normal", reason: "NodeShutdown", message });
  notice.set(isAnnounced);
}

/**
 * Ends all pods, and returns when they have ended or the shutdown is called off. The announcement that calls it off
 * stays for the caller to take.
 */
async function endAllPods(deps: NodeShutdownDeps, { periods, announcements }: Vigil, signal: AbortSignal) {
  const { clock, log, record } = deps;
  const startedAt = clock.now();
  await record.write({ startedAt });
  const { controller, release } = childController(signal);
  const calledOff = announcements.ready(controller.signal).then(() => controller.abort());
  try {
    await endPods(deps, { periods, announcedAt: startedAt }, controller.signal);
    await deps.flush();
    log.info("Shutdown manager completed processing shutdown event, node will shutdown shortly");
  } catch (error) {
    if (signal.aborted || !isAbort(error)) throw error;
    log.warn("The shutdown was called off: no further pods are ended");
  } finally {
    controller.abort();
    await calledOff.catch(() => undefined);
    release();
    await record.write({ startedAt, endedAt: clock.now() });
  }
}
