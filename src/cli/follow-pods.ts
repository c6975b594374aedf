import { setTimeout as delay } from "node:timers/promises";
import { codeOf } from "../base/errors.ts";
import { type NodeReport, readChangedReport, readNodeReport } from "../cluster/status/node-report.ts";
import { computePodRow } from "../cluster/status/pod-row.ts";
import type { ExpectedPod } from "../cluster/supervisor/manifest-pods.ts";
import { computeSettlement, type Settlement } from "../cluster/supervisor/settlement.ts";

/** `expected` are the pods that the caller waits for; `signal` ends the following. */
interface FollowOptions {
  socket: string;
  expected: readonly ExpectedPod[];
  print: (line: string) => void;
  /** Called with the pods that are not there yet, each time that they were looked at. */
  onWaiting?: (pods: readonly string[]) => void;
  signal: AbortSignal;
}

const BUSY_PERIOD_MS = 200;
const QUIET_PERIOD_MS = 2_000;

/**
 * Prints a line whenever a pod's state changes. Returns how far the pods have come, as soon as all are there or one
 * cannot get there, and at the latest when the signal fires.
 */
export async function followUntilSettled(options: FollowOptions): Promise<Settlement> {
  const seen = new Map<string, string>();
  let settlement: Settlement = { settled: false, waiting: ["the node agent has not answered"], failed: [] };
  while (!options.signal.aborted) {
    const report = await readReportIfRunning(options.socket);
    if (report !== undefined) {
      printChanges(seen, report, options.print);
      settlement = computeSettlement(options.expected, report);
      if (settlement.settled || settlement.failed.length > 0) return settlement;
      options.onWaiting?.(settlement.waiting.map((sentence) => sentence.split(" ", 1)[0] ?? ""));
    }
    await pause(BUSY_PERIOD_MS, options.signal);
  }
  return settlement;
}

interface FollowForeverOptions extends Pick<FollowOptions, "socket" | "print" | "signal"> {
  /** Tells what is wrong with a manifest, once; undefined when that is over. */
  readonly tellManifest: (file: string, problem: string | undefined) => void;
}

/** Prints a line whenever a pod's state changes, and tells which manifests are wrong, until the signal fires. */
export async function followPods(options: FollowForeverOptions): Promise<void> {
  const seen = new Map<string, string>();
  const problems = new Map<string, string>();
  let quiet = 0;
  let revision = "";
  while (!options.signal.aborted) {
    const report = await ifRunning(async () => await readChangedReport(options.socket, revision));
    revision = report?.revision ?? revision;
    const changed = report !== undefined && printChanges(seen, report, options.print);
    if (report !== undefined) tellChanges(problems, report, options.tellManifest);
    quiet = changed ? 0 : quiet + 1;
    // Another change often follows soon after a change. Otherwise a person does not mind a second or two.
    await pause(quiet < 50 ? BUSY_PERIOD_MS : QUIET_PERIOD_MS, options.signal);
  }
}

/** Reads the report; undefined while the agent is being restarted. */
export async function readReportIfRunning(socket: string): Promise<NodeReport | undefined> {
  return await ifRunning(async () => await readNodeReport(socket));
}

async function ifRunning<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (codeOf(error) === "not-running") return undefined;
    throw error;
  }
}

function printChanges(seen: Map<string, string>, report: NodeReport, print: (line: string) => void): boolean {
  let changed = false;
  const present = new Set<string>();
  for (const pod of report.pods) {
    const { namespace, name, ready, status, restartCount, ip } = computePodRow(pod, Date.now());
    const label = `${namespace}/${name}`;
    present.add(label);
    const state = `${ready}  ${status}${restartCount === 0 ? "" : `, restarts: ${restartCount}`}`;
    if (seen.get(label) === state) continue;
    seen.set(label, state);
    changed = true;
    print(`  ${label.padEnd(40)} ${state}${ip === "<none>" ? "" : `  ${ip}`}`);
  }
  for (const label of seen.keys()) {
    if (present.has(label)) continue;
    seen.delete(label);
    changed = true;
    print(`  ${label.padEnd(40)} is gone`);
  }
  return changed;
}

function tellChanges(
  seen: Map<string, string>,
  { manifestProblems = [] }: NodeReport,
  tell: FollowForeverOptions["tellManifest"],
): void {
  const present = new Map(manifestProblems.map(({ file, message }) => [file, message]));
  for (const [file, message] of present) {
    if (seen.get(file) !== message) tell(file, message);
    seen.set(file, message);
  }
  for (const file of seen.keys()) {
    if (present.has(file)) continue;
    seen.delete(file);
    tell(file, undefined);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
