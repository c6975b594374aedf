import { type ExecFileException, execFile } from "node:child_process";
import { join } from "node:path";

/** The real helm, with the rights of one kubeconfig. */
export interface Helm {
  /** What a command prints that must succeed. */
  ok(...args: readonly string[]): Promise<string>;
  /** What a command says that must fail. */
  fails(...args: readonly string[]): Promise<string>;
}

/** Longer than every `--timeout` that the tests give helm itself. */
const LIMIT_MS = 170_000;

/** `home` takes what helm caches. */
export function createHelm({ path, home, kubeconfig }: { path: string; home: string; kubeconfig: string }): Helm {
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: home, XDG_CACHE_HOME: join(home, "helm") };
  const run = async (args: readonly string[]) =>
    await new Promise<{ error: ExecFileException | null; stdout: string; stderr: string }>((resolve) => {
      execFile(path, args, { env, timeout: LIMIT_MS }, (error, stdout, stderr) => resolve({ error, stdout, stderr }));
    });
  return {
    async ok(...args) {
      const { error, stdout, stderr } = await run(args);
      if (error !== null) throw new Error(`helm ${args.join(" ")} ended with ${error.code}: ${stderr}${error.message}`);
      return stdout;
    },
    async fails(...args) {
      const { error, stdout, stderr } = await run(args);
      if (error === null) throw new Error(`helm ${args.join(" ")} did not fail: ${stdout}`);
      return stderr;
    },
  };
}
