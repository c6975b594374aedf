import type { RunResult } from "./run.ts";

/** Says at once what failed, and in the end what was run. */
interface Report {
  add(result: RunResult): void;
  /** Sets the exit code. */
  end(): void;
}

const MOST_SHOWN = 5;
const HOUR_MS = 3_600_000;

export function createReport(): Report {
  const begunAt = Date.now();
  const faults = new Map<string, number>();
  const sums = { seeds: 0, virtualMs: 0, steps: 0 };
  const failed: string[] = [];

  const showFailure = ({ seed, suite, failure, trace }: RunResult) => {
    failed.push(`${seed} of the ${suite}`);
    const head = `\nSeed ${seed} of the ${suite}: ${failure?.invariant}\n  ${failure?.message}`;
    const replay = `Replay: npm run sim -- --only "${suite}" --seed ${seed}`;
    console.log(failed.length > MOST_SHOWN ? `${head}\n${replay}` : [head, ...trace, replay].join("\n"));
  };

  return {
    add(result) {
      sums.seeds++;
      sums.virtualMs += result.virtualMs;
      sums.steps += result.steps;
      for (const [kind, count] of result.faults) faults.set(kind, (faults.get(kind) ?? 0) + count);
      if (result.failure !== undefined) showFailure(result);
    },
    end() {
      const counts = [...faults].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => `${kind} ${count}`);
      const wall = `${((Date.now() - begunAt) / 1000).toFixed(1)} s`;
      const virtual = `${(sums.virtualMs / HOUR_MS).toFixed(1)} h of virtual time`;
      const verdict = failed.length === 0 ? "every invariant held" : `${failed.length} FAILED: ${failed.join(", ")}`;
      console.log(
        `${sums.seeds} seeds, ${virtual}, ${sums.steps} steps in ${wall}: ${verdict} (faults: ${counts.join(", ")})`,
      );
      if (failed.length > 0) process.exitCode = 1;
    },
  };
}
