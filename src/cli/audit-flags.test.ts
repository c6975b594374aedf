import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { type AuditFlags, addAuditFlags, auditArguments, readAuditFlags } from "./audit-flags.ts";

function parse(...args: string[]): AuditFlags {
  const command = new Command().exitOverride().configureOutput({ writeErr() {} });
  addAuditFlags(command);
  command.parse(args, { from: "user" });
  return command.opts<AuditFlags>();
}

const BOTH = ["--audit-policy-file=/etc/policy.yaml", "--audit-log-path=/var/log/audit.log"];

describe("the flags of the audit log", () => {
  it.each([
    [[], undefined],
    [
      BOTH,
      {
        policyFile: "/etc/policy.yaml",
        path: "/var/log/audit.log",
        maxAgeDays: 366,
        maxBackups: 100,
        maxBytes: 104_857_600,
      },
    ],
    [
      [...BOTH, "--audit-log-maxage=0", "--audit-log-maxbackup=2", "--audit-log-maxsize=1", "--audit-log-path=-"],
      { policyFile: "/etc/policy.yaml", path: "-", maxAgeDays: 0, maxBackups: 2, maxBytes: 1_048_576 },
    ],
  ])("%j ask for what they say", (args, options) => {
    expect(readAuditFlags(parse(...args))).toEqual(options);
  });

  it.each([
    [["--audit-log-path=a"], "--audit-log-path records nothing by itself: give --audit-policy-file too"],
    [["--audit-policy-file=a"], "--audit-policy-file records nothing by itself: give --audit-log-path too"],
    [["--audit-log-maxage=-1"], "a whole number from 0 to 36500"],
    [["--audit-log-maxsize=1.5"], "a whole number from 0 to 1000000"],
  ])("%j are refused with the mend", (args, message) => {
    expect(() => readAuditFlags(parse(...args))).toThrow(message);
  });

  it("are handed on to the control plane as they are", () => {
    expect(auditArguments(parse())).toEqual([]);
    const flags = parse(...BOTH, "--audit-log-maxbackup=7");
    expect(readAuditFlags(parse(...auditArguments(flags)))).toEqual(readAuditFlags(flags));
  });
});
