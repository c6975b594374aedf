import type { Clock } from "../../base/clock.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type AuditFileOptions, type AuditOutput, openAuditFile } from "../../control-plane/audit/audit-log.ts";
import { type AuditPolicy, readAuditPolicy } from "../../control-plane/audit/audit-policy.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";

/** What is recorded of requests, and where. The path `-` is the standard output. */
export interface AuditOptions extends AuditFileOptions {
  readonly policyFile: string;
}

/** The same, with the standard output of the process. */
export interface AuditPlace extends AuditOptions {
  writeOutput(text: string): void;
}

/** A policy that was read, and an output that takes its events. */
export interface OpenedAudit {
  readonly policy: AuditPolicy;
  readonly output: AuditOutput;
}

const MAX_POLICY_BYTES = 1024 * 1024;

/**
 * Reads the policy and opens the log. Rejects with a CodedError that names the file: `audit-policy-invalid`,
 * `audit-log-unwritable`.
 */
export async function openAudit(
  options: AuditPlace,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<OpenedAudit> {
  const { policyFile, path } = options;
  const text = await linuxFiles.read(policyFile, MAX_POLICY_BYTES).catch((cause: unknown) => {
    const message = `the audit policy ${policyFile} cannot be read: ${messageOf(cause)}`;
    throw new CodedError("audit-policy-invalid", message, { cause });
  });
  const policy = readAuditPolicy(text.toString(), policyFile);
  if (path === "-") return { policy, output: { append: async (lines) => options.writeOutput(lines) } };
  try {
    return { policy, output: await openAuditFile({ files: linuxFiles, clock, log }, options) };
  } catch (cause) {
    throw new CodedError("audit-log-unwritable", `the audit log ${path} cannot be written: ${messageOf(cause)}`, {
      cause,
    });
  }
}
