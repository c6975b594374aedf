import { appendFileSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { isAbort } from "../base/abort.ts";
import { CodedError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { toPlainText } from "../base/plain-text.ts";
import { countRunningPods } from "../cluster/containerd/remove-runtime.ts";
import { claimProcessLock } from "../cluster/processes/process-lock.ts";
import { clusterDnsAddressOf, findClusterDnsAddress } from "../cluster/supervisor/cluster-dns.ts";
import { chooseNodeName } from "../cluster/supervisor/node-name.ts";
import { choosePodPlaces } from "../cluster/supervisor/pod-places.ts";
import { runStandaloneNode } from "../cluster/supervisor/run-node.ts";
import { writeRuntimeOptions } from "../cluster/supervisor/runtime-options.ts";
import { endAgent } from "../cluster/supervisor/start-agent.ts";
import { endControlPlane } from "../cluster/supervisor/start-control-plane.ts";
import { endDns } from "../cluster/supervisor/start-dns.ts";
import { endProxy } from "../cluster/supervisor/start-proxy.ts";
import { computeStateLayout, DEFAULT_STATE_DIRECTORY, type StateLayout } from "../cluster/supervisor/state-layout.ts";
import { killNode } from "../cluster/supervisor/stop-node.ts";
import { linuxFiles } from "../host/linux/files/linux-files.ts";
import { createServiceNotifier } from "../host/linux/system/service-notifier.ts";
import { systemClock } from "../host/linux/system/system-clock.ts";
import { createLog } from "../host/log/create-log.ts";
import { isJournal } from "../host/log/journal-stream.ts";
import { auditArguments, readAuditFlags } from "./audit-flags.ts";
import { removePods } from "./down.ts";
import { followPods } from "./follow-pods.ts";
import { createLineLog } from "./line-log.ts";
import type { LogFlags } from "./log-options.ts";
import { openProgress } from "./open-progress.ts";
import { describeRunningPods } from "./pod-table.ts";
import { joinWaits } from "./progress.ts";
import { requireRoot } from "./require-root.ts";
import { actAsFirstProcess } from "./up/first-process.ts";
import { readUpConfiguration, type UpConfiguration } from "./up/read-up-configuration.ts";
import { stopOnSignals } from "./up/stop-on-signals.ts";
import { alsoToJournal, alsoToTerminal } from "./up/told-log.ts";
import { formatUpConfiguration, type UpValues } from "./up/up-configuration.ts";
import type { UpOptions, UpSources } from "./up/up-options.ts";
import { UP_SCHEMA_FILE } from "./up/up-schema.ts";
import { watchUpConfiguration } from "./up/watch-up-configuration.ts";
import { createSupervisorLink, type SupervisorLink, upDetached } from "./up-detached.ts";

/** How this program was started: `entry` is its JavaScript file, `argv` the arguments after it. */
export interface UpContext {
  entry: string;
  argv: readonly string[];
}

/**
 * The mode of the state directory. Containers with user namespaces pass through the directory to reach their root, but
 * may not list it. Private files in it have stricter modes of their own.
 */
const STATE_DIRECTORY_MODE = 0o711;
/** The build lays it beside the program. */
const SCHEMA = fileURLToPath(new URL(UP_SCHEMA_FILE, import.meta.url));

/** Puts what a file says in the place of defaults. */
type ApplyValues = (values: UpValues) => UpOptions;

/** Runs a node until it is asked to stop, or with `--detach` until its pods run. Returns the exit code. */
export async function up(sources: UpSources, apply: ApplyValues, context: UpContext): Promise<number> {
  const configuration = await readUpConfiguration(sources);
  const options = apply(configuration?.values ?? {});
  if (sources.printConfig) {
    const manifests = options.manifests ?? computeStateLayout(options.stateDir).manifests;
    process.stdout.write(formatUpConfiguration({ ...options, manifests }, SCHEMA));
    return 0;
  }
  // What is wrong with these is told before anything is started.
  readAuditFlags(options);
  requireRoot("up");
  if (options.detach && process.env["NOTIFY_SOCKET"] !== undefined) {
    throw new CodedError(
      "detached-service",
      "a service that detaches ends at once: start it without --detach, and detach: false",
    );
  }
  const layout = computeStateLayout(options.stateDir);
  await mkdir(layout.directory, { recursive: true, mode: STATE_DIRECTORY_MODE });
  await chmod(layout.directory, STATE_DIRECTORY_MODE);
  if (options.detach && !options.supervisor) return await upDetached(layout, options, context);
  const link = createSupervisorLink(options.supervisor, openProgress(options.logFormat));
  try {
    return await superviseOnce(layout, { options, context, link, configuration, sources });
  } catch (error) {
    link.failed(messageOf(error));
    throw error;
  }
}

interface Supervision {
  options: UpOptions;
  context: UpContext;
  link: SupervisorLink;
  sources: UpSources;
  configuration: UpConfiguration | undefined;
}

/** Runs at most one supervisor for each state directory. A second one reports that and ends. */
async function superviseOnce(layout: StateLayout, supervision: Supervision): Promise<number> {
  const lock = await claimProcessLock(layout.lock);
  if (lock.state === "taken") {
    supervision.link.taken(lock.pid);
    console.error(`nodelet runs already in ${layout.directory} (pid ${lock.pid}).`);
    console.error("See it: nodelet status   Stop it: nodelet down");
    return 1;
  }
  try {
    return await supervise(layout, supervision);
  } finally {
    await lock.release();
  }
}

/** Whatever ends it, its log says so, also where nobody sees the error that is thrown. */
async function supervise(layout: StateLayout, supervision: Supervision): Promise<number> {
  const { options, link } = supervision;
  const inJournal = isJournal(process.stderr.fd, process.env);
  const log = openSupervisorLog(layout, options, inJournal);
  try {
    return await superviseNode(layout, supervision, inJournal ? log : alsoToTerminal(log, link.progress));
  } catch (error) {
    if (!isAbort(error)) log.error("nodelet cannot go on", { error: messageOf(error) });
    throw error;
  }
}

async function superviseNode(layout: StateLayout, supervision: Supervision, log: Log): Promise<number> {
  const { options, context, link } = supervision;
  const notifier = createServiceNotifier(process.env);
  const hangUp: { look: () => void } = { look: () => undefined };
  const stop = stopOnSignals({
    onStop() {
      link.progress("stopping …");
      notifier.stopping();
    },
    async endNow() {
      link.progress("ending at once …");
      await killNode(layout, log);
    },
    onHangUp: process.stdout.isTTY ? undefined : () => hangUp.look(),
  });
  hangUp.look = followConfiguration(supervision, log, stop.signal);
  actAsFirstProcess(log, stop.signal);
  const manifests = options.manifests ?? layout.manifests;
  const follower: { done: Promise<void> } = { done: Promise.resolve() };
  const { dns, serviceCidr } = options;
  const clusterDns = dns ? clusterDnsAddressOf(serviceCidr) : findClusterDnsAddress(serviceCidr);
  const onReady = () => {
    if (!dns && clusterDns !== undefined) link.progress(`Names are yours to serve: pods ask ${clusterDns} for them.`);
    link.progress(`kubectl finds it with: export KUBECONFIG=${layout.kubeconfig}`);
    link.progress(`See it in the browser: ${dashboardCommand(layout)}`);
    link.ready();
    notifier.ready();
    if (!options.supervisor) follower.done = followInForeground(layout, { manifests, log, signal: stop.signal });
  };
  const runtime = {
    podCidr: options.podCidr,
    bridge: options.bridge,
    binary: options.containerd,
  };
  try {
    const places = await choosePodPlaces(layout.directory, link.progress);
    const naming = { kubeletArguments: options.kubeletArg, tell: link.progress };
    const nodeName = await chooseNodeName(layout.directory, naming);
    await writeRuntimeOptions(layout.directory, { ...runtime, ...places, manifests, nodeName });
    // An agent that outlived its supervisor would not notice that its runtime is replaced.
    await endAgent(layout, log);
    await endDns(layout, log);
    await endProxy(layout, log);
    await endControlPlane(layout, log);
    await runStandaloneNode(
      layout,
      {
        ...runtime,
        entry: context.entry,
        manifests,
        healthzPort: options.healthzPort,
        apiAddress: options.apiAddress,
        apiPort: options.apiPort,
        serviceCidr,
        proxy: options.proxy,
        dns,
        clusterDns,
        scheduler: options.scheduler,
        controllers: options.controllers,
        kubeletArguments: options.kubeletArg,
        auditArguments: auditArguments(options),
        logging: options,
        nodeName,
        onReady,
      },
      {
        clock: systemClock,
        log,
        progress: link.progress,
        waiting: (steps) => link.waiting(joinWaits(steps)),
        signal: stop.signal,
      },
    );
  } catch (error) {
    if (!isAbort(error)) throw error;
  } finally {
    await follower.done;
  }
  if (options.pods) return await removePods(layout, log, true);
  await sayWhatLives(layout, link.progress);
  return 0;
}

/** The command as it works from here: npm puts no program of this package on the search path. */
function dashboardCommand({ directory }: StateLayout): string {
  const program = process.env["npm_lifecycle_event"] === undefined ? "nodelet" : "npx nodelet";
  return `${program} dashboard${directory === DEFAULT_STATE_DIRECTORY ? "" : ` --state-dir ${directory}`}`;
}

/** Says what is read, and what changes in it. Returns what a hang-up asks for. */
function followConfiguration(
  { configuration, sources, link, options }: Supervision,
  log: Log,
  signal: AbortSignal,
): () => void {
  const say = (line: string) => {
    link.progress(line);
    // The lines of a background process are in the log already.
    if (!options.supervisor) log.info(line);
  };
  if (configuration === undefined)
    return () => say("SIGHUP: no file of settings was read, so that there is none to read again");
  say(`The settings of ${configuration.path} count, and flags go before them`);
  const read = async () => await readUpConfiguration(sources);
  return watchUpConfiguration({ clock: systemClock, files: linuxFiles, read, say }, configuration, signal).look;
}

function openSupervisorLog(layout: StateLayout, flags: LogFlags, inJournal: boolean): Log {
  const log = openFileLog(layout, flags);
  if (!inJournal) return log;
  return alsoToJournal(log, {
    write: (line) => process.stderr.write(line),
    now: Date.now,
  });
}

function openFileLog(layout: StateLayout, { logFormat, v }: LogFlags): Log {
  const write = (line: string) => appendLine(layout.supervisorLog, line);
  if (logFormat === "text") return createLineLog(write, Date.now);
  return createLog({ format: logFormat, verbosity: v, write: (line) => write(`${line}\n`) });
}

/** The lines are few. A line that cannot be written, on a full disk for example, is dropped, and the node runs on. */
function appendLine(path: string, line: string): void {
  try {
    appendFileSync(path, line, { mode: 0o600 });
  } catch {
    // There is no other place to tell of it.
  }
}

interface Following {
  manifests: string;
  log: Log;
  signal: AbortSignal;
}

/** A service's journal has no keyboard, and gets what is logged besides. */
async function followInForeground(layout: StateLayout, { manifests, log, signal }: Following): Promise<void> {
  const isService = isJournal(process.stdout.fd, process.env);
  const print = (line: string) => console.log(line);
  print(`Pods of ${manifests}${isService ? "" : " (Ctrl-C stops nodelet)"}:`);
  const tellManifest = (file: string, problem: string | undefined) => {
    if (!isService || problem === undefined) print(toPlainText(`  ${file}: ${problem ?? "no problem any more"}`));
    if (problem !== undefined) log.warn("a manifest is not in force", { file, error: problem });
  };
  await followPods({ socket: layout.agentSocket, print, tellManifest, signal });
}

async function sayWhatLives(layout: StateLayout, print: (line: string) => void): Promise<void> {
  const pods = await countRunningPods(layout.runtime);
  if (pods === 0) return print("nodelet is stopped; no pod runs.");
  print(
    `nodelet is stopped; ${describeRunningPods(pods)} on. "nodelet up" goes on with what runs, "nodelet down --pods" removes it.`,
  );
}
