import { childController, isAbort, sleep } from "../base/abort.ts";
import { computeBackOff } from "../base/back-off.ts";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { RuntimeEvent, RuntimeEvents } from "./container-events.ts";
import { type ContainerdEvents, followContainerdEvents } from "./containerd-events.ts";
import { type ContainerEventResponse, ContainerEventType } from "./gen/cri-v1.ts";
import type { OwnStops } from "./own-stops.ts";
import { isCriError, type RuntimeService } from "./port.ts";

interface RuntimeEventsDeps {
  runtime: Pick<RuntimeService, "version" | "getContainerEvents" | "containerStatus" | "podSandboxStatus">;
  /** containerd's own event service; other runtimes answer it with `unimplemented`. */
  containerd?: ContainerdEvents;
  /** The runtime's state is not checked for stops that these know of. Default: it is checked for all. */
  stops?: OwnStops;
  clock: Clock;
  log: Log;
}

/**
 * Yields containerd's events where that is the runtime, else CRI's GetContainerEvents, else none; the log says once
 * which.
 *
 * containerd has GetContainerEvents too, from 1.7, but there an abandoned subscription lives on until its next event,
 * which it swallows. This was seen with 1.7.24 and 2.1.9, where the first event after a reconnect, perhaps an awaited
 * exit, never came. containerd's own event service tells every subscriber everything, in 1.6 as in 2.
 */
export function createRuntimeEvents(deps: RuntimeEventsDeps): RuntimeEvents {
  const sources = computeSources(deps);
  return {
    async *subscribe(signal, onConnected = () => undefined) {
      let attempt: Attempt = { source: 0, failures: 0 };
      let said = "";
      const sayOnce = (message: string) => {
        if (message !== said) deps.log.info(message);
        said = message;
      };
      while (!signal.aborted) {
        const { name, runtimeName, open } = sources[attempt.source] ?? NO_SOURCE;
        const begunAt = deps.clock.monotonic();
        const connection = watchConnection({ ...deps, runtimeName }, signal, (connected) => {
          if (connected) sayOnce(`container events come from ${name}`);
          onConnected(connected);
        });
        let failure: unknown;
        try {
          for await (const event of open(connection.signal)) {
            connection.confirm();
            yield event;
          }
        } catch (error) {
          failure = error;
        } finally {
          await connection.end();
        }
        if (signal.aborted) return;
        const unsupported = connection.isForeign || isCriError(failure, "unimplemented");
        const next = planRetry(attempt, {
          unsupported,
          wasSteady: connection.wasConnected && deps.clock.monotonic() - begunAt >= STEADY_MS,
          sources: sources.length,
        });
        if (unsupported && next.delayMs > 0)
          sayOnce("the runtime reports no container events: changes wait for a relist");
        if (!unsupported) deps.log.debug("container events broke off", { source: name, error: reasonOf(failure) });
        attempt = next.attempt;
        await pause(deps.clock, next.delayMs, signal);
      }
    },
  };
}

interface EventSource {
  name: string;
  /** The one runtime that has it; undefined where any may have it. */
  runtimeName?: string;
  open(signal: AbortSignal): AsyncIterable<RuntimeEvent>;
}

const NO_SOURCE: EventSource = { name: "nowhere", async *open() {} };

function computeSources({ runtime, containerd, stops, clock }: RuntimeEventsDeps): EventSource[] {
  const cri: EventSource = { name: "CRI GetContainerEvents", open: (signal) => followCriEvents(runtime, signal) };
  if (containerd === undefined) return [cri];
  const open = (signal: AbortSignal) => followContainerdEvents({ containerd, runtime, stops, clock }, signal);
  return [{ name: "containerd's event service", runtimeName: "containerd", open }, cri];
}

async function* followCriEvents(
  runtime: Pick<RuntimeService, "getContainerEvents">,
  signal: AbortSignal,
): AsyncIterable<RuntimeEvent> {
  for await (const response of runtime.getContainerEvents({}, { signal })) yield decodeCriEvent(response);
}

