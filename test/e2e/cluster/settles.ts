import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/** As `expect.poll` does. */
const POLL_MS = 50;

/** Reads until it is what was expected. In cases that run side by side, `expect.poll` does not know whose it is. */
export async function settlesOn<T>(expected: T, read: () => Promise<T>, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let found = await read();
  while (!isDeepStrictEqual(found, expected) && Date.now() < deadline) {
    await delay(POLL_MS);
    found = await read();
  }
  expect(found).toEqual(expected);
}
