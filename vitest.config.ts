import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSequencer, type TestSpecification, type Vitest } from "vitest/node";

/** Against waiting for ever: what is waited for comes within milliseconds, unless the machine is busy with other things. */
const POLL_TIMEOUT_MS = 60_000;
/** Against hanging only: a property of hundreds of runs takes a second, and much longer on a machine that is busy. */
const UNIT_TIMEOUT_MS = 120_000;
/** Each file of `contract` waits for its own server, runtime or clock for some of its time. */
const CONTRACT_WORKERS = 2;
const E2E_TIMEOUT_MS = 180_000;
/** Compressing a package takes a minute on a machine that has other work, and installing it means starting a node. */
const PACKAGES_TIMEOUT_MS = 1_200_000;
/** Files of `e2e` wait for most of their time: for grace periods, back-off, deadlines, and for each other's pods to start. */
const E2E_WORKERS = 3;

/** These have limits of a second or two, or run other programs that expect to be the only kubelet of the machine. */
const ALONE = [
  "test/e2e/cluster/change-detection.test.ts",
  "test/e2e/cluster/trust-bundles.test.ts",
  "test/e2e/cluster/volumes.test.ts",
  "test/e2e/testing/start-time.test.ts",
  "test/e2e/upstream/**/*.test.ts",
  "test/e2e/volumes/api-objects.test.ts",
];

/**
 * They start an API server or a client in their own process, and may share it with each other. Two of them may not: they
 * measure its memory and its event loop.
 */
const CONTRACT_OF_API = "test/contract/{api,kube}/**/!(hostile-connections|no-stall).test.ts";

/** These wait for minutes: they begin first, so that none of them is left when all others have ended. */
const LONGEST = [
  "volumes/hung.test.ts",
  "volumes/cves.test.ts",
  "volumes/csi-faults.test.ts",
  "restart-safety.test.ts",
  "up.test.ts",
];

const project = (name: string, include: string[], extra: object = {}) => ({
  test: { name, include, environment: "node" as const, expect: { poll: { timeout: POLL_TIMEOUT_MS } }, ...extra },
});

/** A directory of its own for each run, which is removed with all that was made on the machine, also after a Ctrl-C. */
const RUN_DIRECTORY = "test/machine/run-directory.ts";

const contract = {
  globalSetup: [RUN_DIRECTORY],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  maxWorkers: CONTRACT_WORKERS,
  sequence: { groupOrder: 1 },
};

/** They run the program in `dist/`, and that must be the one of these sources. */
const e2e = {
  testTimeout: E2E_TIMEOUT_MS,
  hookTimeout: E2E_TIMEOUT_MS,
  globalSetup: ["scripts/build-if-stale.mjs", RUN_DIRECTORY],
};

class LongestFirst implements TestSequencer {
  readonly #base: BaseSequencer;

  constructor(vitest: Vitest) {
    this.#base = new BaseSequencer(vitest);
  }

  async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await this.#base.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }

  async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    return await this.#base.shard(files);
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const index = LONGEST.findIndex((end) => moduleId.endsWith(`/e2e/${end}`));
  return index < 0 ? LONGEST.length : index;
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Modules are translated once for all projects and runs: that takes longer than most single files of tests.
    experimental: { fsModuleCache: true },
    projects: [
      project("unit", ["src/**/*.test.ts", "test/{golden,fuzz,soak,vm}/**/*.test.ts", "bench/**/*.test.ts"], {
        testTimeout: UNIT_TIMEOUT_MS,
        // Files share threads and modules: what they test keeps no state of its own, and loading it 480 times took minutes.
        pool: "threads",
        isolate: false,
      }),
      project("tidy", ["test/tidy/**/*.test.ts"], { testTimeout: 60_000 }),
      project("contract", ["test/contract/**/*.test.ts"], { ...contract, exclude: [CONTRACT_OF_API] }),
      // Loading the API server for each file took a third of the processors' time.
      project("contract-api", [CONTRACT_OF_API], { ...contract, isolate: false }),
      project("e2e", ["test/e2e/**/*.test.ts"], {
        ...e2e,
        exclude: ALONE,
        maxWorkers: E2E_WORKERS,
        // Files share their worker's modules: loading them for each file took a third of the processors' time.
        isolate: false,
        sequence: { groupOrder: 2 },
      }),
      // They make and install packages, which takes minutes: `npm run test-packages`, no part of `npm run all`.
      project("packages", ["test/packages/**/*.test.ts"], {
        testTimeout: PACKAGES_TIMEOUT_MS,
        hookTimeout: PACKAGES_TIMEOUT_MS,
        fileParallelism: false,
        globalSetup: ["scripts/build-if-stale.mjs", RUN_DIRECTORY, "test/packages/build-packages.ts"],
        sequence: { groupOrder: 4 },
      }),
      project("e2e-alone", ALONE, { ...e2e, fileParallelism: false, isolate: false, sequence: { groupOrder: 3 } }),
    ],
  },
});
