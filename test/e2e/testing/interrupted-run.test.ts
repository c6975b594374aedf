import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readNetworkFacts } from "../../../src/cluster/containerd/remove-network.ts";
import { computeRuntimeLayout, networkConfigPath } from "../../../src/cluster/containerd/runtime-layout.ts";
import { findProcesses } from "../../../src/cluster/processes/process-identity.ts";
import { readMountTable } from "../../../src/host/linux/mounts/mount-table.ts";
import { openRun, removeDeadRuns } from "../../machine/run-directory.ts";

const VITEST = new URL("../../../node_modules/.bin/vitest", import.meta.url).pathname;
/** It has a containerd with pods from its first second on. */
const FILE = "test/e2e/run-pods.test.ts";

describe("a run of tests that ends before its time", () => {
  let parent: string;
  let run: ChildProcess;
  let said: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), "i-"));
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST"));
    const env = { ...Object.fromEntries(inherited), TMPDIR: parent };
    run = spawn(process.execPath, [VITEST, "run", "--project", "e2e", FILE], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    said = "";
    run.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString("utf8");
    });
  });
  afterEach(async () => {
    run.kill("SIGKILL");
    await removeDeadRuns(parent);
    await rm(parent, { recursive: true, force: true });
  });

  it("takes with it what it has made, after a Ctrl-C", async () => {
    const bridge = await untilPodRuns(parent);
    run.kill("SIGINT");
    await once(run, "exit");
    expect(await readLeft(parent, bridge), said).toEqual([]);
  });

  it("leaves after a kill -9 what the next run removes, and the next run only", async () => {
    const bridge = await untilPodRuns(parent);
    await removeDeadRuns(parent);
    const lived = await readLeft(parent, bridge);
    run.kill("SIGKILL");
    await once(run, "exit");
    const other = await openRun(parent);
    await removeDeadRuns(parent);
    expect({ lived: lived.length > 3, left: await readLeft(parent, bridge), other: existsSync(other) }).toEqual({
      lived: true,
      left: [other],
      other: true,
    });
  });
});

/** The bridge of the one runtime beneath the directory, once a pod runs there. */
async function untilPodRuns(parent: string): Promise<string> {
  const readRuntime = async () => {
    const runs = (await readdir(parent)).filter((name) => name.startsWith("nlt-"));
    const [run = ""] = runs;
    const nodes = await readdir(join(parent, run)).catch(() => []);
    return join(parent, run, nodes.find((name) => name.startsWith("nodelet-e2e-")) ?? "", "runtime");
  };
  await expect
    .poll(async () => await readdir(join(computeRuntimeLayout(await readRuntime()).runcRoot, "k8s.io")).catch(() => []))
    .not.toEqual([]);
  const configuration = await readFile(networkConfigPath(computeRuntimeLayout(await readRuntime())), "utf8");
  return readNetworkFacts(configuration).bridges[0] ?? "";
}

/** What is on the machine beneath the directory or by the name of the bridge. */
async function readLeft(parent: string, bridge: string): Promise<string[]> {
  const processes = await findProcesses((args) => args.some((word) => word.includes(`${parent}/`)));
  const mounts = (await readMountTable()).filter(({ path }) => path.startsWith(`${parent}/`));
  // Vitest has a directory of its own there, too.
  const runs = (await readdir(parent)).filter((name) => name.includes("nlt-"));
  return [
    ...runs.map((name) => join(parent, name)),
    ...processes.map(({ pid }) => `process ${pid}`),
    ...mounts.map(({ path }) => `mount ${path}`),
    ...(existsSync(`/sys/class/net/${bridge}`) ? [`bridge ${bridge}`] : []),
  ];
}
