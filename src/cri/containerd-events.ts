import { setMaxListeners } from "node:events";
import { childController, isAbort, sleep } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { createLimiter } from "../base/limiter.ts";
import { createMailbox } from "../base/mailbox.ts";
import { createTasks } from "../base/tasks.ts";
import { openChannel } from "../grpc/channel.ts";
import { parseEndpoint } from "../grpc/endpoint.ts";
import type { CallOptions } from "../grpc/port.ts";
import { createService, mapErrors } from "../grpc/service.ts";
import type { RuntimeEvent } from "./container-events.ts";
import { asCriError } from "./explained-calls.ts";
import { ContainerCreate, ContainerDelete, TaskExit, TaskOOM, TaskStart } from "./gen/containerd/events.ts";
import { EventsDefinition } from "./gen/containerd/events-service.ts";
import type { Envelope } from "./gen/containerd/types.ts";
import { ContainerState, PodSandboxState } from "./gen/cri-v1.ts";
import type { OwnStops } from "./own-stops.ts";
import { CriError, isCriError, type RuntimeService } from "./port.ts";

/** containerd's own event service, which listens on the same socket as its CRI. */
export interface ContainerdEvents {
  /** Yields the events that match any of the filters, from now on; nothing is replayed. Rejects with CriError. */
  subscribe(filters: string[], options: CallOptions): AsyncIterable<Envelope>;
  close(): void;
}

/** The containerd namespace that its CRI plugin keeps sandboxes and containers in. */
const CRI_NAMESPACE = "k8s.io";
/** What names that namespace in each call of containerd's own services. */
export const CONTAINERD_METADATA = { "containerd-namespace": CRI_NAMESPACE };

/** Connects with the first subscription. Throws CodedError `invalid-endpoint`. The caller closes the connection. */
export function connectContainerdEvents(endpointText: string): ContainerdEvents {
  const endpoint = parseEndpoint(endpointText);
  const channel = openChannel({
    endpoint,
    requestTimeoutMs: Number.POSITIVE_INFINITY,
    metadata: CONTAINERD_METADATA,
  });
  const events = createService(
    EventsDefinition,
    mapErrors(channel, (error) => asCriError(error, endpoint)),
  );
  return {
    subscribe: (filters, options) => events.subscribe({ filters }, options),
    close: () => channel.close(),
  };
}

const TOPICS = ["/containers/create", "/containers/delete", "/tasks/start", "/tasks/exit", "/tasks/oom"];

/** A subscription delivers every namespace unless a filter says otherwise. */
const FILTERS = TOPICS.map((topic) => `namespace==${CRI_NAMESPACE},topic=="${topic}"`);

/**
 * The bound on events that the reader has not taken yet. At the bound the stream fails, so that its reader relists and
 * starts over.
 */
const MAX_PENDING = 1_000;
const MAX_STATUS_READS = 8;

/**
 * Yields containerd's events as hints, each once the CRI plugin's own state shows what the event tells. The exits that
 * `stops` asked for and has an answer for are left out: whoever stops something reads it afterwards.
 */
export async function* followContainerdEvents(
  deps: { containerd: ContainerdEvents; runtime: StatusReader; stops?: OwnStops | undefined; clock: Clock },
  parent: AbortSignal,
): AsyncIterable<RuntimeEvent> {
  const { controller, release } = childController(parent);
  const { signal } = controller;
  // Every pending event listens to the signal; MAX_PENDING bounds their number.
  setMaxListeners(0, signal);
  const pending = createMailbox<RuntimeEvent>(MAX_PENDING);
  const statusReads = createLimiter(MAX_STATUS_READS);
  let failure: Error | undefined;
  const fail = (error: unknown) => {
    failure ??= error instanceof Error ? error : new Error(String(error));
    controller.abort();
  };
  const tasks = createTasks((_name, error) => fail(error));
  const hasYetToStop = async (id: string) =>
    await statusReads.run(async () => await readHasYetToStop(deps.runtime, id, signal), signal);
  const deliver = async (event: RuntimeEvent, isOom: boolean) => {
    const catchUpLimitMs = isOom ? OOM_LIMIT_MS : EXIT_LIMIT_MS;
    if (event.kind === "stopped") {
      const { containerId } = event;
      // Who asked for the stop reads the pod once it is over, so that its exit is no news. An OOM kill may be: the
      // runtime notes it as the reason of the end.
      const isStopped = (await deps.stops?.isOver(containerId, signal)) ?? false;
      if (isStopped && !isOom) return;
      if (!isStopped) await untilStopped({ clock: deps.clock, hasYetToStop }, { containerId, catchUpLimitMs, signal });
    }
    if (!pending.offer(event)) fail(overflow());
  };
  const read = async () => {
    for await (const envelope of deps.containerd.subscribe(FILTERS, { signal })) {
      const event = decodeEnvelope(envelope);
      if (event === undefined) continue;
      if (tasks.running > MAX_PENDING) throw overflow();
      tasks.spawn("deliver", async () => await deliver(event, isOomKill(envelope)));
    }
    controller.abort();
  };

  tasks.spawn("read", read);
  try {
    for (;;) yield await pending.take(signal);
  } catch (error) {
    if (!isAbort(error)) throw error;
    if (failure !== undefined) throw failure;
  } finally {
    controller.abort();
    release();
    await tasks.settled();
  }
}

