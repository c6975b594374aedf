import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { runCommand } from "../../../src/cluster/processes/run-command.ts";
import type { Machine, ScriptEnd } from "./machine.ts";
import { wallClock, within } from "./machine-clock.ts";

const START_MS = 600_000;
const LOOK_AGAIN_MS = 200;
const CONTROLLERS = ["cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids"];
const DEVICES = ["null", "zero", "full", "random", "urandom", "tty", "kmsg"];
/** What a node agent sets for the whole kernel, which is this machine's too. */
const KERNEL_SETTINGS = ["kernel/panic", "kernel/panic_on_oops", "vm/overcommit_memory"];
/** What systemd 257 wants to hear before it runs on version 1 of cgroups. */
const LEGACY = "systemd.unified_cgroup_hierarchy=0 SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1";
const UNIT = "systemd.unit=multi-user.target";

/** Enters cgroups of its own, which are the roots of all that the machine sees of them, and then the namespaces. */
const ENTER = `#!/bin/bash -e
own=$1
shift
for root in $(awk '$3 ~ /^cgroup2?$/ { print $2 }' /proc/mounts); do
  mkdir -p "$root/$own"
  for file in cpuset.cpus cpuset.mems; do [ ! -e "$root/$file" ] || cat "$root/$file" > "$root/$own/$file"; done
  echo $$ > "$root/$own/cgroup.procs"
done
exec unshare --mount --pid --fork --kill-child --net --uts --ipc --cgroup --propagation private "$@"
`;

/** Removes those cgroups. The processes of a machine that was killed are in them a little longer. */
const LEAVE = `#!/bin/bash
for root in $(awk '$3 ~ /^cgroup2?$/ { print $2 }' /proc/mounts); do
  for attempt in {1..100}; do
    [ ! -e "$root/$1" ] || find "$root/$1" -depth -type d -exec rmdir {} + 2> /dev/null && break
    sleep 0.1
  done
done
`;

/** Makes a tree of files the whole world of systemd, in namespaces that it is the first process of. */
const BOOT = `#!/bin/bash -e
tree=$1
mount --bind "$tree" "$tree"
cd "$tree"
mount -t proc proc proc
mount -t sysfs sysfs sys
for name in run tmp dev; do mount -t tmpfs tmpfs $name; done
chmod 755 run dev
for name in ${DEVICES.join(" ")}; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mkdir -p dev/pts dev/shm old
mount -t devpts devpts dev/pts -o newinstance,ptmxmode=0666
ln -s pts/ptmx dev/ptmx
mount -t tmpfs tmpfs sys/fs/cgroup -o mode=755
for name in ${CONTROLLERS.join(" ")}; do
  mkdir sys/fs/cgroup/$name
  mount -t cgroup -o $name cgroup sys/fs/cgroup/$name
done
mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
mount -t cgroup -o none,name=systemd,xattr cgroup sys/fs/cgroup/systemd
mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
ip link set lo up
hostname "$(cat etc/hostname)"
# There is no network to wait for, and what waits for it would do so for two minutes.
ln -sf /dev/null etc/systemd/system/systemd-networkd-wait-online.service
pivot_root . old
umount -l /old
mount --make-rshared /
exec env -i container=nodelet-vm PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
  SYSTEMD_PROC_CMDLINE="${UNIT} ${LEGACY}" /sbin/init ${UNIT} ${LEGACY} < /dev/null > /run/console.log 2>&1
`;

interface NamespacesOptions {
  /** The machine's files, which it changes. */
  readonly tree: string;
  readonly directory: string;
  /** Makes the same files for another machine, in a directory of its own, and returns where they are. */
  makeTree(directory: string): Promise<string>;
}

interface NamespacesMachine extends Machine {
  /** Its first process, as this machine knows it. */
  firstPid(): Promise<string>;
}

/** Machines that this process has started. */
let started = 0;

/**
 * Starts systemd as the first process of namespaces of its own, on the kernel of this machine: as fast as that is, and
 * with its version of cgroups. A cut of the power kills all processes; what they wrote is in this machine's memory still.
 * The settings of the kernel that a node agent changes are put back when the machine is removed.
 */
