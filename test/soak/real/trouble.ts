import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { codeOf } from "../../../src/base/errors.ts";
import type { Random } from "../../../src/base/random.ts";
import type { ProgramName, SoakedNode } from "./soaked-node.ts";

/** What is done to the node while it soaks. */
interface Trouble {
  /** Resolves when the signal has fired and everything is mended. */
  run(signal: AbortSignal): Promise<void>;
  readonly counts: ReadonlyMap<string, number>;
}

interface TroubleOptions {
  /** Kills come before this time only, in milliseconds of `performance.now`: what a process leaks is seen while it lives. */
  readonly killsUntil: number;
  readonly lowersMachineLimits: boolean;
}

const run = promisify(execFile);
const PAUSE_MS = 20_000;
const FREEZE_MS = 60_000;
const LOW_LIMIT_MS = 10_000;
const SPARE_FILES = 3;
const INOTIFY = "/proc/sys/fs/inotify/max_user_instances";

export function createTrouble(node: SoakedNode, random: Random, options: TroubleOptions): Trouble {
  const counts = new Map<string, number>();
  const wait = async (ms: number, signal: AbortSignal) => {
    await delay(ms, undefined, { signal }).catch(() => undefined);
  };

  const kill = async (program: ProgramName) => signalTo(await node.pidOf(program), "SIGKILL");
  const freeze = async (signal: AbortSignal) => {
    const pid = await node.pidOf("containerd");
    signalTo(pid, "SIGSTOP");
    try {
      await wait(FREEZE_MS, signal);
    } finally {
      signalTo(pid, "SIGCONT");
    }
  };
  /** Whatever it opens fails with EMFILE for a while. The hard limit stays, so that the soft one can be put back. */
  const starve = async (program: ProgramName, signal: AbortSignal) => {
    const pid = await node.pidOf(program);
    if (pid === undefined) return;
    const limits = await readFile(`/proc/${pid}/limits`, "utf8");
    const [, soft = "", hard = ""] = /Max open files +(\d+) +(\d+)/.exec(limits) ?? [];
    const open = (await readdir(`/proc/${pid}/fd`)).length;
    await run("prlimit", ["--pid", String(pid), `--nofile=${open + SPARE_FILES}:${hard}`]);
    try {
      await wait(LOW_LIMIT_MS, signal);
    } finally {
      await run("prlimit", ["--pid", String(pid), `--nofile=${soft}:${hard}`]).catch(() => undefined);
    }
  };
  const exhaustInotify = async (signal: AbortSignal) => {
    const before = await readFile(INOTIFY, "utf8");
    await writeFile(INOTIFY, "0");
    try {
      await wait(LOW_LIMIT_MS, signal);
    } finally {
      await writeFile(INOTIFY, before);
    }
  };

  const kinds: ReadonlyArray<readonly [name: string, act: (signal: AbortSignal) => Promise<void>]> = [
    ["containerd stands still for a minute", freeze],
    ["agent out of files", async (signal) => await starve("agent", signal)],
    ["control plane out of files", async (signal) => await starve("control plane", signal)],
    ...(options.lowersMachineLimits ? [["no inotify", exhaustInotify] as const] : []),
  ];
  const kills: typeof kinds = [
    ["containerd killed", async () => await kill("containerd")],
    ["agent killed", async () => await kill("agent")],
    ["control plane killed", async () => await kill("control plane")],
  ];

  return {
    counts,
    async run(signal) {
      for (;;) {
        await wait(PAUSE_MS, signal);
        if (signal.aborted) return;
        const possible = performance.now() < options.killsUntil ? [...kinds, ...kills] : kinds;
        const [name, act] = possible[Math.floor(random.next() * possible.length)] ?? ["none", async () => undefined];
        counts.set(name, (counts.get(name) ?? 0) + 1);
        console.log(`  trouble: ${name}`);
        await act(signal).catch((error: unknown) => {
          // It ended by itself, or was about to be started.
          if (codeOf(error) !== "ENOENT" && codeOf(error) !== "ESRCH") throw error;
        });
      }
    },
  };
}

function signalTo(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}
