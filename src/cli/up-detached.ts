import { type ChildProcess, spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { silentLog } from "../base/log.ts";
import { readLogSize, readLogTail } from "../cluster/processes/log-file.ts";
import { prefixWithScope } from "../cluster/processes/own-scope.ts";
import { readLockHolder } from "../cluster/processes/process-lock.ts";
import { computeProgramWords } from "../cluster/processes/run-time.ts";
import { readManifestPods } from "../cluster/supervisor/manifest-pods.ts";
import { readRuntimeOptions } from "../cluster/supervisor/runtime-options.ts";
import type { StateLayout } from "../cluster/supervisor/state-layout.ts";
import { followUntilSettled, readReportIfRunning } from "./follow-pods.ts";
import type { LogFlags } from "./log-options.ts";
import { openProgress } from "./open-progress.ts";
import { formatPodTable } from "./pod-table.ts";
import { joinWaits, type Progress } from "./progress.ts";

/** What a background supervisor tells the process that started it. Other readers find it in the supervisor's log. */
export interface SupervisorLink {
  progress(line: string): void;
  /** Tells what is waited for; undefined: nothing. */
  waiting(text: string | undefined): void;
  ready(): void;
  failed(reason: string): void;
  /** Tells that another supervisor was faster. */
  taken(pid: number): void;
}

/**
 * Creates the link. In the foreground it writes to the terminal; in the background it writes to the starting process,
 * for as long as that listens.
 */
export function createSupervisorLink(background: boolean, here: Progress): SupervisorLink {
  const send = (message: Message) => {
    if (background && process.connected) process.send?.(message);
  };
  return {
    progress(line) {
      here.line(line);
      send({ kind: "progress", text: line });
    },
    waiting(text) {
      here.waiting(text);
      send({ kind: "waiting", text: text ?? "" });
    },
    ready() {
      send({ kind: "ready", text: "" });
      if (background && process.connected) process.disconnect();
    },
    failed: (reason) => send({ kind: "failed", text: reason }),
    taken: (pid) => send({ kind: "taken", text: `${pid}` }),
  };
}

interface Message {
  kind: "progress" | "waiting" | "ready" | "failed" | "taken";
  text: string;
}

const LOG_TAIL_BYTES = 1_000;

interface DetachOptions extends Pick<LogFlags, "logFormat"> {
  /** Undefined means the manifests directory of the state directory. */
  manifests?: string;
  /** The time is in seconds. */
  waitTimeout: number;
}

/**
 * Starts the supervisor in the background unless one runs. Returns 0 when every pod of the manifests directory is
 * there. Returns 1, and prints why, when one cannot get there or is not there in time. The supervisor runs on in any
 * case.
 */
export async function upDetached(
  layout: StateLayout,
  options: DetachOptions,
  context: { entry: string; argv: readonly string[] },
): Promise<number> {
  const progress = openProgress(options.logFormat);
  let runningPid = await readLockHolder(layout.lock);
  // Whoever starts it asks for the lines of this start; of one that runs, all may tell.
  const logBegin = runningPid === undefined ? await readLogSize(layout.agentLog) : 0;
  if (runningPid === undefined) {
    const start = await startInBackground(layout, context, progress);
    if (start.kind === "failed") {
      console.error(`nodelet: ${start.text}`);
      return 1;
    }
    if (start.kind === "taken") runningPid = Number(start.text);
  }
  if (runningPid === undefined)
    return await waitForPods(layout, options.manifests ?? layout.manifests, { ...options, logBegin, progress });
  progress.line(`nodelet runs already in ${layout.directory} (pid ${runningPid}).`);
  const { manifests = layout.manifests } = await readRuntimeOptions(layout.directory);
  return await waitForPods(layout, manifests, { ...options, logBegin, progress });
}

interface PodsWait extends DetachOptions {
  /** Where the log of the node agent begins that may be told. */
  readonly logBegin: number;
  readonly progress: Progress;
}

async function waitForPods(layout: StateLayout, manifests: string, options: PodsWait): Promise<number> {
  const { pods: expected, problems } = await readManifestPods(manifests);
  options.progress.line(`Waiting for ${expected.length} pods of ${manifests} …`);
  const signal = AbortSignal.timeout(options.waitTimeout * 1000);
  const { progress } = options;
  const follow = {
    socket: layout.agentSocket,
    expected,
    print: progress.line,
    onWaiting: (pods: readonly string[]) => progress.waiting(joinWaits(pods)),
  };
  const settlement = await followUntilSettled({ ...follow, signal }).finally(() => progress.waiting(undefined));
  const report = await readReportIfRunning(layout.agentSocket);
  // Programs that read the records ask for `nodelet status -o json`.
  if (report !== undefined && options.logFormat === "text")
    console.log(`\n${formatPodTable(report.pods, Date.now(), false)}`);
  if (settlement.settled && problems.length === 0) return 0;
  if (report === undefined) {
    const tail = await readLogTail(layout.agentLog, LOG_TAIL_BYTES, options.logBegin);
    console.error(`\nThe node agent does not answer. The end of its log:\n${tail}`);
  }
  const timedOut = settlement.failed.length === 0 && settlement.waiting.length > 0;
  console.error(timedOut ? `\nNot all there after ${options.waitTimeout} s:` : "\nNot everything could be started:");
  for (const reason of [...problems, ...settlement.failed, ...settlement.waiting]) console.error(`  ${reason}`);
  console.error(`nodelet runs on in the background. Log of the node agent: ${layout.agentLog}`);
  return 1;
}

/** Resolves with the message that decides: `ready`, `failed` or `taken`. */
async function startInBackground(
  layout: StateLayout,
  context: { entry: string; argv: readonly string[] },
  progress: Progress,
): Promise<Message> {
  const log = await open(layout.supervisorLog, "a", 0o600);
  try {
    const program = computeProgramWords({ node: process.execPath, entry: context.entry }, process.execArgv);
    const words = [...program, ...context.argv, "--supervisor"];
    const [command = process.execPath, ...args] = [...(await prefixWithScope("supervisor", silentLog)), ...words];
    const child = spawn(command, args, {
      detached: true,
      stdio: ["ignore", log.fd, log.fd, "ipc"],
    });
    const decision = await readDecision(child, progress).finally(() => progress.waiting(undefined));
    if (child.connected) child.disconnect();
    child.unref();
    return decision;
  } finally {
    await log.close();
  }
}

async function readDecision(child: ChildProcess, progress: Progress): Promise<Message> {
  return await new Promise<Message>((resolve) => {
    const fail = (text: string) => resolve({ kind: "failed", text });
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code, signal) => fail(`the supervisor ended (${signal ?? code})`));
    child.on("message", (message: unknown) => {
      if (!isMessage(message)) return;
      if (message.kind === "progress") progress.line(message.text);
      else if (message.kind === "waiting") progress.waiting(message.text || undefined);
      else resolve(message);
    });
  });
}

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "kind" in value && "text" in value;
}
