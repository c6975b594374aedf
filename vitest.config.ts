import { defineConfig } from "vitest/config";

/** Against waiting for ever: what is waited for comes within milliseconds, unless the machine is busy with other things. */
const POLL_TIMEOUT_MS = 20_000;

const project = (name: string, include: string[], extra: object = {}) => ({
  test: { name, include, environment: "node" as const, expect: { poll: { timeout: POLL_TIMEOUT_MS } }, ...extra },
});

/** Against hanging only: a property of hundreds of runs takes a second, and ten times as long on a machine that is busy. */
const UNIT_TIMEOUT_MS = 30_000;

export default defineConfig({
  test: {
    projects: [
      project("unit", ["src/**/*.test.ts", "test/golden/**/*.test.ts"], {
        testTimeout: UNIT_TIMEOUT_MS,
        // Files share threads and modules: what they test keeps no state of its own, and loading it 480 times took minutes.
        pool: "threads",
        isolate: false,
      }),
      project("tidy", ["test/tidy/**/*.test.ts"], { testTimeout: 60_000 }),
      project("contract", ["test/contract/**/*.test.ts"], {
        testTimeout: 120_000,
        hookTimeout: 120_000,
        fileParallelism: false,
      }),
      project("e2e", ["test/e2e/**/*.test.ts"], { testTimeout: 180_000, hookTimeout: 180_000, fileParallelism: false }),
    ],
  },
});
