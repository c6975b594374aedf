import type { FieldError } from "../../../api/field-error.ts";
import type { JobSpec } from "../../../api/gen/types.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import {
  invalid,
  notNegative,
  optionalOneOf,
  required,
  tooLong,
  unsupported,
} from "../../../api/validation/problems.ts";
import { validateTemplate } from "../core/pod/pod-template-spec.ts";
import { defaultPodTemplate } from "../rules/pod-template.ts";
import { validatePodFailurePolicy } from "./pod-failure-policy.ts";
import { validateSuccessPolicy } from "./success-policy.ts";

const MAX_MANAGED_BY_BYTES = 63;
const MAX_INDEXED_PARALLELISM = 100_000;
const MAX_FAILED_INDEXES = 100_000;
/** Above this many completions the two limits below also apply when every index has a back-off limit of its own. */
const MANY_COMPLETIONS = 100_000;
const MAX_PARALLELISM_OF_MANY = 10_000;
const MAX_FAILED_OF_MANY = 10_000;
const MAX_INT32 = 2_147_483_647;

/** Sets the defaults of a job's template, also within a cron job. All other defaults are for jobs only. */
export function defaultJobTemplate(spec: JobSpec): void {
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= "True";
  }
  defaultPodTemplate(spec.template);
}

/** Sets the fields that the author of a job may leave out, in place. */
export function defaultJobSpec(spec: JobSpec): void {
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed";
  defaultJobTemplate(spec);
}

/** The problems of a job's spec except for the selector, which a cron job's template must not have. */
export function validateJobSpec(path: string, spec: JobSpec): FieldError[] {
  const counts = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
  ] as const;
  const { podFailurePolicy, podReplacementPolicy } = spec;
  const replacement = podFailurePolicy ? ["Failed"] : ["Failed", "TerminatingOrFailed"];
  return [
    ...counts.flatMap((field) => notNegative(`${path}.${field}`, spec[field])),
    ...validateManagedBy(`${path}.managedBy`, spec.managedBy),
    ...optionalOneOf(`${path}.completionMode`, spec.completionMode, ["NonIndexed", "Indexed"]),
    ...(spec.completionMode === "Indexed" ? validateIndexed(path, spec) : validateNonIndexed(path, spec)),
    ...(podFailurePolicy ? validatePodFailurePolicy(`${path}.podFailurePolicy`, spec) : []),
    ...optionalOneOf(`${path}.podReplacementPolicy`, podReplacementPolicy, replacement),
    ...validateTemplate(`${path}.template`, spec.template),
    ...validateRestartPolicy(`${path}.template.spec.restartPolicy`, spec),
  ];
}

function validateManagedBy(path: string, managedBy: string | undefined): FieldError[] {
  if (managedBy === undefined) return [];
  const errors = validateDomainPrefixedPath(path, managedBy);
  return managedBy.length > MAX_MANAGED_BY_BYTES ? [...errors, tooLong(path, MAX_MANAGED_BY_BYTES)] : errors;
}

/** The problems of a text as a path with a domain, `example.com/name`. */
export function validateDomainPrefixedPath(path: string, text: string): FieldError[] {
  if (text === "") return [required(path)];
  const [domain = "", ...rest] = text.split("/");
  const name = rest.join("/");
  if (domain === "" || name === "") {
    return [invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const errors = checkDnsSubdomain(domain).map((problem) => invalid(path, domain, problem));
  if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(name)) errors.push(invalid(path, name, "Invalid path"));
  return errors;
}

function validateIndexed(path: string, spec: JobSpec): FieldError[] {
  const { completions, parallelism, maxFailedIndexes, backoffLimitPerIndex, successPolicy } = spec;
  const errors: FieldError[] = [];
  if (completions === undefined) errors.push(required(`${path}.completions`, "when completion mode is Indexed"));
  if (parallelism !== undefined && parallelism > MAX_INDEXED_PARALLELISM) {
    const detail = `must be less than or equal to ${MAX_INDEXED_PARALLELISM} when completion mode is Indexed`;
    errors.push(invalid(`${path}.parallelism`, parallelism, detail));
  }
  if (maxFailedIndexes !== undefined) {
    const at = `${path}.maxFailedIndexes`;
    if (backoffLimitPerIndex === undefined) {
      errors.push(required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
    }
    if (completions !== undefined && maxFailedIndexes > completions) {
      errors.push(invalid(at, maxFailedIndexes, "must be less than or equal to completions"));
    }
    if (maxFailedIndexes > MAX_FAILED_INDEXES) {
      errors.push(invalid(at, maxFailedIndexes, `must be less than or equal to ${MAX_FAILED_INDEXES}`));
    }
  }
  if ((completions ?? 0) > MANY_COMPLETIONS && backoffLimitPerIndex !== undefined)
    errors.push(...validateMany(path, spec));
  if (successPolicy && completions !== undefined) {
    errors.push(...validateSuccessPolicy(`${path}.successPolicy`, successPolicy, completions));
  }
  return errors;
}

function validateMany(path: string, { parallelism = 0, maxFailedIndexes }: JobSpec): FieldError[] {
  const above = `when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  const errors: FieldError[] = [];
  if (maxFailedIndexes === undefined) {
    const detail = `must be specified when completions is above ${MANY_COMPLETIONS}`;
    errors.push(required(`${path}.maxFailedIndexes`, detail));
  } else if (maxFailedIndexes > MAX_FAILED_OF_MANY) {
    const detail = `must be less than or equal to ${MAX_FAILED_OF_MANY} ${above}`;
    errors.push(invalid(`${path}.maxFailedIndexes`, maxFailedIndexes, detail));
  }
  if (parallelism > MAX_PARALLELISM_OF_MANY) {
    const detail = `must be less than or equal to ${MAX_PARALLELISM_OF_MANY} ${above}`;
    errors.push(invalid(`${path}.parallelism`, parallelism, detail));
  }
  return errors;
}

function validateNonIndexed(path: string, spec: JobSpec): FieldError[] {
  return (["backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"] as const).flatMap((field) => {
    const value = spec[field];
    return value === undefined ? [] : [invalid(`${path}.${field}`, value, "requires indexed completion mode")];
  });
}

/** The problems of the restart policy. A job's pods must not restart forever, which is a pod's default. */
function validateRestartPolicy(path: string, { template, podFailurePolicy }: JobSpec): FieldError[] {
  const restartPolicy = template.spec?.restartPolicy ?? "";
  if (restartPolicy === "" || restartPolicy === "Always") return [required(path, 'valid values: "OnFailure", "Never"')];
  if (!["OnFailure", "Never"].includes(restartPolicy))
    return [unsupported(path, restartPolicy, ["OnFailure", "Never"])];
  if (!podFailurePolicy || restartPolicy === "Never") return [];
  return [invalid(path, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified')];
}
