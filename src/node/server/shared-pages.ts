import { sleep } from "../../base/abort.ts";
import { type Clock, SECOND } from "../../base/clock.ts";
import { createSharedCalls } from "../../base/shared-calls.ts";
import type { Page, PageHandler, PageRequest } from "../../host/http-server.ts";

/** The pages that take long to make, and say the same to everybody. */
const SHARED = new Set([
  ...["/pods", "/pods/", "/runningpods", "/runningpods/"],
  ...["/metrics", "/metrics/cadvisor", "/metrics/probes", "/metrics/resource", "/stats/summary"],
]);
/** The longest pause between two makings of one page. */
const MAX_PAUSE_MS = SECOND / 4;

/**
 * Serves the pages of a handler so that clients who ask in great number do not keep the node from its work. Whoever asks
 * while a page is made gets that one. Before it is made again passes as much time as it took, so that half of the
 * process's time is left to everything else. Other requests go to the handler as they come.
 */
export function sharePages(handler: PageHandler, clock: Clock): PageHandler {
  const calls = createSharedCalls<Page>();
  const pauses = new Map<string, { readonly endsAt: number }>();

  const make = async (key: string, request: PageRequest): Promise<Page> => {
    const { signal } = request;
    await sleepUntil(clock, pauses.get(key)?.endsAt, signal);
    const begunAt = clock.monotonic();
    try {
      return await handler(request);
    } finally {
      const endedAt = clock.monotonic();
      pauses.set(key, { endsAt: endedAt + Math.min(endedAt - begunAt, MAX_PAUSE_MS) });
    }
  };

  return async (request) => {
    const key = findKey(request);
    if (key === undefined) return await handler(request);
    return await calls.join(key, request.signal ?? new AbortController().signal, async (signal) => {
      const { method, path, query } = request;
      return await make(key, { method, path, query, signal });
    });
  };
}

async function sleepUntil(clock: Clock, ms: number | undefined, signal: AbortSignal | undefined): Promise<void> {
  const waitMs = ms === undefined ? 0 : ms - clock.monotonic();
  if (waitMs > 0) await sleep(clock, waitMs, signal);
}

/** Names the page that a request asks for; undefined for one that is not shared. There are few names. */
function findKey({ method, path, query }: PageRequest): string | undefined {
  if ((method !== "GET" && method !== "HEAD") || !SHARED.has(path)) return undefined;
  return `${path} ${query.getAll("only_cpu_and_memory").join() === "true"}`;
}
