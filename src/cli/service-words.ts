import { resolve } from "node:path";
import { Command, CommanderError } from "commander";
import { CodedError } from "../base/errors.ts";
import { parseFlags } from "../config/parse-flags.ts";
import { addUp } from "./up/up-command.ts";
import type { UpOptions, UpSources } from "./up/up-options.ts";
import { UP_SETTINGS } from "./up/up-settings.ts";

/** What a service runs: a command of nodelet. */
type ServiceCommand = "up" | "kubelet";

/** The flags of `up` whose value is a path. */
const UP_PATHS: ReadonlySet<string> = new Set([
  "config",
  ...UP_SETTINGS.filter(({ kind }) => kind === "path").map(({ flags }) => /--([a-z-]+)/.exec(flags)?.[1] ?? ""),
]);
/** The flags of a kubelet whose value is a path, which are told by their names. */
const KUBELET_PATH = /(^|-)(config|kubeconfig|file|dir|path|directory)$/;
const KUBELET_ARGUMENT = "kubelet-arg";

/**
 * Checks the words that a service is to run, before anything on the machine is changed, and returns them as they mean the
 * same in its own directory, which is `/`: with whole paths. Rejects with `bad-words`.
 */
export async function readServiceWords(
  command: ServiceCommand,
  words: readonly string[],
  directory: string,
): Promise<string[]> {
  if (command === "kubelet") checkKubeletFlags(words);
  else await checkUp(words);
  const isPath = (flag: string) => (command === "up" ? UP_PATHS.has(flag) : KUBELET_PATH.test(flag));
  return makeAbsolute(words, isPath, directory);
}

async function checkUp(words: readonly string[]): Promise<void> {
  const program = new Command()
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  addUp(program, async (sources: UpSources, apply) => checkOptions(sources, apply({})));
  try {
    await program.parseAsync(["up", ...words], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const why = error.exitCode === 0 ? "these words print something, and end" : error.message.replace(/^error: /, "");
    throw refusal("up", why);
  }
}

function checkOptions({ printConfig }: UpSources, { detach, kubeletArg }: UpOptions): void {
  if (printConfig) throw refusal("up", "--print-config prints something, and ends");
  if (detach) throw refusal("up", "a service that detaches ends at once: leave out --detach");
  checkKubeletFlags(kubeletArg);
}

function checkKubeletFlags(words: readonly string[]): void {
  const parsed = parseFlags(words);
  if (!parsed.ok) throw refusal("kubelet", parsed.error);
  const [extra] = parsed.rest;
  if (extra !== undefined) throw refusal("kubelet", `unknown command ${extra}`);
}

function refusal(command: ServiceCommand, why: string): CodedError<"bad-words"> {
  return new CodedError("bad-words", `nothing was changed, because nodelet ${command} would not start: ${why}`);
}

function makeAbsolute(words: readonly string[], isPath: (flag: string) => boolean, directory: string): string[] {
  let flag = "";
  return words.map((word) => {
    const [, name, assigned] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const owner = name ?? flag;
    const value = name === undefined ? word : assigned;
    flag = name !== undefined && assigned === undefined ? name : "";
    if (value === undefined) return word;
    const meant = readValue(owner, value, { isPath, directory });
    return name === undefined ? meant : `--${name}=${meant}`;
  });
}

interface PathReading {
  isPath(flag: string): boolean;
  readonly directory: string;
}

/** "-" is no path but standard input or output. */
function readValue(flag: string, value: string, { isPath, directory }: PathReading): string {
  if (flag === KUBELET_ARGUMENT) return makeAbsolute([value], (name) => KUBELET_PATH.test(name), directory)[0] ?? value;
  return isPath(flag) && value !== "-" && value !== "" ? resolve(directory, value) : value;
}
