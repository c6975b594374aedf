import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { CodedError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createMetrics } from "../../base/metrics.ts";
import { connectCri } from "../../cri/connect.ts";
import { StatusRequest } from "../../cri/gen/cri-v1.ts";
import { isCriError } from "../../cri/port.ts";
import { computeSearchPath } from "../../host/linux/system/search-path.ts";
import { systemClock } from "../../host/linux/system/system-clock.ts";
import { PAUSE_IMAGE } from "../images/image-references.ts";
import { type Daemon, endDaemon, startDaemon } from "../processes/daemon.ts";
import { ensureFile } from "../processes/ensure-file.ts";
import { findSystemd } from "../processes/find-systemd.ts";
import { readBootId } from "../processes/process-identity.ts";
import { runCommand } from "../processes/run-command.ts";
import { untilReady } from "../processes/until-ready.ts";
import { DEFAULT_BRIDGE, DEFAULT_POD_CIDR } from "./cni-config.ts";
import { type ContainerdVersion, computeContainerdConfig, parseContainerdVersion } from "./containerd-config.ts";
import { ensureBridge } from "./ensure-bridge.ts";
import { explainNoCri } from "./explain-no-cri.ts";
import { createImageImporter, type ImageImporter } from "./image-importer.ts";

import { findProgram, readCniBinDirectory, readHasSysResource, readSnapshotter } from "./machine-facts.ts";
import { ensureMountNamespace } from "./mount-namespace.ts";
import { prepareNetwork } from "./prepare-network.ts";
import { removeResults } from "./remove-network.ts";
import { listContainers } from "./remove-runtime.ts";
import { GUARD_PERIOD_MS, type RuleGuard } from "./rule-guard.ts";
import { computeRuntimeLayout, type RuntimeLayout } from "./runtime-layout.ts";

export interface ContainerdOptions {
  /**
   * The path is absolute and has at most 90 characters (a socket lies in it). Everything of this containerd is beneath
   * it.
   */
  directory: string;
  /** Default: `containerd` on the search path. `ctr` and the shim are taken from the same directory. */
  binary?: string;
  /** Default `10.64.0.0/16`. */
  podCidr?: string;
  /** Default `nodelet0`. Two runtimes on one machine need different ones. */
  bridge?: string;
  /** The directory with a `hosts.toml` for each registry. It is not used while nothing is in it. */
  registries?: string;
  /** The time between two looks at the loopback guard. Default 30 s. */
  guardPeriodMs?: number;
  log: Log;
  /** Firing it gives up the start. It has no effect later. Default: one that never fires. */
  signal?: AbortSignal;
}

/** A containerd of our own, which runs as a child. Its pods survive it, because their shims hold them. */
export interface Containerd extends Daemon, ImageImporter {
  /** `unix:///…`, the CRI endpoint. */
  endpoint: string;
  /** e.g. `1.6.20~ds1`. */
  version: string;
  logFile: string;
  /** The command prefix that starts a program where it sees containerd's mounts; empty where it does anyway. */
  enterMountNamespace: readonly string[];
}

/** For `start-timed-out`, `no-cri` and `exited`, the message names the log file with the cause. */
type ContainerdErrorCode =
  | "containerd-missing"
  | "cni-plugins-missing"
  | "path-too-long"
  | "start-timed-out"
  | "no-cri"
  | "exited";

const STOP_GRACE_PERIOD_MS = 10_000;
const CALL_TIMEOUT_MS = 10_000;
/** More than what containerd writes from its start until it serves. */
const START_LOG_BYTES = 65_536;
const MAX_DIRECTORY_CHARACTERS = 90;

/**
 * Starts containerd on `directory` and resolves when its services answer. A containerd that still runs there, without
 * its supervisor, is replaced, and its pods are kept. Rejects with a CodedError of ContainerdErrorCode.
 */
