import type { Clock } from "./clock.ts";
import { CodedError } from "./errors.ts";

/**
 * Runs work that may never end and cannot be stopped: calls to a file system of another machine, each of which holds
 * one of the few threads of this process until it is answered. At most `maxHung` works run at once, so that no more
 * than that many threads are ever lost. Each key has one work at a time, and the others wait for their turn as long as
 * there is hope.
 *
 *   waiting ──turn──▶ running ──ends──▶ gone
 *      │                 └──time is over──▶ overdue (the caller has its error) ──ends──▶ gone
 *      └──time is over, or only overdue works are in its way──▶ refused
 */
export interface HangGuard {
  /**
   * `key` says what the work waits for, as messages name it (`/var/lib/…/mount`, `nfs.example:/data`). Rejects with
   * `ETIMEDOUT` when the work has not ended `timeoutMs` after this call, and at once when an overdue work of the same
   * key is still under way. Rejects with `EBUSY` when `maxHung` works are overdue, or too many wait. A late result is
   * dropped.
   */
  run<T>(key: string, timeoutMs: number, work: () => Promise<T>): Promise<T>;
  /** The number of works whose callers have given up on them. */
  readonly overdue: number;
}

interface Request {
  readonly key: string;
  readonly start: () => void;
  readonly refuse: (error: Error) => void;
}

interface Work {
  readonly startedAt: number;
  isOverdue: boolean;
}

/** The next request is refused when this many wait. */
const MAX_WAITING = 1_000;

interface HangGuardOptions {
  readonly clock: Clock;
  /** It is less than the number of threads of the process, so that the others can still work. */
  readonly maxHung: number;
}

export function createHangGuard({ clock, maxHung }: HangGuardOptions): HangGuard {
  const works = new Map<string, Work>();
  const line = new Set<Request>();
  const countOverdue = () => [...works.values()].filter(({ isOverdue }) => isOverdue).length;

  const advance = () => {
    for (const request of [...line]) {
      const refusal = refusalOf(request.key, works, { clock, maxHung });
      if (refusal === undefined && (works.has(request.key) || works.size >= maxHung)) continue;
      line.delete(request);
      if (refusal) request.refuse(refusal);
      else request.start();
    }
  };

  return {
    async run(key, timeoutMs, work) {
      if (line.size >= MAX_WAITING) throw new CodedError("EBUSY", `not asking ${key}: ${MAX_WAITING} others wait`);
      return await new Promise((resolve, reject) => {
        let running: Work | undefined;
        const timer = clock.setTimer(timeoutMs, () => {
          line.delete(request);
          reject(new CodedError("ETIMEDOUT", `${key} has not answered within ${timeoutMs} ms`));
          if (running) running.isOverdue = true;
          advance();
        });
        const request: Request = {
          key,
          refuse(error) {
            timer.cancel();
            reject(error);
          },
          start() {
            running = { startedAt: clock.monotonic(), isOverdue: false };
            works.set(key, running);
            (async () => await work())()
              .then(resolve, reject)
              .finally(() => {
                timer.cancel();
                works.delete(key);
                advance();
              });
          },
        };
        line.add(request);
        advance();
      });
    },
    get overdue() {
      return countOverdue();
    },
  };
}

/** Returns undefined for a request that may start, or that can hope to. */
function refusalOf(
  key: string,
  works: ReadonlyMap<string, Work>,
  { clock, maxHung }: HangGuardOptions,
): Error | undefined {
  const work = works.get(key);
  if (work?.isOverdue) {
    const seconds = Math.round((clock.monotonic() - work.startedAt) / 1_000);
    return new CodedError("ETIMEDOUT", `still waiting for ${key}, which has not answered for ${seconds} s`);
  }
  const overdue = [...works.values()].filter(({ isOverdue }) => isOverdue).length;
  if (overdue < maxHung) return undefined;
  const hung = [...works.keys()].join(", ");
  return new CodedError("EBUSY", `not asking ${key}: ${maxHung} others have not answered in time: ${hung}`);
}
