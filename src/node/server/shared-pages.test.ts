import { describe, expect, it } from "vitest";
import { createFakeHost } from "../../host/fake/create-fake-host.ts";
import type { Page, PageRequest } from "../../host/http-server.ts";
import { sharePages } from "./shared-pages.ts";

const TOOK_MS = 80;

describe("pages for many clients", () => {
  const setUp = () => {
    const { clock } = createFakeHost();
    const made: string[] = [];
    const handler = async ({ method, path, query }: PageRequest): Promise<Page> => {
      made.push(`${method} ${path}`);
      await new Promise<void>((resolve) => void clock.setTimer(TOOK_MS, resolve));
      return { status: 200, body: `${path} ${query.toString()} number ${made.length}` };
    };
    const page = sharePages(handler, clock);
    const ask = async (target: string, signal?: AbortSignal, method = "GET") => {
      const { pathname, searchParams } = new URL(target, "http://node");
      return (await page({ method, path: pathname, query: searchParams, ...(signal && { signal }) })).body;
    };
    return { clock, made, ask };
  };

  it("are made once for all who ask meanwhile, whatever they add to the query", async () => {
    const { clock, made, ask } = setUp();
    const asked = Array.from({ length: 1_000 }, (_, index) => ask(`/metrics?a=${index}`));
    await clock.advance(TOOK_MS);
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["/metrics a=0 number 1"]));
    expect(made).toEqual(["GET /metrics"]);
  });

  it("leave as much time to others as their making takes", async () => {
    const { clock, made, ask } = setUp();
    const waiting = new Set<Promise<unknown>>();
    for (let passedMs = 0; passedMs < 100 * TOOK_MS; passedMs += TOOK_MS / 8) {
      waiting.add(ask("/pods"));
      await clock.advance(TOOK_MS / 8);
    }
    expect(made.length).toBeGreaterThan(40);
    expect(made.length).toBeLessThanOrEqual(51);
    await clock.advance(10 * TOOK_MS);
    await Promise.all(waiting);
  });

  it("that differ are made apart", async () => {
    const { clock, ask } = setUp();
    const asked = [ask("/stats/summary"), ask("/stats/summary?only_cpu_and_memory=true"), ask("/metrics/cadvisor")];
    await clock.advance(TOOK_MS);
    expect(new Set(await Promise.all(asked)).size).toBe(3);
  });

  it("are made by each request that may change something, and for each path that nobody knows", async () => {
    const { clock, made, ask } = setUp();
    const asked = [ask("/metrics", undefined, "POST"), ask("/metrics", undefined, "POST"), ask("/x"), ask("/x")];
    await clock.advance(TOOK_MS);
    await Promise.all(asked);
    expect(made).toHaveLength(4);
  });

  it("go on for the others when a client leaves", async () => {
    const { clock, ask } = setUp();
    const leaving = new AbortController();
    const left = ask("/metrics", leaving.signal);
    const stays = ask("/metrics");
    leaving.abort();
    await expect(left).rejects.toThrow();
    await clock.advance(TOOK_MS);
    expect(await stays).toContain("number 1");
  });
});