export async function startContainerd(options: ContainerdOptions): Promise<Containerd> {
  const layout = computeRuntimeLayout(options.directory);
  if (options.directory.length > MAX_DIRECTORY_CHARACTERS) {
    throw new CodedError<ContainerdErrorCode>(
      "path-too-long",
      `${options.directory}: a socket path in it would be too long`,
    );
  }
  const program = await readProgram(options.binary ?? "containerd");
  await endDaemon({ pidFile: layout.pidFile, gracePeriodMs: STOP_GRACE_PERIOD_MS, log: options.log });
  await prepareDirectory(layout);
  await writeConfiguration(layout, program.version, options);
  const guard = await prepareNetwork(layout, {
    bridge: options.bridge ?? DEFAULT_BRIDGE,
    podCidr: options.podCidr ?? DEFAULT_POD_CIDR,
    log: options.log,
  });
  await ensureBridge({
    bridge: options.bridge ?? DEFAULT_BRIDGE,
    podCidr: options.podCidr ?? DEFAULT_POD_CIDR,
    log: options.log,
  });
  const enter = await ensureMountNamespace(layout.mountNamespace);
  const daemon = await spawnContainerd(layout, { ...program, enter, log: options.log });
  const ctr = { program: join(dirname(program.path), "ctr"), socket: layout.socket };
  try {
    await waitUntilReady(layout, daemon, options);
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  options.log.info("containerd is ready", { pid: daemon.pid, version: program.version.text, socket: layout.socket });
  return {
    ...keepGuard(daemon, guard, options.guardPeriodMs),
    ...createImageImporter(ctr),
    endpoint: `unix://${layout.socket}`,
    version: program.version.text,
    logFile: layout.logFile,
    enterMountNamespace: enter,
  };
}

/** Keeps the guard for as long as the daemon runs. */
function keepGuard(daemon: Daemon, guard: Pick<RuleGuard, "keep">, periodMs = GUARD_PERIOD_MS): Daemon {
  const keeping = new AbortController();
  const kept = guard.keep(systemClock, { periodMs, signal: keeping.signal });
  return {
    ...daemon,
    exited: daemon.exited.finally(() => keeping.abort()),
    async stop() {
      keeping.abort();
      await daemon.stop();
      await kept;
    },
  };
}

interface Program {
  path: string;
  version: ContainerdVersion;
}

async function readProgram(name: string): Promise<Program> {
  const path = await findProgram(name);
  if (path === undefined)
    throw new CodedError<ContainerdErrorCode>("containerd-missing", `${name} is not installed: install containerd`);
  const printed = await runCommand(path, ["--version"]);
  const version = parseContainerdVersion(printed);
  if (version === undefined)
    throw new CodedError<ContainerdErrorCode>(
      "containerd-missing",
      `${path} is no containerd: it says ${printed.split("\n")[0]}`,
    );
  return { path, version };
}

/** Makes the directories, and removes the run state of an earlier boot, whose processes and mounts are all gone. */
async function prepareDirectory(layout: RuntimeLayout): Promise<void> {
  await mkdir(layout.directory, { recursive: true, mode: 0o711 });
  const bootId = await readBootId();
  const lastBootId = await readFile(layout.bootIdFile, "utf8").catch(() => undefined);
  if (lastBootId !== undefined && lastBootId !== bootId) {
    const containers = await listContainers(layout);
    await rm(layout.state, { recursive: true, force: true });
    await rm(layout.cniAddressDirectory, { recursive: true, force: true });
    await removeResults(
      layout.networkName,
      containers.map(({ id }) => id),
    );
  }
  // A file that a full disk left empty would say that this is another boot, and take the state from pods that run.
  await ensureFile(layout.bootIdFile, bootId);
  for (const directory of [layout.cniConfigDirectory, layout.cniAddressDirectory]) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  }
}

async function writeConfiguration(
  layout: RuntimeLayout,
  version: ContainerdVersion,
  { registries, log }: Pick<ContainerdOptions, "registries" | "log">,
): Promise<void> {
  // containerd 1.6 asks registries of this machine by https once it has such a directory, even an empty one.
  const hosts = registries === undefined ? [] : await readdir(registries).catch(() => []);
  const config = computeContainerdConfig(layout, {
    version,
    sandboxImage: PAUSE_IMAGE,
    cniBinDirectory: await readCniBinDirectory(),
    snapshotter: await readSnapshotter(layout.directory),
    restrictOomScoreAdj: !(await readHasSysResource()),
    systemdCgroup: (await findSystemd(log)) !== undefined,
    registries: hosts.length > 0 ? registries : undefined,
  });
  await ensureFile(layout.config, config);
}

interface SpawnOptions extends Program {
  enter: readonly string[];
  log: Log;
}

async function spawnContainerd(layout: RuntimeLayout, options: SpawnOptions): Promise<Daemon> {
  const [command = options.path, ...args] = [...options.enter, options.path, "--config", layout.config];
  return await startDaemon({
    command,
    args,
    environment: {
      ...process.env,
      PATH: computeSearchPath([dirname(options.path), process.env["PATH"] ?? ""].join(":")),
    },
    logFile: layout.logFile,
    pidFile: layout.pidFile,
    gracePeriodMs: STOP_GRACE_PERIOD_MS,
    log: options.log,
  });
}

/** Waits until the CRI service has come up, which takes a little longer than the socket. */
async function waitUntilReady({ socket, logFile }: RuntimeLayout, daemon: Daemon, options: ContainerdOptions) {
  const { log, signal = new AbortController().signal } = options;
  const cri = connectCri({ endpoint: `unix://${socket}`, log, metrics: createMetrics() });
  const check = async () => {
    // A gRPC call before the socket exists would cost gRPC's reconnect delay.
    await connectOnce(socket);
    await cri.runtime.status(StatusRequest.fromPartial({}), { timeoutMs: CALL_TIMEOUT_MS, signal });
  };
  const explainEnd = async (error: unknown) => {
    if (!isCriError(error, "not-a-runtime")) return undefined;
    return new CodedError<ContainerdErrorCode>(
      "no-cri",
      `${explainNoCri(await daemon.readOwnLog(START_LOG_BYTES))} (${logFile})`,
    );
  };
  try {
    await untilReady({ name: "containerd", daemon, logFile, signal, check, explainEnd });
  } finally {
    cri.close();
  }
}

async function connectOnce(path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect(path);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
  });
}
