import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import koffi from "koffi";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createOrphanReaper } from "../../src/host/linux/system/reap-orphans.ts";

const PR_SET_CHILD_SUBREAPER = 36;
const prctl = koffi
  .load(null)
  .func("int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)");

/**
 * Orphans among what this process has started are given to it, as they are to the first process of a container. No other
 * file of tests may run in it: a child that ended while its thread was busy could be taken for an orphan.
 */
beforeAll(() => expect(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)).toBe(0));
afterAll(() => expect(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)).toBe(0));

it("collects the end of an orphan at the second look, and leaves a child's to who waits for it", async () => {
  const look = createOrphanReaper();
  const parent = spawn("sh", ["-c", "sleep 0.1 & echo $!"], { stdio: ["ignore", "pipe", "ignore"] });
  const [printed] = await once(parent.stdout, "data");
  const orphan = Number(String(printed));
  await expect.poll(look, { interval: 50 }).toContain(orphan);
  expect(existsSync(`/proc/${orphan}`)).toBe(false);

  const child = spawn("sh", ["-c", "exit 7"]);
  const ended = once(child, "exit");
  await look();
  expect(await ended).toEqual([7, null]);
});
