import { readdir, readFile, readlink, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf, runAll } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { unmountBeneath } from "../../src/cluster/containerd/mount-namespace.ts";
import { readNetworkFacts } from "../../src/cluster/containerd/remove-network.ts";
import { removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import {
  findProcesses,
  findProcessesByEnvironment,
  type ProcessIdentity,
  sendSignal,
} from "../../src/cluster/processes/process-identity.ts";
import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { removeOwnCgroup } from "../../src/cluster/supervisor/own-cgroup.ts";
import { CONTAINER_LOGS_DIRECTORY, computeStateLayout } from "../../src/cluster/supervisor/state-layout.ts";
import { removeNodeRunState } from "../../src/cluster/supervisor/stop-node.ts";

/** The directories of runtimes lie a few levels beneath that of the run; what is deeper is the runtimes' own. */
const MAX_DEPTH = 4;
/** A directory with this file is one of a containerd of ours. */
const RUNTIME_MARK = "boot-id";
const NETWORK_NAMESPACES = "/run/netns";
/** Who is killed may have started another process just before. */
const KILL_ROUNDS = 50;
const KILL_POLL_MS = 100;

/**
 * Removes what a run of tests has made on the machine, and then its directory: its processes, nodes, runtimes with their
 * bridges, rules, mounts and cgroups, network namespaces, log links. Every step is tried, and the errors are joined and
 * thrown; the directory stays where one failed, so that the next run tries again.
 */
export async function removeRun(directory: string): Promise<void> {
  await killProcesses(directory);
  // What is mounted may be somebody's data, and is not to be looked into.
  await unmountBeneath(directory);
  const found = await findMarks(directory);
  await runAll(
    [
      ...found.runtimes.map((runtime) => async () => await removeNode(directory, runtime)),
      ...found.bridges.map((bridge) => async () => await removeLink(bridge)),
      async () => await removeNetworkNamespaces(`${basename(directory)}-`),
      async () => await removeLogLinks(directory),
    ],
    `removing what the run in ${directory} has left`,
  );
  await rm(directory, { recursive: true, force: true });
}

/** The processes of a run have its directory in their environment or among their arguments. */
async function killProcesses(directory: string): Promise<void> {
  const isInside = (word: string) => word.includes(`${directory}/`);
  const isOfRun = (variable: string) => variable === `TMPDIR=${directory}`;
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const found: ProcessIdentity[] = [
      ...(await findProcessesByEnvironment((variables) => variables.some(isOfRun))),
      ...(await findProcesses((args) => args.some(isInside))),
    ].filter(({ pid }) => pid !== process.pid);
    if (found.length === 0) return;
    for (const { pid } of found) sendSignal(pid, "SIGKILL");
    await delay(KILL_POLL_MS);
  }
  throw new Error(`processes of the run in ${directory} do not end`);
}

interface Marks {
  readonly runtimes: string[];
  readonly bridges: string[];
}

async function findMarks(directory: string, depth = 0): Promise<Marks> {
  const found: Marks = { runtimes: [], bridges: [] };
  for (const entry of await listEntries(directory)) {
    const path = join(directory, entry.name);
    if (entry.isFile() && entry.name === RUNTIME_MARK) found.runtimes.push(directory);
    if (entry.isFile() && entry.name.endsWith(".conflist"))
      found.bridges.push(...readNetworkFacts(await readFile(path, "utf8")).bridges);
    if (!entry.isDirectory() || depth === MAX_DEPTH) continue;
    const below = await findMarks(path, depth + 1);
    found.runtimes.push(...below.runtimes);
    found.bridges.push(...below.bridges);
  }
  return found;
}

/** Network configurations of the run name a bridge of the tests; another one would be the machine's. */
async function removeLink(name: string): Promise<void> {
  const links = await readdir("/sys/class/net");
  if (/^nle\d+$/.test(name) && links.includes(name)) await runCommand("ip", ["link", "delete", name]);
}

/** A runtime named `containerd` is that of a state directory of `nodelet up`. */
async function removeNode(run: string, runtime: string): Promise<void> {
  const state = computeStateLayout(dirname(runtime));
  await runAll(
    [
      async () => (state.runtime === runtime ? await removeNodeRunState(state, silentLog) : undefined),
      async () => await removeRuntime(runtime),
      ...ancestorsOf(run, runtime).map((path) => async () => await removeOwnCgroup(path, silentLog)),
    ],
    `removing the node of ${runtime}`,
  );
}

/** The directories between the run and the runtime, of which one is the node's. */
function ancestorsOf(run: string, runtime: string): string[] {
  const path = dirname(runtime);
  return path.startsWith(`${run}/`) ? [path, ...ancestorsOf(run, path)] : [];
}

async function removeNetworkNamespaces(prefix: string): Promise<void> {
  const names = (await listEntries(NETWORK_NAMESPACES)).map(({ name }) => name);
  for (const name of names) {
    if (name.startsWith(prefix)) await runCommand("ip", ["netns", "delete", name]);
  }
}

async function removeLogLinks(directory: string): Promise<void> {
  for (const { name } of await listEntries(CONTAINER_LOGS_DIRECTORY)) {
    const path = join(CONTAINER_LOGS_DIRECTORY, name);
    const target = await readlink(path).catch(() => "");
    if (target.startsWith(`${directory}/`)) await rm(path, { force: true });
  }
}

async function listEntries(path: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}