/**
 * Undefined for an event that does not concern this program: one of another namespace, of another type, or the end of
 * an exec.
 */
export function decodeEnvelope(envelope: Envelope): RuntimeEvent | undefined {
  if (envelope.namespace !== CRI_NAMESPACE || envelope.event === undefined) return undefined;
  const { typeUrl, value } = envelope.event;
  // containerd writes the bare name; the protobuf library's own form is `type.googleapis.com/` and the name.
  switch (typeUrl.slice(typeUrl.lastIndexOf("/") + 1)) {
    case "containerd.events.ContainerCreate":
      return { kind: "created", containerId: ContainerCreate.decode(value).id };
    case "containerd.events.ContainerDelete":
      return { kind: "deleted", containerId: ContainerDelete.decode(value).id };
    case "containerd.events.TaskStart":
      return { kind: "started", containerId: TaskStart.decode(value).containerId };
    case "containerd.events.TaskOOM":
      return { kind: "stopped", containerId: TaskOOM.decode(value).containerId };
    case "containerd.events.TaskExit": {
      const { containerId, id } = TaskExit.decode(value);
      return id === containerId ? { kind: "stopped", containerId } : undefined;
    }
    default:
      return undefined;
  }
}

type StatusReader = Pick<RuntimeService, "containerStatus" | "podSandboxStatus">;

/** An exit is in the status after 10 to 40 ms as a rule; on a very busy machine it took more than a second. */
const EXIT_LIMIT_MS = 30_000;
/** An OOM kill may have hit one process of several, so the container may go on. */
const OOM_LIMIT_MS = 1_000;
const FIRST_DELAY_MS = 5;
const MAX_DELAY_MS = 250;

function isOomKill({ event }: Envelope): boolean {
  return event?.typeUrl.endsWith("TaskOOM") === true;
}

/**
 * Waits until the status shows the exit. The CRI plugin hears of an exit from the same event as this process, and then
 * cleans up before its state shows it. A status read at once would still say "running", and the hint would have been
 * wasted. The wait ends quietly for a container whose state does not change (an OOM kill inside it) or cannot be read.
 */
async function untilStopped(
  { clock, hasYetToStop }: { clock: Clock; hasYetToStop(id: string): Promise<boolean> },
  { containerId, catchUpLimitMs, signal }: { containerId: string; catchUpLimitMs: number; signal: AbortSignal },
): Promise<void> {
  const startedAt = clock.monotonic();
  for (;;) {
    if (!(await hasYetToStop(containerId))) return;
    const elapsedMs = clock.monotonic() - startedAt;
    if (elapsedMs >= catchUpLimitMs) return;
    // The delay is a quarter of the time so far: the check follows closely after a quick exit, and a slow one costs few
    // readings.
    await sleep(clock, Math.min(Math.max(elapsedMs / 4, FIRST_DELAY_MS), MAX_DELAY_MS), signal);
  }
}

/**
 * Reads whether the container has yet to stop. A process may end before the call that starts it has returned: its
 * container still is "created", and will be "running" before it is "exited".
 */
async function readHasYetToStop(runtime: StatusReader, id: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { status } = await runtime.containerStatus({ containerId: id, verbose: false }, { signal });
    const { state } = status ?? {};
    return state === ContainerState.CONTAINER_CREATED || state === ContainerState.CONTAINER_RUNNING;
  } catch (error) {
    if (!isCriError(error, "not-found")) return false;
  }
  return await isSandboxReady(runtime, id, signal);
}

async function isSandboxReady(runtime: StatusReader, id: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { status } = await runtime.podSandboxStatus({ podSandboxId: id, verbose: false }, { signal });
    return status?.state === PodSandboxState.SANDBOX_READY;
  } catch {
    return false;
  }
}

function overflow(): CriError {
  const detail = `more than ${MAX_PENDING} events wait to be read`;
  return new CriError("resource-exhausted", { rpc: "Subscribe", endpoint: "containerd's event service", detail });
}
