import { setTimeout as delay } from "node:timers/promises";

const LIMIT_MS = 10_000;

/** Tries until it no longer throws, and returns what it returns; after ten seconds it throws what was thrown last. */
export async function until<Value>(attempt: () => Value | Promise<Value>): Promise<Value> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(10);
    }
  }
}
