import { execFileSync } from "node:child_process";
import { codeOf, messageOf } from "../../src/base/errors.ts";

const TIMEOUT_MS = 1_800_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** The Debian package of each tool that is not there on every machine with Node.js. */
const PACKAGES: Readonly<Record<string, string>> = {
  "dpkg-deb": "dpkg",
  "x86_64-linux-gnu-strip": "binutils-x86-64-linux-gnu",
  "aarch64-linux-gnu-strip": "binutils-aarch64-linux-gnu",
};

interface ToolOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a program to its end and returns what it prints. Throws with its own words, or with the package that it is in. */
export function runTool(program: string, args: readonly string[], { cwd, environment }: ToolOptions = {}): string {
  try {
    return execFileSync(program, args, {
      ...(cwd !== undefined && { cwd }),
      encoding: "utf8",
      env: { ...process.env, ...environment },
      maxBuffer: MAX_OUTPUT_BYTES,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: TIMEOUT_MS,
    });
  } catch (error) {
    if (codeOf(error) === "ENOENT") {
      throw new Error(`${program} is missing: apt-get install ${PACKAGES[program] ?? program}`, { cause: error });
    }
    throw new Error(`${program} failed: ${messageOf(error)}`, { cause: error });
  }
}
