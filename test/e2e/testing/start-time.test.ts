import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runModule } from "./run-node.ts";
import { TESTED_NODES } from "./tested-nodes.ts";

/** Times are of a cluster alone on its machine; this leaves room for one that has other work. */
const READY_WITHIN_MS = 2_000;

let temporary: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "nodelet-start-time-"));
});
afterEach(async () => rm(temporary, { recursive: true }));

describe.each(TESTED_NODES)("a cluster of nodelet/testing on %s", (program) => {
  const run = (source: string) => runModule(source, { program, environment: { TMPDIR: temporary } });

  it("is ready within two seconds, the first time and the tenth, and ends with the script", async () => {
    const { code, stdout, stderr } = await run(`
      const times = [];
      let startMs = performance.now();
      const { startCluster } = await import("nodelet/testing");
      for (let index = 0; index < 10; index++) {
        const cluster = await startCluster();
        times.push(Math.round(performance.now() - startMs));
        await cluster.stop();
        startMs = performance.now();
      }
      const endMs = performance.now();
      process.on("exit", () => console.log(JSON.stringify({ times, lingeredMs: performance.now() - endMs, version: process.version })));
    `);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { times, lingeredMs, version }: { times: number[]; lingeredMs: number; version: string } = JSON.parse(stdout);
    console.log(`${version}: ready after ${times[0]} ms, and ${times[9]} ms the tenth time`);
    expect(Math.max(...times)).toBeLessThan(READY_WITHIN_MS);
    expect(lingeredMs).toBeLessThan(1_000);
    expect(await readdir(temporary)).toEqual([]);
  });
});
