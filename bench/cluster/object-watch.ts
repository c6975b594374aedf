import { AbortedError } from "../../src/base/abort.ts";
import { messageOf } from "../../src/base/errors.ts";
import { type Connection, expectStatus } from "../control-plane/connection.ts";

/** What a watcher is told. */
export interface WatchEvent<T> {
  type: string;
  object: T;
}

/** A watch of all objects of a path, open for the whole of a run: what a waiting client sees. */
export interface ObjectWatch<T> {
  /**
   * Resolves when an event of each of these objects fitted, with the time (of `performance.now()`) at which the first
   * did. Events that came before the call do not count, so it is called before whatever causes them.
   */
  until(wanted: Wanted<T>): Promise<ReadonlyMap<string, number>>;
}

interface Wanted<T> {
  names: readonly string[];
  what: string;
  fits(event: WatchEvent<T>): boolean;
  signal: AbortSignal;
}

const TIMEOUT_MS = 180_000;
/** Longer than any run; the server would end it sooner. */
const WATCH_SECONDS = 24 * 60 * 60;

interface Named {
  metadata?: { name?: string; resourceVersion?: string };
}

/** Resolves when the watch is open. */
export async function openWatch<T extends Named>(connection: Connection, path: string): Promise<ObjectWatch<T>> {
  const listeners = new Set<(event: WatchEvent<T>, now: number) => void>();
  const list: Named = JSON.parse(
    expectStatus(await connection.request({ method: "GET", path: `${path}?limit=1` }), 200),
  );
  const version = list.metadata?.resourceVersion ?? "";
  const query = `?watch=true&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=${version}`;
  const lines = createLineReader((line, now) => {
    const event: WatchEvent<T> = JSON.parse(line);
    for (const listener of [...listeners]) listener(event, now);
  });
  const status = await connection.stream({ method: "GET", path: `${path}${query}` }, lines);
  if (status !== 200) throw new Error(`the watch of ${path} is answered with ${status}`);

  return {
    async until({ names, what, fits, signal }) {
      const seen = new Map<string, number>();
      const missing = new Set(names);
      if (missing.size === 0) return seen;
      return await new Promise((resolve, reject) => {
        const listener = (event: WatchEvent<T>, now: number) => {
          const name = event.object.metadata?.name ?? "";
          try {
            if (!missing.has(name) || !fits(event)) return;
          } catch (error) {
            end(() => reject(new Error(`${what}: ${messageOf(error)}`, { cause: error })));
            return;
          }
          seen.set(name, now);
          missing.delete(name);
          if (missing.size === 0) end(() => resolve(seen));
        };
        const interrupt = () => end(() => reject(new AbortedError()));
        const timer = setTimeout(() => {
          const late = `${[...missing][0]} and ${missing.size - 1} more: ${what} did not happen in ${TIMEOUT_MS / 1_000} s`;
          end(() => reject(new Error(late)));
        }, TIMEOUT_MS);
        // After a failure elsewhere nobody waits for it any more, the process neither.
        timer.unref();
        const end = (settle: () => void) => {
          clearTimeout(timer);
          listeners.delete(listener);
          signal.removeEventListener("abort", interrupt);
          settle();
        };
        listeners.add(listener);
        signal.addEventListener("abort", interrupt, { once: true });
        if (signal.aborted) interrupt();
      });
    },
  };
}

/** Takes the pieces of a stream and gives each line with the time at which its last piece came. */
function createLineReader(onLine: (line: string, now: number) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const now = performance.now();
    const text = Buffer.concat([rest, chunk]);
    let begin = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", begin)) {
      onLine(text.toString("utf8", begin, end), now);
      begin = end + 1;
    }
    rest = text.subarray(begin);
  };
}
