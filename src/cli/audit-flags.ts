import { type Command, Option } from "commander";
import { CodedError } from "../base/errors.ts";
import type { AuditOptions } from "../cluster/control-plane/open-audit.ts";
import { AUDIT_SETTINGS } from "./audit-settings.ts";
import { absolutePath, wholeNumber } from "./flag-values.ts";

/** What commander reads of the flags about the audit log. */
export interface AuditFlags {
  readonly auditPolicyFile?: string;
  readonly auditLogPath?: string;
  readonly auditLogMaxage: number;
  readonly auditLogMaxbackup: number;
  readonly auditLogMaxsize: number;
}

/** Adds kube-apiserver's flags about the audit log. */
export function addAuditFlags(command: Command): void {
  for (const setting of AUDIT_SETTINGS) {
    const option = new Option(setting.flags, setting.about);
    if (setting.kind === "path") option.argParser(setting.field === "auditLogPath" ? pathOrOutput : absolutePath);
    else option.default(setting.preset).argParser(wholeNumber(setting.least, setting.most));
    command.addOption(option);
  }
}

/** The file, or the standard output. */
const pathOrOutput = (text: string) => (text === "-" ? text : absolutePath(text));

const MEGABYTE = 1024 * 1024;

/**
 * What the flags ask for; undefined where they ask for no audit log. Throws a CodedError, `bad-audit-flags`, for a log
 * without a policy and for a policy without a log.
 */
export function readAuditFlags(flags: AuditFlags): AuditOptions | undefined {
  const { auditPolicyFile: policyFile, auditLogPath: path, auditLogMaxsize } = flags;
  if (policyFile === undefined && path === undefined) return undefined;
  if (policyFile === undefined || path === undefined) {
    const [given, missing] =
      path === undefined ? ["--audit-policy-file", "--audit-log-path"] : ["--audit-log-path", "--audit-policy-file"];
    throw new CodedError("bad-audit-flags", `${given} records nothing by itself: give ${missing} too, or neither`);
  }
  return {
    policyFile,
    path,
    maxAgeDays: flags.auditLogMaxage,
    maxBackups: flags.auditLogMaxbackup,
    maxBytes: auditLogMaxsize * MEGABYTE,
  };
}

/** The arguments of `nodelet control-plane` that ask for the same. */
export function auditArguments(flags: AuditFlags): string[] {
  const options = readAuditFlags(flags);
  if (options === undefined) return [];
  return [
    `--audit-policy-file=${options.policyFile}`,
    `--audit-log-path=${options.path}`,
    `--audit-log-maxage=${options.maxAgeDays}`,
    `--audit-log-maxbackup=${options.maxBackups}`,
    `--audit-log-maxsize=${options.maxBytes / MEGABYTE}`,
  ];
}
