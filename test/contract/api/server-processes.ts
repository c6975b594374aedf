import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants } from "node:fs/promises";
import { join } from "node:path";

/** A process of a server, ended by its handle and by nothing else. */
export interface ServerProcess {
  readonly name: string;
  /** What it wrote last. */
  log(): string;
  hasEnded(): boolean;
  /** In order; by force where that takes too long. */
  end(): Promise<void>;
}

const STOP_TIMEOUT_MS = 15_000;
/** The error that tells of a server's end has so much of what the server said last. */
const SHOWN_LOG_CHARACTERS = 4_000;

/** The program of that name in the directory; undefined where there is none that can be run. */
export async function findProgram(directory: string, name: string): Promise<string | undefined> {
  const path = join(directory, name);
  return await access(path, constants.X_OK).then(
    () => path,
    () => undefined,
  );
}

/** As `findProgram`, for one that cannot be done without. */
export async function requireProgram(assets: string, name: string): Promise<string> {
  const path = await findProgram(assets, name);
  if (path !== undefined) return path;
  throw new Error(`KUBEBUILDER_ASSETS is ${assets}, and there is no ${name} in it that can be run`);
}

export function startServerProcess(program: string, args: readonly string[]): ServerProcess {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  const keep = (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-SHOWN_LOG_CHARACTERS);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  child.on("error", (error) => keep(Buffer.from(`${error.message}\n`)));
  return { name: program, log: () => log, hasEnded: () => hasEnded(child), end: async () => await end(child) };
}

const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess) =>
  pid === undefined || exitCode !== null || signalCode !== null;

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, "exit");
  const force = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  child.kill("SIGTERM");
  await ended;
  clearTimeout(force);
}
