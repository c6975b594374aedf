import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { KubectlBinary } from "./kubectl-binaries.ts";

/** Arguments: in one string where none holds a space. */
type Arguments = string | readonly string[];

interface RunOptions {
  /** Standard input; anything but text becomes JSON. */
  input?: string | object;
  env?: Readonly<Record<string, string>>;
}

/** How a command ended and what it said. */
interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** One kubectl with one set of credentials. */
export interface Kubectl {
  /** 33 of v1.33.1. */
  readonly minor: number;
  run(args: Arguments, options?: RunOptions): Promise<Ended>;
  /** What a command prints that must succeed. */
  ok(args: Arguments, options?: RunOptions): Promise<string>;
  /** What a command says on standard error that must end with 1. */
  fails(args: Arguments, options?: RunOptions): Promise<string>;
  /** `ok` of `<args> -o json`, parsed. */
  json(args: Arguments, options?: RunOptions): Promise<unknown>;
  /** Starts a command that goes on until it is stopped. */
  start(args: Arguments): RunningKubectl;
}

/** A command that goes on. */
interface RunningKubectl {
  /** Resolves with all that was printed so far, once the text is in it; rejects when the command ends before. */
  prints(text: string): Promise<string>;
  /** Into its standard input, which stays open. */
  write(text: string): void;
  /** Resolves when it has ended by itself. */
  ended(): Promise<void>;
  stop(): Promise<void>;
}

const LIMIT_MS = 60_000;

/** `home` takes what kubectl caches and its temporary files. */
export function createKubectl(options: { binary: KubectlBinary; home: string; kubeconfig: string }): Kubectl {
  const { binary, home, kubeconfig } = options;
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const own = { HOME: home, TMPDIR: home, KUBECONFIG: kubeconfig, TERM: "dumb" };

  const begin = (args: Arguments, more: RunOptions["env"] = {}): ChildProcessWithoutNullStreams =>
    spawn(binary.path, listOf(args), { env: { ...inherited, ...own, ...more }, cwd: home, timeout: LIMIT_MS });

  const run = async (args: Arguments, { input = "", env }: RunOptions = {}): Promise<Ended> => {
    const child = begin(args, env);
    const { stdout, stderr } = collect(child);
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    // A command that does not read its input may end before all is written.
    child.stdin.on("error", () => undefined);
    child.stdin.end(typeof input === "string" ? input : JSON.stringify(input));
    return { code: await ended, stdout: stdout(), stderr: stderr() };
  };

  const expectCode = async (code: number, args: Arguments, options?: RunOptions): Promise<Ended> => {
    const ended = await run(args, options);
    if (ended.code === code) return ended;
    const said = [ended.stdout, ended.stderr].join("\n");
    throw new Error(`kubectl ${listOf(args).join(" ")} ended with ${ended.code} instead of ${code}:\n${said}`);
  };

  const ok: Kubectl["ok"] = async (args, more) => (await expectCode(0, args, more)).stdout;
  return {
    minor: binary.minor,
    run,
    ok,
    fails: async (args, more) => (await expectCode(1, args, more)).stderr,
    json: async (args, more) => JSON.parse(await ok([...listOf(args), "-o", "json"], more)),
    start: (args) => follow(begin(args)),
  };
}

function follow(child: ChildProcessWithoutNullStreams): RunningKubectl {
  const { stdout, stderr } = collect(child);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    async prints(text) {
      const spoken = new Promise<string>((resolve) => {
        const look = () => void (stdout().includes(text) && resolve(stdout()));
        child.stdout.on("data", look);
        look();
      });
      const early = ended.then(() => {
        throw new Error(`kubectl ended before it printed ${JSON.stringify(text)}:\n${stdout()}${stderr()}`);
      });
      return await Promise.race([spoken, early]);
    },
    write: (text) => void child.stdin.write(text),
    ended: () => ended,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function collect(child: ChildProcessWithoutNullStreams): { stdout(): string; stderr(): string } {
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      said[name] += chunk;
    });
  }
  return { stdout: () => said.stdout, stderr: () => said.stderr };
}

const listOf = (args: Arguments): readonly string[] => (typeof args === "string" ? args.split(" ") : args);
