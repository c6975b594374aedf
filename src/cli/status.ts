import { codeOf } from "../base/errors.ts";
import { toPlainText } from "../base/plain-text.ts";
import { countRunningPods } from "../cluster/containerd/remove-runtime.ts";
import { readLiveProcess } from "../cluster/processes/process-identity.ts";
import { readLockHolder } from "../cluster/processes/process-lock.ts";
import { readServiceState } from "../cluster/service/install-service.ts";
import { joinManifestRows, type ManifestRow, readManifestReport } from "../cluster/status/manifest-report.ts";
import { type NodeReport, readNodeReport } from "../cluster/status/node-report.ts";
import type { StateLayout } from "../cluster/supervisor/state-layout.ts";
import { formatOutput, type OutputFormat } from "./format-output.ts";
import { describeRunningPods, formatPodTable } from "./pod-table.ts";
import { formatTable } from "./text-table.ts";

/** Prints the node and its pods. Returns 1 when nothing runs. */
export async function status(layout: StateLayout, output: "wide" | OutputFormat | undefined): Promise<number> {
  let report: NodeReport;
  try {
    report = await readNodeReport(layout.agentSocket);
  } catch (error) {
    if (codeOf(error) !== "not-running") throw error;
    console.error(await explainAbsence(layout));
    return 1;
  }
  const { manifestProblems = [], ...node } = report;
  const told = await readManifestReport(layout.kubeconfig);
  const manifests = joinManifestRows("problem" in told ? [] : told, manifestProblems);
  if (output !== undefined && output !== "wide") {
    console.log(
      formatOutput({ ...node, ...("problem" in told && manifests.length === 0 ? {} : { manifests }) }, output),
    );
    return 0;
  }
  console.log(formatReport(report, { isWide: output === "wide", api: await describeApi(layout) }));
  if (manifests.length > 0) console.log(`\n${formatManifests(manifests)}`);
  return 0;
}

/** Tells where kubectl finds the API, while its process runs. */
async function describeApi(layout: StateLayout): Promise<string> {
  const server = await readLiveProcess(layout.controlPlanePidFile);
  if (server === undefined) return `The Kubernetes API does not run; see ${layout.controlPlaneLog}`;
  return `The Kubernetes API runs: export KUBECONFIG=${layout.kubeconfig}`;
}

/** Formats what the node agent tells, for people. */
export function formatReport({ node, pods }: NodeReport, { isWide, api }: { isWide: boolean; api: string }): string {
  const conditions = node.conditions.map(({ type, status: value, reason = "", message = "" }) => [
    type,
    value,
    reason,
    message,
  ]);
  return [
    toPlainText(`Node ${node.name}, ${node.runtime.name} ${node.runtime.version}`),
    api,
    "",
    formatTable(["CONDITION", "STATUS", "REASON", "MESSAGE"], conditions),
    "",
    formatPodTable(pods, Date.now(), isWide),
  ].join("\n");
}

/** Formats how each manifest is. */
export function formatManifests(rows: readonly ManifestRow[]): string {
  const cells = rows.map(({ file, status, objects, message }) => [file, status, String(objects), message]);
  return formatTable(["MANIFEST", "STATUS", "OBJECTS", "MESSAGE"], cells);
}

async function explainAbsence(layout: StateLayout): Promise<string> {
  const supervisor = await readLockHolder(layout.lock);
  if (supervisor !== undefined) {
    return `nodelet runs (pid ${supervisor}), but its node agent does not answer; see ${layout.agentLog}`;
  }
  const pods = await countRunningPods(layout.runtime);
  const left = pods === 0 ? "" : ` ${describeRunningPods(pods)} on.`;
  return `nodelet does not run in ${layout.directory}.${left}\n${await explainStart()}`;
}

/** The service may be the node agent alone, which is asked by other means, or one that does not get to its start. */
async function explainStart(): Promise<string> {
  const state = await readServiceState();
  if (state === undefined) return "Start it: nodelet up";
  if (state === "inactive" || state === "failed") return "Start it: systemctl start nodelet";
  const words = state === "active" ? "runs another node" : `is ${state}`;
  return `The service nodelet ${words}: systemctl status nodelet   Its log: journalctl -u nodelet`;
}
