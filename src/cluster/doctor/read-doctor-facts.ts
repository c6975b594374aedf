import { mkdir, mkdtemp, readdir, readFile, rm, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { release, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { readMountTable } from "../../host/linux/mounts/mount-table.ts";
import type { MountEntry } from "../../host/mounts-port.ts";
import { DEFAULT_BRIDGE } from "../containerd/cni-config.ts";
import { readForeignFirewalls } from "../containerd/foreign-firewalls.ts";
import { findCniBinDirectory, findProgram, readHasSysResource } from "../containerd/machine-facts.ts";
import { isRootShared } from "../containerd/mount-info.ts";
import { readLockHolder } from "../processes/process-lock.ts";
import { runCommand } from "../processes/run-command.ts";
import { computeStateLayout } from "../supervisor/state-layout.ts";
import type { CgroupFacts, DoctorFacts } from "./doctor-facts.ts";
import { readInotifyFacts } from "./inotify-facts.ts";
import { readRuntimeWord } from "./read-runtime-word.ts";
import { UP_PROGRAMS } from "./up-programs.ts";

/** Reads the facts, and tries what can only be found out by trying. It leaves no lasting change. */
export async function readDoctorFacts(stateDirectory: string, ports: readonly number[]): Promise<DoctorFacts> {
  const mounts = await readMountTable();
  const bridgeCalls = await readSysctl("net/bridge/bridge-nf-call-iptables");
  const portsTaken: number[] = [];
  for (const port of ports) if (!(await isPortFree(port))) portsTaken.push(port);
  const filterRules = await readFilterRules();
  return {
    uid: process.geteuid?.() ?? 0,
    kernelRelease: release(),
    namespaces: await readdir("/proc/self/ns"),
    maxUserNamespaces: Number((await readSysctl("user/max_user_namespaces")) ?? 0),
    cgroup: await readCgroupFacts(mounts),
    inotify: await readInotifyFacts(),
    overlayWorks: await tryOverlay(stateDirectory),
    containerd: await readVersion("containerd"),
    runc: await readVersion("runc"),
    runtimeWord: await readRuntimeWord(stateDirectory),
    iptables: await readVersion("iptables"),
    nft: await readVersion("nft"),
    nftProblem: await readNftProblem(),
    missingPrograms: await findMissingPrograms(),
    busybox: (await findProgram("busybox")) !== undefined,
    cniBinDirectory: await findCniBinDirectory(),
    swapBytes: await readSwapBytes(),
    hasSysResource: await readHasSysResource(),
    isRootShared: isRootShared(mounts),
    ipForward: (await readSysctl("net/ipv4/ip_forward")) === "1",
    bridgeCallsIptables: bridgeCalls === undefined ? undefined : bridgeCalls === "1",
    forwardPolicy: findPolicy(filterRules, "FORWARD"),
    inputPolicy: acceptsBridge(filterRules) ? "ACCEPT" : findPolicy(filterRules, "INPUT"),
    foreignFirewalls: await readForeignFirewalls((await findProgram("nft")) ?? "nft"),
    portsTaken,
    disk: await readDisk(stateDirectory),
    runningPid: await readLockHolder(computeStateLayout(stateDirectory).lock).catch(() => undefined),
  };
}

async function readCgroupFacts(mounts: readonly MountEntry[]): Promise<CgroupFacts> {
  const root = mounts.findLast((mount) => mount.path === "/sys/fs/cgroup");
  if (root?.type === "cgroup2") {
    const controllers = await readIfPresent("/sys/fs/cgroup/cgroup.controllers");
    return { version: 2, controllers: (controllers ?? "").trim().split(" ").filter(Boolean) };
  }
  const hasV1 = mounts.some((mount) => mount.type === "cgroup");
  const table = ((await readIfPresent("/proc/cgroups")) ?? "").split("\n").filter((line) => !line.startsWith("#"));
  const enabled = table.map((line) => line.split("\t")).filter((fields) => fields[3] === "1");
  return { version: hasV1 ? 1 : undefined, controllers: enabled.map((fields) => fields[0] ?? "") };
}

/** Tries a real mount, in a mount namespace that ends with the command. */
async function tryOverlay(stateDirectory: string): Promise<boolean | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const scratch = await mkdtemp(join(await nearestDirectory(stateDirectory), ".nodelet-doctor-")).catch(
    () => undefined,
  );
  const directory = scratch ?? (await mkdtemp(join(tmpdir(), "nodelet-doctor-")));
  try {
    const [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map((name) => join(directory, name));
    for (const path of [lower, upper, work, merged]) if (path !== undefined) await mkdir(path);
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    await runCommand("unshare", ["--mount", "mount", "-t", "overlay", "overlay", "-o", options, `${merged}`]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Returns the first line that `--version` prints. */
async function readVersion(name: string): Promise<string | undefined> {
  const path = await findProgram(name);
  if (path === undefined) return undefined;
  return (await runCommand(path, ["--version"]).catch(() => "")).split("\n")[0]?.trim();
}

/** Tries what the proxy of services does first, without changing anything. */
async function readNftProblem(): Promise<string | undefined> {
  const path = await findProgram("nft");
  if (path === undefined || process.geteuid?.() !== 0) return undefined;
  return await runCommand(path, ["list", "tables"]).then(
    () => undefined,
    (error: unknown) => messageOf(error).split("\n")[0],
  );
}

async function findMissingPrograms(): Promise<string[]> {
  const missing: string[] = [];
  for (const name of Object.keys(UP_PROGRAMS)) {
    if ((await findProgram(name)) === undefined) missing.push(name);
  }
  return missing;
}

async function readSwapBytes(): Promise<number> {
  const lines = ((await readIfPresent("/proc/swaps")) ?? "").trim().split("\n").slice(1);
  return lines.reduce((sum, line) => sum + Number(line.split(/\s+/)[2] ?? 0) * 1024, 0);
}

/** The rules of the filter table; empty when they cannot be read. */
async function readFilterRules(): Promise<string> {
  const path = await findProgram("iptables");
  if (path === undefined || process.geteuid?.() !== 0) return "";
  return await runCommand(path, ["--wait", "--list-rules"]).catch(() => "");
}

function findPolicy(rules: string, chain: "FORWARD" | "INPUT"): string | undefined {
  return new RegExp(`^-P ${chain} (\\w+)`, "m").exec(rules)?.[1];
}

/** A firewall's rule is in a chain of its own, which is taken to be called. */
function acceptsBridge(rules: string): boolean {
  return rules
    .split("\n")
    .some((rule) => rule.endsWith(` -i ${DEFAULT_BRIDGE} -j ACCEPT`) && !rule.startsWith("-A FORWARD"));
}

async function isPortFree(port: number): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1" }, () => server.close(() => resolve(true)));
  });
}

async function readDisk(stateDirectory: string): Promise<DoctorFacts["disk"]> {
  const path = await nearestDirectory(stateDirectory);
  const { bavail, blocks, bsize } = await statfs(path);
  return { path, availableBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Finds the directory itself or the first of its parents that exists. */
async function nearestDirectory(path: string): Promise<string> {
  for (let candidate = path; ; candidate = dirname(candidate)) {
    if (candidate === "/") return candidate;
    try {
      await readdir(candidate);
      return candidate;
    } catch {
      // The directory does not exist or cannot be read. Its parent lies on the same disk.
    }
  }
}

async function readSysctl(name: string): Promise<string | undefined> {
  return (await readIfPresent(`/proc/sys/${name}`))?.trim();
}

async function readIfPresent(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch(() => undefined);
}
