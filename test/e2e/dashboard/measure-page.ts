import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";

/** What a page holds once garbage is collected: nodes of its documents, listeners and the heap of its scripts. */
interface PageHoldings {
  readonly nodes: number;
  readonly listeners: number;
  readonly heapBytes: number;
}

const LONGEST_WAIT_SECONDS = 300;
export const PAGE_VIEWS = ["#/", "#/node", "#/services", "#/events"];

/** Asks the browser (Chromium's protocol) what a page holds. */
export async function createPageMeasure(page: Page): Promise<() => Promise<PageHoldings>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  return async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { metrics } = await session.send("Performance.getMetrics");
    const readMetric = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
    return {
      nodes: readMetric("Nodes"),
      listeners: readMetric("JSEventListeners"),
      heapBytes: readMetric("JSHeapUsedSize"),
    };
  };
}

/** Shows each view for a time of the page's own clock (`page.clock.install()` comes before). The server's clock stands still. */
export async function showEachView(page: Page, views: readonly string[], minutes: number): Promise<void> {
  for (const view of views) {
    await page.goto(new URL(view, page.url()).href);
    await untilLive(page);
    await page.locator("h1").waitFor();
    await page.clock.runFor(minutes * 60_000);
  }
}

/** A clock that runs ahead breaks the stream over and over, and the page waits longer each time: its waits pass in seconds. */
async function untilLive(page: Page): Promise<void> {
  for (let seconds = 0; seconds < LONGEST_WAIT_SECONDS; seconds += 1) {
    if (await page.locator(".standing.live").isVisible()) return;
    await page.clock.runFor(1_000);
    await delay(100);
  }
  throw new Error(`the page is not live: ${await page.getByRole("status").textContent()}`);
}
