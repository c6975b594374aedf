import { aborted, isAbort, sleep } from "../../base/abort.ts";
import { createBackOff } from "../../base/back-off.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";

/** A process that the supervisor keeps running. */
export interface SupervisedProcess {
  readonly pid: number;
  /** Resolves when it has ended. */
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  stop(): Promise<void>;
}

interface SupervisedService {
  name: string;
  /** Starts the process again after it has ended. A rejection counts as one more failure. */
  start(): Promise<SupervisedProcess>;
}

/** Firing `signal` stops the service. */
interface SuperviseDeps {
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}

const INITIAL_RESTART_DELAY_MS = 200;
const MAX_RESTART_DELAY_MS = 30_000;

/**
 * Keeps a service running until the signal fires, then stops it and resolves. Whenever the service ends it is started
 * again, after 200 ms the first time and up to 30 s when it keeps ending. The delay starts over after a run of a
 * minute.
 */
export async function superviseService(
  service: SupervisedService,
  first: SupervisedProcess,
  deps: SuperviseDeps,
): Promise<void> {
  const { clock, log, signal } = deps;
  const backOff = createBackOff({ initialMs: INITIAL_RESTART_DELAY_MS, maxMs: MAX_RESTART_DELAY_MS });
  const asked = aborted(signal).then(() => undefined);
  let current: SupervisedProcess | undefined = first;
  while (true) {
    if (current !== undefined) {
      const exit = await Promise.race([current.exited, asked]);
      if (signal.aborted || exit === undefined) return await current.stop();
      log.warn(`${service.name} ended, starting it again`, { pid: current.pid, code: exit.code, signal: exit.signal });
    }
    const endedAt = clock.now();
    const delayMs = backOff.next(service.name, endedAt, endedAt);
    current = await restart(service, delayMs, deps);
    if (current === undefined && signal.aborted) return;
  }
}

async function restart(
  service: SupervisedService,
  delayMs: number,
  deps: SuperviseDeps,
): Promise<SupervisedProcess | undefined> {
  const { clock, log, signal } = deps;
  try {
    await sleep(clock, delayMs, signal);
    const started = await service.start();
    log.info(`${service.name} runs again`, { pid: started.pid });
    return started;
  } catch (error) {
    if (!isAbort(error)) log.error(`${service.name} does not start`, { error: messageOf(error) });
    return undefined;
  }
}
