import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../src/base/errors.ts";
import { readCommandOptions } from "../command-options.ts";
import { addKubeadm, FIRST, findKubeadm } from "./disk/add-kubeadm.ts";
import { addKubelet, findKubelet } from "./disk/add-kubelet.ts";
import { addUpstreamSuite, findSuitePrograms } from "./disk/add-upstream-suite.ts";
import { buildDisk, buildTree, copyTree } from "./disk/build-disk.ts";
import { RELEASES, type Release } from "./disk/recipe.ts";
import { requireTools } from "./disk/tools.ts";
import type { Machine } from "./machines/machine.ts";
import { startNamespaces } from "./machines/namespaces.ts";
import { attachQemu, KEPT_FILE, startQemu } from "./machines/qemu.ts";
import { runScenarios } from "./run-scenarios.ts";
import { SCENARIOS } from "./scenarios/all.ts";
import type { Scenario } from "./scenarios/scenario.ts";

const USAGE = `npm run vm                     all scenarios on a machine of its own
npm run vm -- --list           their names
npm run vm -- --only NAME      the first, which installs the service, and one of the others; repeatable
npm run vm -- --shell          a machine to log in to, as root and without a password; "poweroff" ends it
npm run vm -- --keep           leaves the machine on, and prints how to go on with it
npm run vm -- --attach DIR --only NAME
                               the scenario alone, on a machine that was kept
npm run vm -- --machine namespaces
                               on this machine's kernel and with its cgroups, in namespaces: not emulated, and so fast
npm run vm -- --release bookworm
                               of Debian 12 in place of 13, with the Node.js that runs this

The machine is emulated by QEMU, with a kernel, systemd and packages of Debian. Its files are kept from run to run in
$NODELET_VM_CACHE (default /var/tmp/nodelet-vm). Prints TAP. Exit code 1 where a scenario fails.`;

const values = readCommandOptions(USAGE, {
  list: { type: "boolean", default: false },
  only: { type: "string", multiple: true, default: [] },
  machine: { type: "string", default: "qemu" },
  release: { type: "string", default: "trixie" },
  shell: { type: "boolean", default: false },
  keep: { type: "boolean", default: false },
  attach: { type: "string" },
});
const QEMU_TOOLS = ["mke2fs", "qemu-system-x86_64"] as const;
const NAMESPACES_TOOLS = ["unshare", "nsenter"] as const;
process.exit(await main());

async function main(): Promise<number> {
  if (values.list) {
    for (const { name, promise } of SCENARIOS) console.log(`${name.padEnd(24)} ${promise}`);
    return 0;
  }
  const unknown = values.only.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name));
  if (unknown.length > 0) {
    console.error(`There is no scenario ${unknown.join(", ")}; see npm run vm -- --list`);
    return 2;
  }
  const problem = findProblem();
  if (problem !== undefined) {
    console.error(problem);
    return 2;
  }
  const cache = process.env["NODELET_VM_CACHE"] ?? "/var/tmp/nodelet-vm";
  await mkdir(cache, { recursive: true });
  const directory = values.attach ?? (await mkdtemp(join(cache, "run-")));
  try {
    return await runIn(directory, cache);
  } catch (error) {
    console.error(messageOf(error));
    return 1;
  } finally {
    if (!values.keep)
      for (const name of ["disk.img", "tree"]) await rm(join(directory, name), { recursive: true, force: true });
  }
}

/** What is wrong with the choices, in words. */
function findProblem(): string | undefined {
  const { machine, release, shell, keep, attach } = values;
  if (!isRelease(release)) return `--release is ${Object.keys(RELEASES).join(" or ")}, not ${release}`;
  if (machine !== "qemu" && machine !== "namespaces") return `--machine is qemu or namespaces, not ${machine}`;
  if (machine !== "qemu" && (shell || keep || attach !== undefined))
    return "--shell, --keep and --attach are for --machine qemu";
  if (attach !== undefined && !existsSync(join(attach, KEPT_FILE)))
    return `no machine was kept in ${attach}: give --attach the directory that a run with --keep has printed`;
  return undefined;
}

async function runIn(directory: string, cache: string): Promise<number> {
  const machine = values.attach === undefined ? await startMachine(directory, cache) : await attachQemu(values.attach);
  const stop = (): void => {
    void machine
      .remove()
      .then(async () => await rm(directory, { recursive: true, force: true }))
      .finally(() => process.exit(130));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) if (!values.shell) process.once(signal, stop);
  try {
    if (values.shell) {
      await machine.untilOff();
      return 0;
    }
    return (await runScenarios(machine, SCENARIOS.filter(isChosen))) ? 0 : 1;
  } finally {
    if (values.keep) {
      await machine.keep();
      console.error(`# The machine is kept: npm run vm -- --attach ${directory} --only NAME [--keep]`);
    } else await machine.remove();
  }
}

/** The first scenario installs the service that all need; on a machine that was kept it is there. */
function isChosen({ name }: Scenario, index: number): boolean {
  if (values.only.length === 0 || values.only.includes(name)) return true;
  return index === 0 && values.attach === undefined;
}

async function startMachine(directory: string, cache: string): Promise<Machine> {
  const isQemu = values.machine === "qemu";
  await requireTools(["mmdebstrap", "chroot", ...(isQemu ? QEMU_TOOLS : NAMESPACES_TOOLS)]);
  console.error("# The machine's files are made …");
  const base = await buildTree(cache, isRelease(values.release) ? values.release : "trixie");
  const kubelet = findKubelet(process.env);
  const tree = isQemu && kubelet === undefined ? base : await copyTree(base, directory);
  const assets = isQemu ? undefined : findKubeadm(process.env);
  if (assets !== undefined) await addKubeadm(tree, assets, FIRST);
  else if (kubelet !== undefined) await addKubelet(tree, kubelet);
  if (!isQemu) {
    const programs = findSuitePrograms(process.env);
    if (programs !== undefined) await addUpstreamSuite(tree, programs);
    return await startNamespaces({ tree, directory, makeTree: async (place) => await copyTree(base, place) });
  }
  const disk = await buildDisk(tree, directory);
  console.error(`# The machine starts; its console: ${directory}/console.log`);
  return await startQemu({ disk, directory, isShell: values.shell });
}

function isRelease(name: string): name is Release {
  return Object.hasOwn(RELEASES, name);
}
