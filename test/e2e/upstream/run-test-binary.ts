import { spawn } from "node:child_process";
import { once } from "node:events";

/** Runs a test binary to its end; what it says on both its outputs, as it came. */
export async function runTestBinary(
  path: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ code: unknown; output: string }> {
  const child = spawn(path, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  }
  const [code] = await once(child, "close");
  return { code, output };
}
