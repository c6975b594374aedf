import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type Server } from "node:net";
import { PROGRAM } from "./node-under-test.ts";

/** How a program ended and what it said. */
interface ProgramResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running `nodelet`; `output` grows as it speaks. */
export interface RunningProgram {
  readonly child: ChildProcess;
  readonly result: Promise<ProgramResult>;
  output(): string;
}

const LIMIT_MS = 100_000;

/**
 * With the umask of a hardened machine, whose users must be able to read what is for them all the same, and the search path
 * that `su` leaves, in which no program of administrators is.
 */
const AS_AFTER_SU = 'umask 077; PATH=/usr/local/bin:/usr/bin:/bin; exec "$0" "$@"';

/** Starts `nodelet` with these arguments. */
export function startProgram(...args: string[]): RunningProgram {
  return start(args);
}

function start(args: readonly string[], timeout?: number): RunningProgram {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const child = spawn("sh", ["-c", AS_AFTER_SU, process.execPath, PROGRAM, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString("utf8");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  const result = new Promise<ProgramResult>((resolve, reject) => {
    child.once("error", reject);
    // `exit` and not `close`: what it left in the background may hold its output open.
    child.once("exit", (code) => setImmediate(() => resolve({ code, stdout, stderr })));
  });
  return { child, result, output: () => stdout + stderr };
}

/** Runs `nodelet` with these arguments to its end; killed when it takes too long. */
export async function runProgram(...args: string[]): Promise<ProgramResult> {
  return await start(args, LIMIT_MS).result;
}

/** A port that is taken until its server is closed. */
export async function occupyPort(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return { server, port: address.port };
}