const KINDS = new Map<number, RuntimeEvent["kind"]>([
  [ContainerEventType.CONTAINER_CREATED_EVENT, "created"],
  [ContainerEventType.CONTAINER_STARTED_EVENT, "started"],
  [ContainerEventType.CONTAINER_STOPPED_EVENT, "stopped"],
  [ContainerEventType.CONTAINER_DELETED_EVENT, "deleted"],
]);

/** An unknown type is read as `stopped`, because any hint leads to a reading of the status. */
export function decodeCriEvent(response: ContainerEventResponse): RuntimeEvent {
  const podUid = response.podSandboxStatus?.metadata?.uid;
  const kind = KINDS.get(response.containerEventType) ?? "stopped";
  return { kind, containerId: response.containerId, ...(podUid ? { podUid } : {}) };
}

/** The source that is tried, and how often in a row it broke before it was connected, or soon afterwards. */
interface Attempt {
  source: number;
  failures: number;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
/**
 * A stream that broke sooner counts as one that never was. Each connection costs a relist, and a runtime that sends one
 * event and hangs up would cause ten of them a second.
 */
const STEADY_MS = 10_000;
/** A runtime without events is asked again after this time, because it may have been upgraded meanwhile. */
const UNSUPPORTED_RETRY_MS = 5 * 60_000;

/**
 * After a stream that the runtime does not have, the next source follows at once; after the last source comes a long
 * wait. After a stream that broke, everything starts over with back-off, since another version of the runtime may
 * answer.
 */
export function planRetry(
  attempt: Attempt,
  outcome: { unsupported: boolean; wasSteady: boolean; sources: number },
): { attempt: Attempt; delayMs: number } {
  if (outcome.unsupported) {
    const source = attempt.source + 1;
    if (source < outcome.sources) return { attempt: { ...attempt, source }, delayMs: 0 };
    return { attempt: { source: 0, failures: 0 }, delayMs: UNSUPPORTED_RETRY_MS };
  }
  const failures = (outcome.wasSteady ? 0 : attempt.failures) + 1;
  const delayMs = computeBackOff(failures, { initialMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS });
  return { attempt: { source: 0, failures }, delayMs };
}

interface Connection {
  /** Ends the stream. */
  signal: AbortSignal;
  /** Called when an event came, which shows that the stream is open. */
  confirm(): void;
  end(): Promise<void>;
  readonly wasConnected: boolean;
  /** The runtime is another one than that which has such a stream. */
  readonly isForeign: boolean;
}

const SETTLE_MS = 100;
const CONFIRM_RETRY_MS = 1_000;

/**
 * Finds out whether a stream is open. Servers send nothing before the first event, so the evidence is indirect: a call
 * made together with the stream was answered, and a moment later the stream still has not failed. A busy runtime takes
 * longer than that to refuse a stream that it does not have, so that its name counts, too.
 */
function watchConnection(
  { runtime, clock, runtimeName }: RuntimeEventsDeps & { runtimeName: string | undefined },
  parent: AbortSignal,
  onConnected: (connected: boolean) => void,
): Connection {
  const { controller, release } = childController(parent);
  const { signal } = controller;
  let connected = false;
  let isForeign = false;
  const confirm = () => {
    if (connected || signal.aborted) return;
    connected = true;
    onConnected(true);
  };
  const confirmed = (async () => {
    while (!connected && !signal.aborted) {
      const answer = await runtime.version({ version: "" }, { signal }).catch(() => undefined);
      isForeign = answer !== undefined && runtimeName !== undefined && answer.runtimeName !== runtimeName;
      if (isForeign) controller.abort();
      await pause(clock, answer === undefined ? CONFIRM_RETRY_MS : SETTLE_MS, signal);
      if (answer !== undefined) confirm();
    }
  })();
  return {
    signal,
    confirm,
    async end() {
      controller.abort();
      release();
      await confirmed;
      if (connected) onConnected(false);
    },
    get wasConnected() {
      return connected;
    },
    get isForeign() {
      return isForeign;
    },
  };
}

/** Sleeps, and returns early when the signal fires. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(clock, ms, signal);
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
}

function reasonOf(failure: unknown): string {
  return failure === undefined ? "the runtime ended the stream" : messageOf(failure);
}
