import { aborted } from "./abort.ts";
import { messageOf, runAll } from "./errors.ts";
import { createTasks, type Tasks } from "./tasks.ts";

/** A part of the process that works until its signal fires. */
export interface Part {
  name: string;
  run(signal: AbortSignal): Promise<void>;
}

/** The background work of the process. */
export interface PartRunner {
  /** Parts start further work here. A crash of such a task is a crash of the node agent. */
  tasks: Tasks;
  /**
   * Runs all parts until the signal fires or one crashes. The `reporting` parts stop last, so that they can tell how
   * the rest ended: first `working` ends, then `between` is done, then `reporting` ends. Rejects with the crash when
   * all are gone.
   */
  run(parts: PartGroups, signal: AbortSignal): Promise<void>;
}

interface PartGroups {
  working: readonly Part[];
  reporting: readonly Part[];
  /** The steps run in this order, and each runs even if an earlier one fails. */
  between: ReadonlyArray<() => Promise<void>>;
}

export function createPartRunner(): PartRunner {
  const stopping = new AbortController();
  let crash: Error | undefined;
  const onCrash = (name: string, error: unknown) => {
    crash ??= new Error(`${name} crashed: ${messageOf(error)}`, { cause: error });
    stopping.abort();
  };
  const tasks = createTasks(onCrash);
  const reporters = createTasks(onCrash);

  return {
    tasks,
    async run({ working, reporting, between }, signal) {
      const silenced = new AbortController();
      const stop = () => stopping.abort();
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      for (const { name, run } of reporting) reporters.spawn(name, async () => await run(silenced.signal));
      for (const { name, run } of working) tasks.spawn(name, async () => await run(stopping.signal));
      try {
        await aborted(stopping.signal);
        await tasks.settled();
        await runAll(between, "stopping the node agent");
      } finally {
        signal.removeEventListener("abort", stop);
        silenced.abort();
        await reporters.settled();
      }
      if (crash !== undefined) throw crash;
    },
  };
}
