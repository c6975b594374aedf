/** The settings of the audit log: of `up`, and of `control-plane`. Names and defaults are kube-apiserver's. */
export const AUDIT_SETTINGS = [
  {
    field: "auditPolicyFile",
    flags: "--audit-policy-file <file>",
    about: "record requests by this policy (audit.k8s.io/v1, kind Policy)",
    kind: "path",
    preset: undefined,
  },
  {
    field: "auditLogPath",
    flags: "--audit-log-path <file>",
    about: "with --audit-policy-file: where they are recorded, as lines of JSON",
    kind: "path",
    preset: undefined,
  },
  {
    field: "auditLogMaxage",
    flags: "--audit-log-maxage <days>",
    about: "keep full audit logs for this time; 0 for ever",
    kind: "number",
    preset: 366,
    least: 0,
    most: 36_500,
  },
  {
    field: "auditLogMaxbackup",
    flags: "--audit-log-maxbackup <number>",
    about: "keep so many full audit logs; 0 for all",
    kind: "number",
    preset: 100,
    least: 0,
    most: 100_000,
  },
  {
    field: "auditLogMaxsize",
    flags: "--audit-log-maxsize <megabytes>",
    about: "begin another audit log when it has this size; 0 for never",
    kind: "number",
    preset: 100,
    least: 0,
    most: 1_000_000,
  },
] as const;
