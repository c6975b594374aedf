import { readFile, writeFile } from "node:fs/promises";
import { parseCpuList } from "../../base/cpu-list.ts";
import { readMountTable } from "../../host/linux/mounts/mount-table.ts";
import { runCommand } from "../processes/run-command.ts";
import { computeMountsBeneath, isRootShared } from "./mount-info.ts";

/**
 * Makes sure that `/` is shared, which volumes that propagate mounts need. Where the machine's `/` is private (no
 * systemd), containerd and the node agent run in a mount namespace of their own, in which `/` is shared; the machine
 * itself stays as it is.
 *
 * Returns the command prefix that starts a program in that namespace; empty where `/` is shared and none is needed.
 *
 * The namespace is pinned by a bind mount of its file, so that a containerd that is started anew finds the mounts of
 * the pods that live on. Mounts that the machine makes after that do not show in it.
 */
export async function ensureMountNamespace(path: string): Promise<string[]> {
  const mounts = await readMountTable();
  if (isRootShared(mounts)) return [];
  if (!mounts.some((mount) => mount.path === path)) {
    await writeFile(path, "");
    await pinMountNamespace(path);
  }
  return ["nsenter", `--mount=${path}`, "--"];
}

/** What `pinMountNamespace` needs of the machine. */
interface PinDeps {
  run(program: string, args: readonly string[]): Promise<unknown>;
  /** The processors that this process may use. */
  readCpus(): Promise<Iterable<number>>;
}

const LINUX: PinDeps = {
  run: runCommand,
  async readCpus() {
    const status = await readFile("/proc/self/status", "utf8");
    return parseCpuList(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? "") ?? [];
  },
};

/**
 * Makes a mount namespace and pins it at the file. The kernel pins only those with a greater number than the namespace of
 * whoever asks, against circles. Since Linux 6.18 each processor counts by itself: one made in a container may have a
 * smaller number than the container's own, and then another processor has a greater one.
 */
export async function pinMountNamespace(path: string, { run, readCpus } = LINUX): Promise<void> {
  const pin = ["unshare", `--mount=${path}`, "--propagation", "shared", "true"];
  const pinOn = async (...chosen: readonly string[]): Promise<void> => {
    const [program = "", ...args] = [...chosen, ...pin];
    await run(program, args);
  };
  try {
    await pinOn();
  } catch (error) {
    for (const cpu of await readCpus()) {
      if (await isDone(pinOn("taskset", "--cpu-list", `${cpu}`))) return;
    }
    throw error;
  }
}

async function isDone(work: Promise<void>): Promise<boolean> {
  return await work.then(
    () => true,
    () => false,
  );
}

/**
 * Unmounts everything beneath the directory, innermost first; the pinned namespace is one of them. `kept` may be
 * mounted by the machine's administrator.
 */
export async function unmountBeneath(directory: string, kept?: string): Promise<void> {
  const mounts = await readMountTable();
  for (const mountPoint of computeMountsBeneath(mounts, directory)) {
    if (mountPoint !== kept) await runCommand("umount", ["--lazy", mountPoint]);
  }
}
