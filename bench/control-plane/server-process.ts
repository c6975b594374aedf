import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Endpoint } from "./api-server.ts";
import { connect } from "./connection.ts";

const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 2;
const LOG_TAIL_CHARACTERS = 2_000;

/**
 * A child process whose output goes to a file. In a session of its own: Ctrl-C is the bench's to handle. A script that
 * asks for `node` gets the one that runs the bench.
 */
export function startProcess(command: string, args: readonly string[], logFile: string): ChildProcess {
  // Node.js would read these certificates at its start, which is part of what is measured.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const log = openSync(logFile, "a");
  try {
    const path = [dirname(process.execPath), env["PATH"] ?? ""].join(delimiter);
    const child = spawn(command, args, { env: { ...env, PATH: path }, stdio: ["ignore", log, log], detached: true });
    // The code that waits for it reports the end of its log, and everything else is removed first.
    child.on("error", (error) => appendFileSync(logFile, `${error.message}\n`));
    return child;
  } finally {
    closeSync(log);
  }
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

/** Or could not begin. */
function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}

/** Resolves when `/readyz` answers 200. `readEndpoint` gives undefined while the credentials are not there yet. */
export async function untilReady(
  watched: { child: ChildProcess; logFile: string; signal: AbortSignal },
  readEndpoint: () => Promise<Endpoint | undefined>,
): Promise<Endpoint> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline && !hasEnded(watched.child)) {
    watched.signal.throwIfAborted();
    const endpoint = await readEndpoint();
    if (endpoint !== undefined && (await isReady(endpoint))) return endpoint;
    await delay(READY_POLL_MS);
  }
  const log = (await readFile(watched.logFile, "utf8").catch(() => "")).slice(-LOG_TAIL_CHARACTERS);
  const what = hasEnded(watched.child) ? `ended with ${watched.child.exitCode}` : "does not become ready";
  throw new Error(`${watched.child.spawnfile} ${what}:\n${log}`);
}

async function isReady(endpoint: Endpoint): Promise<boolean> {
  const connection = connect(endpoint, { protocol: "HTTP/1.1", connections: 1 });
  try {
    return (await connection.request({ method: "GET", path: "/readyz" })).status === 200;
  } catch {
    return false;
  } finally {
    connection.close();
  }
}

/** The memory of these processes together, in MiB. */
export async function readMemory(pids: readonly (number | undefined)[]) {
  const sum = { resident: 0, proportional: 0 };
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    const maps = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
    sum.resident += Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024;
    sum.proportional += Number(/^Pss:\s+(\d+) kB/m.exec(maps)?.[1]) / 1_024;
  }
  return sum;
}

/** The unit of `/proc/<pid>/stat`, USER_HZ, is 100 wherever Node.js runs. */
const MS_PER_TICK = 10;

/** In user and in kernel mode, of all threads of these processes. */
export async function readCpuMs(pids: readonly (number | undefined)[]): Promise<number> {
  let ticks = 0;
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The command is in parentheses and may hold blanks; the 12th and 13th field after it are the times.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * MS_PER_TICK;
}

/** Ports of loopback that are free now. */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  const ports: number[] = [];
  for (const server of servers) {
    if (!server.listening) await once(server, "listening");
    const address = server.address();
    ports.push(typeof address === "object" && address !== null ? address.port : 0);
  }
  for (const server of servers) {
    server.close();
    await once(server, "close");
  }
  return ports;
}
