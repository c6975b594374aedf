import { codeOf } from "../base/errors.ts";
import { countRunningPods } from "../cluster/containerd/remove-runtime.ts";
import { readLockHolder } from "../cluster/processes/process-lock.ts";
import { type NodeReport, readNodeReport } from "../cluster/status/node-report.ts";
import type { StateLayout } from "../cluster/supervisor/state-layout.ts";
import { formatPodTable } from "./pod-table.ts";
import { formatTable } from "./text-table.ts";

/** Prints the node and its pods; 1 when nothing runs. */
export async function status(layout: StateLayout, output: "wide" | "json" | undefined): Promise<number> {
  let report: NodeReport;
  try {
    report = await readNodeReport(layout.agentSocket);
  } catch (error) {
    if (codeOf(error) !== "not-running") throw error;
    console.error(await explainAbsence(layout));
    return 1;
  }
  console.log(output === "json" ? JSON.stringify(report, undefined, 2) : formatReport(report, output === "wide"));
  return 0;
}

function formatReport({ node, pods }: NodeReport, wide: boolean): string {
  const conditions = node.conditions.map(({ type, status: value, reason = "", message = "" }) => [
    type,
    value,
    reason,
    message,
  ]);
  return [
    `Node ${node.name}, ${node.runtime.name} ${node.runtime.version}`,
    "",
    formatTable(["CONDITION", "STATUS", "REASON", "MESSAGE"], conditions),
    "",
    formatPodTable(pods, Date.now(), wide),
  ].join("\n");
}

async function explainAbsence(layout: StateLayout): Promise<string> {
  const supervisor = await readLockHolder(layout.lock);
  if (supervisor !== undefined) {
    return `nodelet runs (pid ${supervisor}), but its node agent does not answer; see ${layout.agentLog}`;
  }
  const pods = await countRunningPods(layout.runtime);
  const left = pods === 0 ? "" : ` ${pods} pods of it live on.`;
  return `nodelet does not run in ${layout.directory}.${left}\nStart it: nodelet up`;
}
