import { CONFIG_MAPS } from "../../api/kube-resource.ts";
import { messageOf } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { parseRecord, RECORDS_NAMESPACE, RECORDS_SELECTOR } from "../../control-plane/manifests/manifest-record.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";
import { linuxPrograms } from "../../host/linux/system/linux-programs.ts";
import { systemClock } from "../../host/linux/system/system-clock.ts";
import { createHttpKubeClient } from "../../kube/http/create-http-kube-client.ts";
import { readKubeconfig } from "../../kube/kubeconfig.ts";
import type { ReportedProblem } from "./node-report.ts";

/** How a file of the manifests directory is; pods are not counted. */
export interface ManifestRow {
  readonly file: string;
  /** `Applied`, `Failed`, or `Pending` while it is applied for the first time. */
  readonly status: string;
  readonly objects: number;
  /** What is wrong, or "". */
  readonly message: string;
}

const TIMEOUT_MS = 5_000;

/**
 * What API server and node agent say of the same files: the one takes what is no pod, the other the pods, and both read
 * all. In order of names.
 */
export function joinManifestRows(
  rows: readonly ManifestRow[],
  problems: readonly ReportedProblem[],
): readonly ManifestRow[] {
  const byFile = new Map(rows.map((row) => [row.file, row]));
  for (const { file, message } of problems) {
    const { objects = 0, message: other = "" } = byFile.get(file) ?? {};
    const both = other === "" || message.includes(other) ? message : `${other}; ${message}`;
    byFile.set(file, { file, status: "Failed", objects, message: other.includes(message) ? other : both });
  }
  return [...byFile.values()].toSorted((a, b) => (a.file < b.file ? -1 : 1));
}

/** Asks the API how the manifests are. Resolves with the reason where it does not answer. */
export async function readManifestReport(kubeconfig: string): Promise<readonly ManifestRow[] | { problem: string }> {
  try {
    const connection = await readKubeconfig(kubeconfig, linuxFiles);
    const deps = { clock: systemClock, random: { next: () => Math.random() }, log: silentLog, programs: linuxPrograms };
    const limits = { qps: 0, burst: 0, timeoutMs: TIMEOUT_MS };
    const client = createHttpKubeClient({ ...deps, connection }, { userAgent: "nodelet-status", ...limits });
    try {
      const options = { namespace: RECORDS_NAMESPACE, labelSelector: RECORDS_SELECTOR };
      const { items } = await client.list(CONFIG_MAPS, options);
      const records = items.flatMap(({ data }) => parseRecord(data) ?? []);
      const rows = records.map(({ references, ...record }) => ({ ...record, objects: references.length }));
      return rows.toSorted((a, b) => (a.file < b.file ? -1 : 1));
    } finally {
      await client.close();
    }
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
