import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";
import type { Series } from "../growth.ts";
import type { ProgramName, SoakedNode } from "./soaked-node.ts";

/** Counts what the node holds of the machine, again and again. */
interface Meter {
  readonly series: readonly Series[];
  /** `at`: seconds since the beginning. What cannot be read now is left out of this turn. */
  sample(at: number): Promise<void>;
}

const run = promisify(execFile);
const PROGRAMS: readonly ProgramName[] = ["agent", "control plane", "containerd"];
const MEBIBYTE = 1024 ** 2;

interface Reading {
  readonly name: string;
  readonly unit: string;
  readonly slack: number;
  /** Undefined where it cannot be told now. */
  read(): Promise<{ value: number; owner: string } | undefined>;
}

export function createMeter(node: SoakedNode): Meter {
  const readings = [...PROGRAMS.flatMap((program) => ofProgram(node, program)), ...ofMachine(node)];
  const series = readings.map(({ name, unit, slack }): Series => ({ name, unit, slack, samples: [] }));
  return {
    series,
    async sample(at) {
      for (const [index, { read }] of readings.entries()) {
        const found = await read().catch(() => undefined);
        if (found !== undefined) series[index]?.samples.push({ at, ...found });
      }
    },
  };
}

function ofProgram(node: SoakedNode, program: ProgramName): Reading[] {
  const of = async (count: (pid: number) => Promise<number>) => {
    const pid = await node.pidOf(program);
    return pid === undefined ? undefined : { value: await count(pid), owner: String(pid) };
  };
  const links = async (pid: number) => {
    const names = await readdir(`/proc/${pid}/fd`);
    return await Promise.all(names.map(async (name) => await readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  };
  const statusField = async (pid: number, field: string) => {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
  };
  const handles = async (pid: number) => (await links(pid)).length;
  const inotify = async (pid: number) => (await links(pid)).filter((link) => link.includes("inotify")).length;
  const sockets = async (pid: number) => (await links(pid)).filter((link) => link.startsWith("socket:")).length;
  const resident = async (pid: number) => Math.round((await statusField(pid, "VmRSS")) / 1024);
  return [
    { name: `${program}: handles`, unit: "", slack: 8, read: async () => await of(handles) },
    { name: `${program}: sockets`, unit: "", slack: 6, read: async () => await of(sockets) },
    { name: `${program}: inotify instances`, unit: "", slack: 1, read: async () => await of(inotify) },
    { name: `${program}: resident memory`, unit: "MiB", slack: 25, read: async () => await of(resident) },
    {
      name: `${program}: threads`,
      unit: "",
      slack: 4,
      read: async () => await of(async (pid) => await statusField(pid, "Threads")),
    },
  ];
}

function ofMachine({ directory, bridge, podCidr, pidOf }: SoakedNode): Reading[] {
  const whole = async (value: Promise<number>) => ({ value: await value, owner: "" });
  const linesOf = async (program: string, args: readonly string[], words: string) => {
    const { stdout } = await run(program, [...args], { maxBuffer: 64 * MEBIBYTE });
    return stdout.split("\n").filter((line) => line.includes(words)).length;
  };
  const mounts = async () => {
    const pid = await pidOf("containerd");
    const text = await readFile(`/proc/${pid ?? "self"}/mountinfo`, "utf8");
    return text.split("\n").filter((line) => line.includes(directory)).length;
  };
  const cgroups = async () => {
    const path = /cgroupRoot"?: "?(\/[\w-]+)/.exec(await readFile(`${directory}/state/kubelet.yaml`, "utf8"))?.[1];
    if (path === undefined) throw new Error("the pods have no cgroup of their own");
    const { stdout } = await run("find", [`/sys/fs/cgroup${path}`, "-type", "d"]);
    return stdout.split("\n").length;
  };
  const disk = async () => {
    const { stdout } = await run("du", ["-sxm", "--exclude=containerd", `${directory}/state`]);
    return Number(stdout.split(/\s/)[0]);
  };
  const snapshots = async () => {
    const { stdout } = await run("find", [`${directory}/state/containerd`, "-maxdepth", "4", "-type", "d"]);
    return stdout.split("\n").length;
  };
  const podDirectories = async () => (await readdir(`${directory}/state/kubelet/pods`)).length;
  const podLogs = async () => (await readdir(`${directory}/state/pod-logs`)).length;
  return [
    { name: "mounts", unit: "", slack: 12, read: async () => await whole(mounts()) },
    { name: "cgroups", unit: "", slack: 8, read: async () => await whole(cgroups()) },
    {
      name: "nat rules of the pods",
      unit: "",
      slack: 8,
      read: async () =>
        await whole(linesOf("iptables", ["-w", "-t", "nat", "-S"], podCidr.split(".").slice(0, 2).join("."))),
    },
    {
      name: "network interfaces",
      unit: "",
      slack: 6,
      read: async () => await whole(linesOf("ip", ["-o", "link"], `master ${bridge}`)),
    },
    { name: "disk without containerd's", unit: "MiB", slack: 30, read: async () => await whole(disk()) },
    { name: "containerd's directories", unit: "", slack: 30, read: async () => await whole(snapshots()) },
    { name: "pod directories", unit: "", slack: 6, read: async () => await whole(podDirectories()) },
    { name: "log directories", unit: "", slack: 6, read: async () => await whole(podLogs()) },
  ];
}
