import type { FieldError } from "../../../api/field-error.ts";
import { invalid } from "../../../api/validation/problems.ts";

/** The levels of the pod security standards, the mildest first. */
const LEVELS = ["privileged", "baseline", "restricted"] as const;

type SecurityLevel = (typeof LEVELS)[number];

/** One level of the standards as a version of Kubernetes defines it. */
export interface SecurityStandard {
  readonly level: SecurityLevel;
  /** The minor of the version 1.x; "latest" means the newest definition that is known. */
  readonly minor: number | "latest";
}

/**
 * The standards that a namespace asks for. There is none for auditing: this API server writes no audit log, so that the
 * labels for it are checked and have no effect.
 */
export interface SecurityPolicy {
  readonly enforce: SecurityStandard;
  readonly warn: SecurityStandard;
}

const PREFIX = "pod-security.kubernetes.io/";
const LATEST_PRIVILEGED: SecurityStandard = { level: "privileged", minor: "latest" };
const VERSION_FORM = /^v1\.(0|[1-9][0-9]*)$/;

/**
 * Reads the policy from a namespace's labels (`k8s.io/pod-security-admission/api/helpers.go`). There always is one: a
 * level to enforce that cannot be read counts as restricted, one to warn by as privileged, a version as the latest.
 */
export function readSecurityPolicy(labels: Readonly<Record<string, string>> = {}): {
  policy: SecurityPolicy;
  errors: FieldError[];
} {
  const enforce = readStandard(labels, "enforce", "restricted");
  const audit = readStandard(labels, "audit", "privileged");
  const warn = readStandard(labels, "warn", "privileged");
  const errors = [...enforce.errors, ...audit.errors, ...warn.errors];
  return { policy: { enforce: enforce.standard, warn: warnedOf(labels, enforce, warn) }, errors };
}

interface ReadStandard {
  readonly standard: SecurityStandard;
  readonly isLevelGiven: boolean;
  readonly errors: readonly FieldError[];
}

function readStandard(
  labels: Readonly<Record<string, string>>,
  mode: "enforce" | "audit" | "warn",
  unreadable: SecurityLevel,
): ReadStandard {
  const errors: FieldError[] = [];
  let { level, minor }: SecurityStandard = LATEST_PRIVILEGED;
  const levelLabel = labels[`${PREFIX}${mode}`];
  const known = LEVELS.find((name) => name === levelLabel);
  if (levelLabel !== undefined) {
    level = known ?? unreadable;
    if (known === undefined) {
      errors.push(invalid(pathOf(mode), levelLabel, `must be one of ${LEVELS.join(", ")}`));
    }
  }
  const version = labels[`${PREFIX}${mode}-version`];
  if (version !== undefined && version !== "latest") {
    const match = VERSION_FORM.exec(version);
    if (match) minor = Number(match[1]);
    else errors.push(invalid(pathOf(`${mode}-version`), version, 'must be "latest" or "v1.x"'));
  }
  return { standard: { level, minor }, isLevelGiven: known !== undefined, errors };
}

const pathOf = (label: string) => `metadata.labels[${PREFIX}${label}]`;

/** A namespace that enforces a level and says nothing of warnings gets them by the same level, for its workloads. */
function warnedOf(
  labels: Readonly<Record<string, string>>,
  enforce: ReadStandard,
  { standard }: ReadStandard,
): SecurityStandard {
  if (`${PREFIX}warn` in labels || !enforce.isLevelGiven) return standard;
  if (compareLevels(enforce.standard.level, standard.level) <= 0) return standard;
  const { level, minor } = enforce.standard;
  return { level, minor: `${PREFIX}warn-version` in labels ? standard.minor : minor };
}

/** Negative when `a` is milder than `b`, 0 when they are the same. */
export function compareLevels(a: SecurityLevel, b: SecurityLevel): number {
  return LEVELS.indexOf(a) - LEVELS.indexOf(b);
}

/** Upstream's text for a standard: `restricted:latest`, `baseline:v1.28`. */
export function showStandard({ level, minor }: SecurityStandard): string {
  return `${level}:${minor === "latest" ? minor : `v1.${minor}`}`;
}
