import { cpus, loadavg, release } from "node:os";
import { computeMedian } from "./stats.ts";

/** What the figures depend on beyond the program. */
export interface Circumstances {
  /** The day on which the run ended. */
  date: string;
  /** What the measured programs work on: a runtime, a file system. */
  runtimes: readonly string[];
  node: string;
  processor: string;
  cpus: number;
  kernel: string;
  /** How many processes wanted to run, on the average of a minute; the bench's own are among them. */
  load: { start: number; median: number };
  minutes: number;
  /** A run of few samples. */
  isQuick?: true;
  /** The cases that failed, each with the reason. */
  failures?: readonly string[];
}

const SAMPLE_MS = 5_000;
const MINUTE_MS = 60_000;

/** Looks at the machine's load until it is stopped. */
export function watchMachine(): { describe(runtimes: readonly string[]): Circumstances; stop(): void } {
  const startedAt = performance.now();
  const readLoad = () => loadavg()[0] ?? 0;
  const start = readLoad();
  const loads = [start];
  const timer = setInterval(() => loads.push(readLoad()), SAMPLE_MS);
  return {
    describe: (runtimes) => ({
      date: new Date().toISOString().slice(0, "2026-01-01".length),
      runtimes,
      node: process.versions.node,
      processor: cpus()[0]?.model ?? "unknown",
      cpus: cpus().length,
      kernel: release(),
      load: { start, median: computeMedian(loads) },
      minutes: (performance.now() - startedAt) / MINUTE_MS,
    }),
    stop: () => clearInterval(timer),
  };
}

/** On one line. */
export function describeCircumstances({ runtimes, node, processor, cpus: count, ...of }: Circumstances): string {
  const load = `load ${of.load.start.toFixed(1)} at the start, ${of.load.median.toFixed(1)} at the median`;
  return [...runtimes, `Node.js ${node}`, `Linux ${of.kernel}`, `${count} CPUs (${processor})`, load].join(", ");
}
