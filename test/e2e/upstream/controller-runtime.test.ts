import { realpath, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { keepDefaultAccounts } from "./default-accounts.ts";
import { runTestBinary } from "./run-test-binary.ts";
import { startUpstreamCluster, type UpstreamCluster } from "./upstream-cluster.ts";

/**
 * The suites that controller-runtime's authors run on kube-apiserver: test binaries (`go test -c` of its pkg/client,
 * pkg/cache, pkg/manager, pkg/controller, …), with `:` between them. Each lies in its package's folder, as the suite
 * reads the definitions in `testdata` beside it. They want an API server and nothing beside it, as envtest has it.
 */
const binaries = (process.env["CONTROLLER_RUNTIME_TEST_BIN"] ?? "").split(":").filter((path) => path !== "");
const title = "controller-runtime's own suites";
/** Where there is none, one case is skipped and counted. */
const cases = binaries.length === 0 ? ["a suite"] : binaries;
/** The longest takes two minutes on a machine that has nothing else to do. */
const TIMEOUT_MS = 900_000;
/** Enough of the end to see which specs failed, and why the last one did. */
const TOLD_CHARACTERS = 20_000;
/** It counts the service accounts of a namespace; one in which pods are taken has one that the suite has not made. */
const SKIPPED = "Should list serviceaccounts and find exactly one";

describe.skipIf(binaries.length === 0)(
  binaries.length === 0 ? `${title} (skipped: CONTROLLER_RUNTIME_TEST_BIN names none)` : title,
  () => {
    it.each(cases)(
      "%s passes",
      async (path) => {
        const cluster = await startUpstreamCluster({ controllers: false, scheduler: false });
        const stop = new AbortController();
        const accounts = keepDefaultAccounts(cluster.api, stop.signal);
        try {
          const { code, output } = await runSuite(await realpath(path), cluster);
          expect(code, output.slice(-TOLD_CHARACTERS)).toBe(0);
          expect(output, "no spec was run").toMatch(/^Ran [1-9]\d* of \d+ Specs/m);
          expect(cluster.complaints().filter(({ level }) => level === "error")).toEqual([]);
        } finally {
          stop.abort();
          await accounts;
          await cluster.stop();
        }
      },
      TIMEOUT_MS,
    );
  },
);

async function runSuite(path: string, { directory, kubeconfig }: UpstreamCluster) {
  const file = join(directory, "kubeconfig");
  await writeFile(file, kubeconfig, { mode: 0o600 });
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const env = { ...inherited, USE_EXISTING_CLUSTER: "true", KUBECONFIG: file, GINKGO_NO_COLOR: "TRUE" };
  const args = [`-test.timeout=${TIMEOUT_MS}ms`, `-ginkgo.skip=${SKIPPED}`];
  return await runTestBinary(`./${basename(path)}`, args, { cwd: dirname(path), env });
}
