import { homedir, hostname } from "node:os";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ConfigurationError } from "../../config/codec.ts";
import { composeConfiguration } from "../../config/compose-configuration.ts";
import { formatKubeletHelp } from "../../config/flags-help.ts";
import { KUBELET_VERSION } from "../../config/kubelet-version.ts";
import { createNodeAgentConfig, type NodeAgentConfig } from "../../config/node-agent-config.ts";
import { parseFlags } from "../../config/parse-flags.ts";
import { createLog } from "../../host/log/create-log.ts";
import { isJournal } from "../../host/log/journal-stream.ts";
import { readConfigurationFiles } from "./read-configuration-files.ts";
import type { StartKubeletOptions } from "./start-kubelet.ts";

/** The streams that a command writes to; `process` fits. */
interface CommandIo {
  stdout: { write(text: string): unknown; columns?: number | undefined };
  stderr: { write(text: string): unknown };
}

/** Runs the node agent until it ends and returns the exit code. */
type StartKubelet = (config: NodeAgentConfig, log: Log, options: StartKubeletOptions) => Promise<number>;

/** What the command takes from the machine. Tests give their own. */
interface KubeletCommandDeps {
  hostname(): string;
  workingDirectory(): string;
  /** Default: none. */
  homeDirectory?(): string;
  /** True where stderr is the journal of systemd. Default: false. */
  isJournal?(): boolean;
  start: StartKubelet;
}

const DEFAULT_HELP_WIDTH = 120;

/**
 * Runs `nodelet kubelet`: reads flags and files, and runs the node agent. Returns the exit code: 0 after --help,
 * --version and an orderly end, 1 with the reason on stderr where the agent could not start. `options` are for callers
 * that compose the node agent differently from the command.
 */
export async function runKubelet(
  argv: readonly string[],
  io: CommandIo,
  deps: KubeletCommandDeps = machineDeps,
  options: StartKubeletOptions = {},
): Promise<number> {
  const parsed = parseFlags(argv);
  if (!parsed.ok) return fail(io, [`failed to parse kubelet flag: ${parsed.error}`], "see nodelet kubelet --help");
  const { values: flags, rest, notices } = parsed;
  if (flags.get("help") === true) {
    io.stdout.write(formatKubeletHelp(Math.min(io.stdout.columns ?? DEFAULT_HELP_WIDTH, 160)));
    return 0;
  }
  if ((flags.get("version") ?? "false") !== "false") {
    io.stdout.write(formatVersion(flags.get("version")));
    return 0;
  }
  const [command] = rest;
  if (command !== undefined) return fail(io, [`unknown command ${command}`], "see nodelet kubelet --help");

  const loaded = await loadConfig(flags, deps);
  if (!loaded.ok) {
    for (const warning of loaded.warnings) io.stderr.write(`Warning: ${warning}\n`);
    return fail(io, loaded.messages);
  }
  const { config } = loaded;
  const log = createLog({
    ...config.log,
    isJournal: deps.isJournal?.() ?? false,
    write: (line) => io.stderr.write(`${line}\n`),
  });
  for (const notice of [...notices, ...loaded.warnings]) log.warn(notice);
  return deps.start(config, log, options);
}

type LoadedConfig =
  | { ok: true; config: NodeAgentConfig; warnings: readonly string[] }
  | { ok: false; messages: readonly string[]; warnings: readonly string[] };

async function loadConfig(flags: ReadonlyMap<string, unknown>, deps: KubeletCommandDeps): Promise<LoadedConfig> {
  const workingDirectory = deps.workingDirectory();
  const files = await readConfigurationFiles(
    { config: textOf(flags, "config"), configDir: textOf(flags, "config-dir") },
    workingDirectory,
  );
  if (!files.ok) return { ok: false, messages: [files.message], warnings: [] };
  const { configuration, featureGates, errors, warnings } = composeConfiguration({ ...files.sources, flags });
  if (errors.length > 0) return { ok: false, messages: errors.map(formatError), warnings };
  const created = createNodeAgentConfig({
    configuration,
    featureGates,
    flags,
    hostname: deps.hostname(),
    workingDirectory,
    homeDirectory: deps.homeDirectory?.() ?? "",
  });
  if (created.errors.length > 0) return { ok: false, messages: created.errors.map(formatError), warnings };
  return { ok: true, config: created.config, warnings };
}

/** The path goes first unless the message already names it. */
function formatError({ path, message }: ConfigurationError): string {
  return message.includes(path) ? message : `${path}: ${message}`;
}

function fail(io: CommandIo, messages: readonly string[], hint?: string): number {
  for (const message of messages) io.stderr.write(`Error: ${message}\n`);
  if (hint !== undefined) io.stderr.write(`${hint}\n`);
  return 1;
}

/** Formats the version. `--version=vX.Y.Z` sets the reported version, as in every Kubernetes program. */
function formatVersion(asked: unknown): string {
  const version = typeof asked === "string" && asked.startsWith("v") ? asked : KUBELET_VERSION;
  const runtime = `node ${process.version}, ${process.platform}/${process.arch}`;
  return asked === "raw" ? `Kubernetes ${version} (${runtime})\n` : `Kubernetes ${version}\n`;
}

function textOf(flags: ReadonlyMap<string, unknown>, name: string): string {
  const value = flags.get(name);
  return typeof value === "string" ? value : "";
}

const machineDeps: KubeletCommandDeps = {
  hostname,
  workingDirectory: () => process.cwd(),
  homeDirectory: homedir,
  isJournal: () => isJournal(process.stderr.fd, process.env),
  async start(config, log, options) {
    try {
      // This module is loaded only now, because --help and refused flags need neither gRPC nor the node agent.
      const { startKubelet } = await import("./start-kubelet.ts");
      return await startKubelet(config, log, options);
    } catch (error) {
      log.error("The node agent failed", { error });
      log.debug("The node agent failed at", { stack: error instanceof Error ? error.stack : messageOf(error) });
      return 1;
    }
  },
};
