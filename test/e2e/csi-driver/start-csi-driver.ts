import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { type Control, DEFAULT_CONTROL, writeControl } from "./control.ts";
import { type Call, readCalls } from "./journal.ts";
import { type Place, pathsOf } from "./place.ts";

/** A CSI driver that runs as a process. */
export interface CsiDriverProcess {
  readonly name: string;
  /** The process that runs, or ran last. */
  readonly pid: number;
  /** The socket of the CSI services. */
  readonly socket: string;
  readonly registrationSocket: string;
  /** The volumes' contents: a directory or an image (`.img`) each, named by the volume's id. */
  readonly volumesDirectory: string;
  /** All calls so far, of every process, oldest first. */
  calls(): Promise<Call[]>;
  /** The latest call of this RPC that ended well, or the first that will; rejects after `timeoutMs` (default 30 s). */
  untilCalled(rpc: string, options?: { timeoutMs?: number; where?: (call: Call) => boolean }): Promise<Call>;
  /** Changes what is given, from the next call on. */
  control(patch: Partial<Control>): void;
  /** Kills it as a crash does, if it still runs, and starts it again. */
  restart(): Promise<void>;
  /** Kills it as a crash does. Its sockets stay, without a listener. */
  kill(): Promise<void>;
  /** Asks it to end, its sockets removed. `cleanUp`: unmounts everything first (default false). */
  stop(options?: { cleanUp?: boolean }): Promise<void>;
  /** Resolves when the process has ended. */
  ended(): Promise<void>;
}

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
const START_LIMIT_MS = 30_000;

/** What may be said of a driver when it is started. */
interface CsiDriverOptions extends Place {
  /** What differs from `DEFAULT_CONTROL`. */
  control?: Partial<Control>;
  /** The command prefix by which it is started where its mounts are to be seen. Default: none. */
  enterMountNamespace?: readonly string[];
}

/** Starts a driver. Resolves when both sockets are there. Needs root for mounts. */
export async function startCsiDriver(options: CsiDriverOptions): Promise<CsiDriverProcess> {
  const { name, rootDirectory, directory } = options;
  const place = { name, rootDirectory, directory };
  const paths = pathsOf(place);
  let control = withFaultIds({ ...DEFAULT_CONTROL, ...options.control });
  await mkdir(directory, { recursive: true });
  for (const socket of [paths.socket, paths.registrationSocket]) await mkdir(dirname(socket), { recursive: true });
  await writeFile(paths.journal, "", { flag: "a" });
  writeControl(paths.control, control);
  const enter = options.enterMountNamespace ?? [];
  let process = await spawnDriver(place, enter);

  const calls = async () => readCalls(paths.journal);
  const kill = async () => {
    process.child.kill("SIGKILL");
    await process.ended;
  };
  return {
    name,
    get pid() {
      return process.pid;
    },
    socket: paths.socket,
    registrationSocket: paths.registrationSocket,
    volumesDirectory: paths.volumes,
    calls,
    async untilCalled(rpc, { timeoutMs = 30_000, where = () => true } = {}) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const found = (await calls()).findLast((call) => call.rpc === rpc && call.outcome === "ok" && where(call));
        if (found) return found;
        if (Date.now() > deadline)
          throw new Error(`no ${rpc} within ${timeoutMs} ms; the driver had: ${await listed(calls)}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    control(patch) {
      control = withFaultIds({ ...control, ...patch });
      writeControl(paths.control, control);
    },
    kill,
    async restart() {
      await kill();
      process = await spawnDriver(place, enter);
    },
    async stop({ cleanUp = false } = {}) {
      control = { ...control, cleanUpOnTerm: cleanUp };
      writeControl(paths.control, control);
      process.child.kill("SIGTERM");
      await process.ended;
    },
    ended: async () => await process.ended,
  };
}

/** A fault that is set anew counts anew. */
function withFaultIds(control: Control): Control {
  const faults = Object.entries(control.faults).map(([rpc, fault]) => [rpc, { id: randomUUID(), ...fault }]);
  return { ...control, faults: Object.fromEntries(faults) };
}

async function spawnDriver(
  place: Place,
  enter: readonly string[],
): Promise<{ child: ChildProcess; pid: number; ended: Promise<void> }> {
  const { log } = pathsOf(place);
  // It ends with its standard input, so it does not outlive a test run that was killed.
  // Where there is a prefix it may leave this directory, and `tsx` is looked for from it.
  const stay = enter.length > 0 ? [...enter, "env", `--chdir=${process.cwd()}`] : [];
  const [command = process.execPath, ...args] = [...stay, process.execPath, "--import", "tsx", MAIN];
  const child = spawn(command, [...args, JSON.stringify(place)], { stdio: ["pipe", "pipe", "pipe"] });
  child.stderr.on("data", (chunk: Buffer) => appendFileSync(log, chunk));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ready = new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  const timer = setTimeout(() => child.kill("SIGKILL"), START_LIMIT_MS);
  const started = await Promise.race([ready.then(() => true), ended.then(() => false)]);
  clearTimeout(timer);
  if (!started || child.pid === undefined) {
    throw new Error(`the CSI driver ${place.name} did not start: ${readFileSync(log, "utf8")}`);
  }
  return { child, pid: child.pid, ended };
}

async function listed(calls: () => Promise<Call[]>): Promise<string> {
  const all = await calls();
  return all.map(({ rpc, outcome }) => `${rpc} ${outcome ?? "unanswered"}`).join(", ") || "none";
}
