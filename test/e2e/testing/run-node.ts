import { spawn } from "node:child_process";
import { join } from "node:path";

/** Where `nodelet/testing` is the built package, by its own name. */
export const ROOT = join(import.meta.dirname, "../../..");

interface NodeRun {
  readonly pid: number | undefined;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  /** Default: the Node.js that runs this. */
  readonly program?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Against hanging only: a compiler takes seconds, and much longer on a machine that is busy. */
const LIMIT_MS = 120_000;

/** Runs Node.js with these arguments to its end; killed, with a code of null, when it does not end by itself. */
export async function runNode(args: readonly string[], { program, environment }: RunOptions = {}): Promise<NodeRun> {
  const { NODE_OPTIONS: _, VITEST: __, NODE_TEST_CONTEXT: ___, ...inherited } = process.env;
  const child = spawn(program ?? process.execPath, args, {
    cwd: ROOT,
    env: { ...inherited, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LIMIT_MS,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ pid: child.pid, code, stdout, stderr }));
  });
}

/** Runs the text of a module. */
export function runModule(source: string, options?: RunOptions): Promise<NodeRun> {
  return runNode(["--input-type=module", "--eval", source], options);
}
