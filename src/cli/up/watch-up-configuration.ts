import { dirname } from "node:path";
import { isAbort, sleep } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { runInBackground } from "../../base/tasks.ts";
import type { Files } from "../../host/port.ts";
import type { UpConfiguration } from "./read-up-configuration.ts";
import { describeChanges } from "./up-configuration.ts";

interface WatchDeps {
  readonly clock: Clock;
  readonly files: Pick<Files, "watch">;
  /** Reads the file again. */
  read(): Promise<UpConfiguration | undefined>;
  /** Tells the user one thing. */
  say(line: string): void;
}

/** A watch of the configuration file of a node that runs. */
interface ConfigurationWatch {
  /** Looks at once, and says also that nothing has changed: for a signal. */
  look(): void;
}

/** A file that is being written is not read yet. */
const SETTLE_MS = 500;
const RESTART = "It counts from the next start on: nodelet down, then nodelet up; pods run on meanwhile";

/**
 * Says what has changed in the file that a node was started with, each state of it once, until the signal fires. No setting
 * changes while the node runs, so that all of them need a restart.
 */
export function watchUpConfiguration(
  { clock, files, read, say }: WatchDeps,
  started: UpConfiguration,
  signal: AbortSignal,
): ConfigurationWatch {
  const { path } = started;
  let told = "";
  const tell = async (isAsked: boolean) => {
    if (!isAsked) await sleep(clock, SETTLE_MS, signal);
    const found = await describe();
    if (found === told && !isAsked) return;
    told = found;
    say(found === "" ? `${path} says what it said when the node was started` : found);
  };
  const describe = async (): Promise<string> => {
    try {
      const changes = describeChanges(started.values, (await read())?.values ?? {});
      return changes.length === 0 ? "" : `${path} has changed: ${changes.join(", ")}. ${RESTART}`;
    } catch (error) {
      return `${path} has changed, and no start would succeed with it: ${messageOf(error)}. The node runs on as it was`;
    }
  };
  // One after the other, so that what is said last is the last state; changes during a look are one more look.
  let looking = Promise.resolve();
  let waiting = 0;
  const look = (isAsked: boolean) => {
    if (waiting > 1 && !isAsked) return;
    waiting += 1;
    looking = looking
      .then(async () => await tell(isAsked))
      .catch((error: unknown) => {
        if (!isAbort(error)) say(`${path} is not read: ${messageOf(error)}`);
      })
      .finally(() => {
        waiting -= 1;
      });
  };
  runInBackground(
    async () => {
      await files.watch(dirname(path), () => look(false), signal);
      if (!signal.aborted) say(`${dirname(path)} is gone: what changes in ${path} is not noticed any more`);
    },
    (error) => say(`${path} is not watched: ${messageOf(error)}`),
  );
  return { look: () => look(true) };
}
