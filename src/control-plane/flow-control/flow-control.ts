import { ApiError } from "../../api/api-error.ts";
import { AbortedError } from "../../base/abort.ts";
import { type Clock, SECOND } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { ServedAnswer } from "../../host/http-server.ts";
import type { AccessAttributes } from "../ports/request.ts";
import type { ResourceFeed } from "../ports/resources.ts";
import { createFairLine, type FairLine } from "./fair-line.ts";
import { createFlowCounts, type FlowCounts } from "./flow-counts.ts";
import { type Flow, followFlowObjects, type PriorityLevel } from "./flow-objects.ts";
import { type FlowEntry, type FlowRefusal, type FlowRequest, lineOf } from "./flow-request.ts";
import { createRoom, type Room } from "./room.ts";
import type { SeatLimits } from "./seats.ts";

/** Limits the requests of each priority level, and lets flows take turns where they have to wait. */
export interface FlowControl {
  /** Undefined until the first objects are there: such a request is not limited. */
  classify(asked: AccessAttributes): Flow | undefined;
  /**
   * Returns, or resolves, when the request may be served. Throws or rejects with TooManyRequests where its level refuses
   * it, and with AbortedError where the client leaves first.
   */
  enter(request: FlowRequest): Admitted | Promise<Admitted>;
  /** What is there now, for those who look into it. */
  snapshot(): FlowSnapshot;
}

/** A request that is served. */
export interface Admitted {
  /** The request failed, or its answer needs no more work that counts. */
  leave(): void;
  /** The request is answered. A long answer counts until it is sent. */
  leaveAfter(answer: ServedAnswer): ServedAnswer;
}

export interface FlowSnapshot {
  readonly levels: readonly PriorityLevel[];
  readonly limits: ReadonlyMap<string, SeatLimits>;
  /** Line by line. */
  readonly waiting: ReadonlyArray<readonly FlowEntry[]>;
  readonly served: Iterable<FlowEntry>;
  readonly counts: Pick<FlowCounts, "ofLevel">;
}

/** A client that takes its answer slowly keeps nobody waiting for longer than this. */
const LONGEST_TURN_MS = 200;
/** A quarter of what a request may take, as upstream. */
const LONGEST_WAIT_MS = 15 * SECOND;
/** How many requests of a level without queues wait for nothing but a turn. */
const WAITING_FOR_TURNS = 50;
const RETRY_AFTER_SECONDS = 1;

/** A request that waits, and how its wait ends. */
interface Waiting {
  readonly entry: FlowEntry;
  start(): void;
}

interface FlowControlDeps {
  feed: ResourceFeed;
  clock: Clock;
  metrics: Metrics;
}

export function createFlowControl({ feed, clock, metrics }: FlowControlDeps): FlowControl {
  const line = createFairLine<Waiting>();
  const served = new Set<FlowEntry>();
  const objects = followFlowObjects(feed);
  const room = createRoom(objects.levels);
  const counts = createFlowCounts(metrics, room.limits);

  const tryStart = (entry: FlowEntry) => {
    if (!entry.flow.level.isExempt && !room.tryTake(entry)) return false;
    entry.startedAt = clock.monotonic();
    served.add(entry);
    counts.start(entry);
    return true;
  };
  const offer = () =>
    line.offer((waiting) => {
      if (!tryStart(waiting.entry)) return false;
      waiting.start();
      return true;
    });
  const end = (entry: FlowEntry) => {
    if (!served.delete(entry)) return;
    counts.end(entry, clock.monotonic());
    if (entry.flow.level.isExempt) return;
    room.give(entry);
    offer();
  };
  const admit = (entry: FlowEntry): Admitted => ({
    leave: () => end(entry),
    leaveAfter: (answer) => {
      if (entry.isLong && !entry.flow.level.isExempt) return endAfter(answer, { clock, end: () => end(entry) });
      end(entry);
      return answer;
    },
  });

  objects.onLevels(() => {
    room.divide();
    offer();
  });
  return {
    classify: objects.classify,
    enter(request) {
      const entry = entryOf(request, room.limits(), clock.monotonic());
      const isFirst = line.isEmpty || line.lengthOf(lineOf(entry)) === 0;
      if (isFirst && tryStart(entry)) return admit(entry);
      const refusal = whyNoWait(entry, { room, line, counts });
      if (refusal !== undefined) {
        counts.refuse(entry, refusal, clock.monotonic());
        throw tooManyRequests();
      }
      return waitInLine(entry, { line, clock, counts }).then(() => admit(entry));
    },
    snapshot: () => ({
      levels: [...objects.levels()],
      limits: room.limits(),
      waiting: [...line.flows()].map(([, waiting]) => waiting.map(({ entry }) => entry)),
      served,
      counts,
    }),
  };
}

/** Every request makes one: its fields are named, because copying them costs more than all that follows. */
function entryOf(
  { flow, asked, seats, isLong, signal }: FlowRequest,
  limits: ReadonlyMap<string, SeatLimits>,
  arrivedAt: number,
): FlowEntry {
  // No wider than its level, or it would never start.
  const fitting = seats === 1 ? 1 : Math.max(1, Math.min(seats, limits.get(flow.level.name)?.nominal ?? 1));
  return { flow, asked, seats: fitting, isLong, signal, arrivedAt, startedAt: undefined };
}

function whyNoWait(
  entry: FlowEntry,
  { room, line, counts }: { room: Room; line: FairLine<Waiting>; counts: FlowCounts },
): FlowRefusal | undefined {
  const { queuing, name } = entry.flow.level;
  if (queuing === undefined && !room.hasSeats(entry)) return "concurrency-limit";
  const { perFlow, inAll } = queuing ?? { perFlow: WAITING_FOR_TURNS, inAll: WAITING_FOR_TURNS };
  const isFull = line.lengthOf(lineOf(entry)) >= perFlow || counts.ofLevel(name).waiting >= inAll;
  return isFull ? "queue-full" : undefined;
}

const tooManyRequests = () => {
  const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
  return new ApiError("TooManyRequests", "Too many requests, please try again later.", details);
};

/** Resolves when the entry has started. */
async function waitInLine(
  entry: FlowEntry,
  { line, clock, counts }: { line: FairLine<Waiting>; clock: Clock; counts: FlowCounts },
): Promise<void> {
  const { signal } = entry;
  await new Promise<void>((resolve, reject) => {
    const giveUp = (reason: FlowRefusal, error: Error) => {
      timer.cancel();
      signal.removeEventListener("abort", leave);
      line.remove(lineOf(entry), waiting);
      counts.refuse(entry, reason, clock.monotonic());
      reject(error);
    };
    const leave = () => giveUp("cancelled", new AbortedError());
    const waiting: Waiting = {
      entry,
      start() {
        timer.cancel();
        signal.removeEventListener("abort", leave);
        resolve();
      },
    };
    const timer = clock.setTimer(LONGEST_WAIT_MS, () => giveUp("time-out", tooManyRequests()));
    signal.addEventListener("abort", leave, { once: true });
    line.add(lineOf(entry), waiting);
    counts.wait(entry);
  });
}

/** Ends the request with its answer, or before a slow client has taken it. */
function endAfter(answer: ServedAnswer, { clock, end }: { clock: Clock; end: () => void }): ServedAnswer {
  const timer = clock.setTimer(LONGEST_TURN_MS, end);
  return {
    ...answer,
    onOver() {
      timer.cancel();
      end();
    },
  };
}
