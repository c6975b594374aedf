import { expect, it } from "vitest";
import { ApiError } from "../api/api-error.ts";
import { MINUTE, SECOND } from "../base/clock.ts";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { createFakeRequest } from "../host/fake/fake-request.ts";
import type { KubeClient } from "../kube/port.ts";
import { createDashboard } from "./create-dashboard.ts";

const HEADERS = { host: "127.0.0.1:8080", authorization: "Bearer secret" };
const DAY = 24 * 60 * MINUTE;

/** A page of a server whose API server answers `list`, and whose watches last as long as their signals. */
async function openPage(list: KubeClient["list"]) {
  const clock = createFakeClock();
  let watches = 0;
  const unused = async () => await new Promise<never>(() => undefined);
  const watch: KubeClient["watch"] = async (_resource, { signal }) => {
    watches += 1;
    await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
    watches -= 1;
    throw new ApiError("Gone", "over");
  };
  const client: KubeClient = {
    ...{ get: unused, create: unused, replace: unused, patch: unused, delete: unused, createBeneath: unused },
    ...{ list, watch },
  };
  const handle = createDashboard(
    { client, door: { open: unused }, clock, random: { next: () => 0.5 }, randomName: () => "name" },
    { files: new Map(), token: "secret", server: "https://api", port: () => 8080 },
  );
  const closing = new AbortController();
  const written: string[] = [];
  let listeners = 0;
  const { signal } = closing;
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (...listener: Parameters<typeof add>) => {
    listeners += 1;
    add(...listener);
  };
  const remove = signal.removeEventListener.bind(signal);
  signal.removeEventListener = (...listener: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...listener);
  };
  const writer = { write: (text: string) => void written.push(text), end: () => undefined, bufferedBytes: 0, signal };
  const { body } = await handle(createFakeRequest("/live", { headers: HEADERS }));
  if (typeof body !== "object" || !("stream" in body)) throw new Error("no stream was served");
  body.stream(writer);
  await clock.settle();
  return { clock, closing, written, listeners: () => listeners, watches: () => watches };
}

it("a page that is open for a day costs no more than at its beginning, and nothing when it is closed", async () => {
  const page = await openPage(async () => await Promise.resolve({ items: [], resourceVersion: "1" }));
  await page.clock.advance(MINUTE);
  const begun = { listeners: page.listeners(), timers: page.clock.pendingTimers };
  page.written.length = 0;
  for (let hours = 0; hours < 24; hours++) await page.clock.advance(60 * MINUTE);
  expect(page.written.filter((text) => text === ": here\n\n")).toHaveLength(DAY / (10 * SECOND));
  expect(page.listeners()).toBeLessThanOrEqual(begun.listeners);
  expect(page.clock.pendingTimers).toBeLessThanOrEqual(begun.timers);
  expect(page.watches()).toBe(5);
  page.closing.abort();
  await page.clock.settle();
  expect({ timers: page.clock.pendingTimers, watches: page.watches() }).toEqual({ timers: 0, watches: 0 });
});

it("credentials that end while a page is open are told of each kind, and again when they are good", async () => {
  let isGood = false;
  const page = await openPage(async () => {
    if (!isGood) throw new ApiError("Unauthorized", "token has expired");
    return await Promise.resolve({ items: [], resourceVersion: "1" });
  });
  const kinds = ["endpointSlices", "events", "nodes", "pods", "services"];
  const told = (type: string) => {
    const messages = page.written.filter((text) => text.startsWith("data: ")).map((text) => JSON.parse(text.slice(6)));
    return [...new Set(messages.filter((message) => message.type === type).map(({ kind }) => kind))].toSorted();
  };
  expect(told("trouble")).toEqual(kinds);
  isGood = true;
  await page.clock.advance(10 * MINUTE);
  expect(told("fine")).toEqual(kinds);
  page.closing.abort();
  await page.clock.settle();
});
