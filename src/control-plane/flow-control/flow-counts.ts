import { SECOND } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { FlowEntry, FlowRefusal } from "./flow-request.ts";
import { declareFlowSeries, type FlowTally } from "./flow-series.ts";
import type { SeatLimits } from "./seats.ts";

/** What was counted of a priority level. */
interface LevelCounts {
  readonly waiting: number;
  readonly serving: number;
  readonly dispatched: number;
  readonly refused: Readonly<Record<FlowRefusal, number>>;
}

/** Counts requests by level and schema, in upstream's series. */
export interface FlowCounts {
  wait(entry: FlowEntry): void;
  /** Counts one that waited, or has just come. */
  start(entry: FlowEntry): void;
  end(entry: FlowEntry, now: number): void;
  refuse(entry: FlowEntry, reason: FlowRefusal, now: number): void;
  ofLevel(name: string): LevelCounts;
}

/** Users may make and remove schemas for ever: requests of later ones are counted together. */
const MAX_TALLIES = 1_000;

/** `limits` tells how the seats are divided, for whoever reads the metrics. */
export function createFlowCounts(metrics: Metrics, limits: () => ReadonlyMap<string, SeatLimits>): FlowCounts {
  const tallies = new Map<string, FlowTally>();
  // What a schema's requests are counted in is found by the schema itself, without a name that is put together first.
  const known = new WeakMap<object, FlowTally>();
  const others = emptyTally("others", "others");
  const waiting = new Set<FlowEntry>();
  const series = declareFlowSeries(metrics);
  metrics.beforeRender(() => series.tell([...tallies.values(), others], limits()));

  const tallyOf = ({ flow: { schema, level } }: FlowEntry): FlowTally => {
    const tally = known.get(schema);
    if (tally?.level === level.name) return tally;
    const key = `${level.name} ${schema.name}`;
    const isFull = tallies.size >= MAX_TALLIES && !tallies.has(key);
    const found = isFull ? others : (tallies.get(key) ?? emptyTally(level.name, schema.name));
    if (!isFull) tallies.set(key, found);
    known.set(schema, found);
    return found;
  };
  const endWait = (entry: FlowEntry, tally: FlowTally) => {
    if (!waiting.delete(entry)) return;
    tally.waiting--;
    tally.waitingSeats -= entry.seats;
  };

  return {
    wait(entry) {
      const tally = tallyOf(entry);
      waiting.add(entry);
      tally.waiting++;
      tally.waitingSeats += entry.seats;
    },
    start(entry) {
      const tally = tallyOf(entry);
      endWait(entry, tally);
      tally.serving++;
      tally.servingSeats += entry.seats;
      tally.dispatched++;
      series.waited(tally, { seconds: secondsBetween(entry.arrivedAt, entry.startedAt), isServed: true });
    },
    end(entry, now) {
      const tally = tallyOf(entry);
      tally.serving--;
      tally.servingSeats -= entry.seats;
      series.served(tally, { seconds: secondsBetween(entry.startedAt, now), isWatch: entry.asked.verb === "watch" });
    },
    refuse(entry, reason, now) {
      const tally = tallyOf(entry);
      endWait(entry, tally);
      tally.refused[reason]++;
      series.waited(tally, { seconds: secondsBetween(entry.arrivedAt, now), isServed: false });
    },
    ofLevel: (name) => sumOf([...tallies.values()].filter(({ level }) => level === name)),
  };
}

const secondsBetween = (from: number | undefined, to: number | undefined) => ((to ?? 0) - (from ?? 0)) / SECOND;

const noRefusals = (): FlowTally["refused"] => ({
  "queue-full": 0,
  "concurrency-limit": 0,
  "time-out": 0,
  cancelled: 0,
});

function emptyTally(level: string, schema: string): FlowTally {
  const now = { waiting: 0, waitingSeats: 0, serving: 0, servingSeats: 0 };
  return { level, schema, ...now, dispatched: 0, refused: noRefusals() };
}

function sumOf(tallies: readonly FlowTally[]): LevelCounts {
  const sum = { waiting: 0, serving: 0, dispatched: 0, refused: noRefusals() };
  for (const { waiting, serving, dispatched, refused } of tallies) {
    sum.waiting += waiting;
    sum.serving += serving;
    sum.dispatched += dispatched;
    for (const reason of REFUSALS) sum.refused[reason] += refused[reason];
  }
  return sum;
}

const REFUSALS: readonly FlowRefusal[] = ["queue-full", "concurrency-limit", "time-out", "cancelled"];
