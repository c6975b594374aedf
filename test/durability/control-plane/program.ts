import { type ChildProcess, spawn } from "node:child_process";
import { PROGRAM } from "../program.ts";

/** A control plane that runs, or that has been killed. */
export interface ControlPlaneProcess {
  /** Resolves once the API is served; rejects when the process ends before, with what it said. */
  readonly ready: Promise<void>;
  /** Ends it by SIGKILL and resolves when it is gone. It is no error when it is gone already. */
  kill(): Promise<void>;
  /** What it logged as an error. */
  errors(): readonly string[];
}

/** Against hanging only. */
const READY_LIMIT_MS = 60_000;

export function startControlPlane(directory: string, port: number): ControlPlaneProcess {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const args = [PROGRAM, "control-plane", `--state-dir=${directory}`, `--api-port=${port}`];
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let problems = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    problems += text;
  });
  const ready = untilServed(child, () => problems);
  ready.catch(() => undefined);
  return {
    ready,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
    errors: () => problems.split("\n").filter((line) => /^E\d{4} |^nodelet: /.test(line)),
  };
}

async function untilServed(child: ChildProcess, problems: () => string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const end = (why: string) => reject(new Error(`the control plane ${why}: ${problems()}`));
    const limit = setTimeout(() => end(`is not ready after ${READY_LIMIT_MS} ms`), READY_LIMIT_MS);
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.includes("is served at")) resolve(clearTimeout(limit));
    });
    child.once("close", (code, signal) => {
      clearTimeout(limit);
      end(`ended by ${signal ?? code} before it was ready`);
    });
  });
}