export async function startNamespaces({ tree, directory, makeTree }: NamespacesOptions): Promise<NamespacesMachine> {
  const scripts = {
    enter: join(directory, "enter.sh"),
    boot: join(directory, "boot.sh"),
    leave: join(directory, "leave.sh"),
  };
  await writeFile(scripts.enter, ENTER, { mode: 0o755 });
  await writeFile(scripts.boot, BOOT, { mode: 0o755 });
  await writeFile(scripts.leave, LEAVE, { mode: 0o755 });
  const putBackSettings = await keepKernelSettings();
  const cgroup = `nodelet-vm-${process.pid}-${started++}`;
  const neighbours: Machine[] = [];
  const heard: string[] = [];
  const inside = new Set<ChildProcess>();
  const begin = async (): Promise<ChildProcess> =>
    await untilUp(spawn(scripts.enter, [cgroup, scripts.boot, tree], { stdio: "ignore" }));
  let outer = await begin();
  const isOn = (): boolean => outer.exitCode === null && outer.signalCode === null;
  const off = async (): Promise<void> => {
    // At its end systemd stops and kills all processes; "nsenter" stops with the one that it waits for, and goes on for a signal.
    const resume = setInterval(() => {
      for (const child of inside) child.kill("SIGCONT");
    }, LOOK_AGAIN_MS);
    try {
      if (isOn()) await within(wallClock, START_MS, once(outer, "exit"), "the machine does not switch itself off");
    } finally {
      clearInterval(resume);
    }
    await once(spawn(scripts.leave, [cgroup], { stdio: "ignore" }), "exit");
  };
  const kill = async (): Promise<void> => {
    outer.kill("SIGKILL");
    await off();
  };
  const switchOn = async (): Promise<void> => {
    await kill();
    outer = await begin();
  };
  const machine: NamespacesMachine = {
    firstPid: async () => await readFirstPid(outer),
    startNeighbour: async (prepare) => {
      const place = await mkdtemp(join(directory, "neighbour-"));
      const files = await makeTree(place);
      await prepare(files);
      const neighbour = await startNamespaces({ tree: files, directory: place, makeTree });
      neighbours.push(neighbour);
      const [own, other] = [await machine.firstPid(), await neighbour.firstPid()];
      const cable = [
        "link",
        "add",
        "name",
        "lan0",
        "netns",
        own,
        "type",
        "veth",
        "peer",
        "name",
        "lan0",
        "netns",
        other,
      ];
      await runCommand("ip", cable, { timeoutMs: START_MS });
      return neighbour;
    },
    kind: "namespaces",
    keepsShims: false,
    clock: wallClock,
    heard,
    run: async (text) => await runInside(outer, text, { heard, inside }),
    read: async (text) => {
      const { code, output } = await machine.run(text);
      if (code !== 0) throw new Error(`exit code ${code} of: ${text}\n${output}`);
      return output.trimEnd();
    },
    untilStarted: async () => {
      await off();
      await switchOn();
    },
    untilOff: off,
    switchOn,
    cutPower: switchOn,
    remove: async () => {
      for (const neighbour of neighbours) await neighbour.remove();
      await kill();
      await rm(tree, { recursive: true, force: true });
      await putBackSettings();
    },
    keep: async () => await Promise.reject(new Error("only a machine of QEMU can be kept")),
  };
  return machine;
}

/** Reads the settings, and returns what puts them back. */
async function keepKernelSettings(): Promise<() => Promise<void>> {
  const paths = KERNEL_SETTINGS.map((name) => join("/proc/sys", name));
  const values = await Promise.all(paths.map(async (path) => await readFile(path, "utf8")));
  return async () => {
    for (const [index, path] of paths.entries()) await writeFile(path, values[index] ?? "");
  };
}

/** The process is the one outside: its end ends all inside, and it ends with the first one there. */
async function untilUp(outer: ChildProcess): Promise<ChildProcess> {
  const isUp = async (): Promise<boolean> => {
    const { output } = await runInside(outer, "systemctl is-system-running");
    return ["starting", "running", "degraded"].includes(output.trim());
  };
  const wait = async (): Promise<void> => {
    while (!(await isUp().catch(() => false))) {
      if (outer.exitCode !== null) throw new Error(`systemd ends with exit code ${outer.exitCode}`);
      await delay(LOOK_AGAIN_MS);
    }
  };
  await within(wallClock, START_MS, wait(), "systemd does not start in its namespaces");
  return outer;
}

interface Followed {
  /** Gets the lines that the script wants to be heard at once. */
  readonly heard: string[];
  /** Holds the process of each script that runs. */
  readonly inside: Set<ChildProcess>;
}

async function readFirstPid({ pid }: ChildProcess): Promise<string> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  if (children.trim() === "") throw new Error("the machine is switched off");
  return children.trim();
}

async function runInside(outer: ChildProcess, text: string, followed?: Followed): Promise<ScriptEnd> {
  const first = await readFirstPid(outer);
  const enter = ["-t", first, "-m", "-p", "-n", "-u", "-i", "-C", "--", "env", "-i", "HOME=/root"];
  const path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const wrapped = `exec 2>&1 4>&3; mkdir -p /run/vm; ${text}`;
  const child = spawn("nsenter", [...enter, path, "bash", "-c", wrapped], {
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
  followed?.inside.add(child);
  const [, stdout, , lines] = child.stdio;
  let output = "";
  stdout?.on("data", (data: Buffer) => {
    output += data.toString("utf8");
  });
  if (lines != null && "read" in lines)
    createInterface({ input: lines }).on("line", (line) => followed?.heard.push(line.slice(1)));
  const [code] = await once(child, "close");
  followed?.inside.delete(child);
  return { code: Number(code ?? -1), output };
}
