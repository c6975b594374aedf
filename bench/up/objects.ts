import { setTimeout as delay } from "node:timers/promises";
import { createLimiter } from "../../src/base/limiter.ts";
import { PODS_PATH } from "../cluster/pods.ts";
import { type Connection, expectStatus } from "../control-plane/connection.ts";

/** As many calls at a time as a Go client of a controller makes. */
const CALLS = 8;
const POLL_MS = 100;

/** Creates an object. Throws when it is not created. */
export async function createObject(connection: Connection, path: string, object: object): Promise<void> {
  expectStatus(await connection.request({ method: "POST", path, body: JSON.stringify(object) }), 201);
}

/** Calls for each of so many, in turns of several at a time. */
export async function callForEach(count: number, call: (index: number) => Promise<void>): Promise<void> {
  const limiter = createLimiter(CALLS);
  await Promise.all(
    Array.from({ length: count }, async (_, index) => await limiter.run(async () => await call(index))),
  );
}

/** Removes everything at a path. What its objects own goes with them. */
export async function removeAll(connection: Connection, path: string): Promise<void> {
  const call = { method: "DELETE", path: `${path}?propagationPolicy=Background` } as const;
  expectStatus(await connection.request(call), 200);
}

/** Removes the bench's pods, and waits for their end. */
export async function removePods(connection: Connection, signal: AbortSignal): Promise<void> {
  await removeAll(connection, PODS_PATH);
  for (;;) {
    const reply = await connection.request({ method: "GET", path: `${PODS_PATH}?limit=1` });
    const { items }: { items: unknown[] } = JSON.parse(expectStatus(reply, 200));
    if (items.length === 0) return;
    await delay(POLL_MS, undefined, { signal });
  }
}
