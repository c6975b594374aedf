import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeRuntime } from "../../../src/cluster/containerd/remove-runtime.ts";
import { claimNetwork, claimPort } from "../../machine/claims.ts";
import { runProgram } from "../program.ts";
import { runTestBinary } from "./run-test-binary.ts";
import { describeFailures, parseSpecReports, type SpecReport } from "./spec-reports.ts";

/** What makes a cluster "certified Kubernetes": the test binary (`go test -c`) of upstream's `test/e2e`, with kubectl beside it. */
const binary = process.env["E2E_TEST_BIN"] ?? "";
/** Archives of the images that its pods use, by the names that it has for them, with `:` between them. */
const archives = (process.env["E2E_TEST_IMAGES"] ?? "").split(":").filter((path) => path !== "");
/** What is not to run here, for what the machine lacks: a regular expression. */
const skipped = process.env["E2E_TEST_SKIP"] ?? "";
const isThere = binary !== "" && archives.length > 0;
const title = "upstream's conformance tests of nodelet up";
const GROUPS = [
  "sig-api-machinery",
  "sig-apps",
  "sig-auth",
  "sig-cli",
  "sig-instrumentation",
  "sig-network",
  "sig-node",
  "sig-scheduling",
  "sig-storage",
];
/** These ask for a second node at once, the only one of sig-architecture among them. */
const TWO_NODES = "should have at least two untainted nodes|should rollback without unnecessary restarts";
/** These change the node or count what is on it, and run by themselves. */
const ALONE = "\\[Serial\\]|\\[Disruptive\\]";
const TIMEOUT_MS = 4 * 3_600_000;
/** Enough of the end to see why a suite did not come to its report. */
const TOLD_CHARACTERS = 10_000;

describe.skipIf(!isThere)(
  isThere ? title : `${title} (skipped: E2E_TEST_BIN and E2E_TEST_IMAGES do not name them)`,
  () => {
    let state: string;
    beforeAll(async () => {
      const { bridge, podCidr, serviceCidr } = await claimNetwork();
      state = await mkdtemp(join(tmpdir(), "nodelet-conformance-"));
      const started = await runProgram(
        ...["up", "--detach", "--state-dir", state, "--healthz-port", "0", "--api-port", `${await claimPort()}`],
        ...["--bridge", bridge, "--pod-cidr", podCidr, "--service-cidr", serviceCidr],
        "--kubelet-arg=--fail-swap-on=false",
      );
      expect(started.code, started.stdout + started.stderr).toBe(0);
      for (const archive of archives) {
        const loaded = await runProgram("images", "load", archive, "--state-dir", state);
        expect(loaded.code, loaded.stderr).toBe(0);
      }
    });
    afterAll(async () => {
      if (state === undefined) return;
      await runProgram("down", "--pods", "--now", "--state-dir", state);
      await removeRuntime(join(state, "containerd"));
      await rm(state, { recursive: true, force: true });
    });

    it.concurrent.each(GROUPS)(
      "of %s pass",
      async (group) => {
        expect(await findFailures({ state, group, skip: ALONE })).toEqual([]);
      },
      TIMEOUT_MS,
    );

    it(
      "that need the node to themselves pass",
      async () => {
        expect(await findFailures({ state, group: "serial", focus: ALONE })).toEqual([]);
      },
      TIMEOUT_MS,
    );
  },
);

interface SuiteRun {
  readonly state: string;
  /** A name such as `sig-apps`; also the focus, where there is none. */
  readonly group: string;
  /** Regular expressions of the specs' names. */
  readonly focus?: string;
  readonly skip?: string;
}

/** Runs a part of the suite; the names of the specs that failed, each with the first line that says why. */
async function findFailures({ state, group, focus = `\\[${group}\\]`, skip = "" }: SuiteRun): Promise<string[]> {
  const directory = join(state, group);
  await mkdir(directory);
  const path = await realpath(binary);
  const report = join(directory, "report.json");
  const skips = [skip, TWO_NODES, skipped].filter((expression) => expression !== "").join("|");
  const args = [
    `--test.timeout=${TIMEOUT_MS}ms`,
    `--ginkgo.timeout=${TIMEOUT_MS}ms`,
    "--ginkgo.no-color",
    "--ginkgo.label-filter=Conformance",
    `--ginkgo.focus=${focus}`,
    `--ginkgo.skip=${skips}`,
    `--ginkgo.json-report=${report}`,
    "--provider=skeleton",
    "--disable-log-dump",
    `--kubectl-path=${join(dirname(path), "kubectl")}`,
    `--kubeconfig=${join(state, "kubeconfig")}`,
  ];
  const { NODE_EXTRA_CA_CERTS: _, KUBECONFIG: __, ...env } = process.env;
  const { output } = await runTestBinary(path, args, { cwd: directory, env });
  const specs = await readReport(report, output);
  expect(specs.filter(({ State }) => State === "passed").length, "no spec was run").toBeGreaterThan(0);
  return describeFailures(specs);
}

async function readReport(file: string, output: string): Promise<SpecReport[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  if (text === "") throw new Error(`the suite left no report:\n${output.slice(-TOLD_CHARACTERS)}`);
  return parseSpecReports(text);
}
