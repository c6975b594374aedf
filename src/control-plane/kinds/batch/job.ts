import type { FieldError } from "../../../api/field-error.ts";
import type { Job, JobSpec } from "../../../api/gen/types.ts";
import { labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { checkDnsLabel } from "../../../api/validation/names.ts";
import { invalid, required } from "../../../api/validation/problems.ts";
import { podTemplateWarnings } from "../core/pod/pod-warnings.ts";
import { defineKind, MAX_POD_VALUES } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { validateSelected } from "../rules/pod-template.ts";
import { isSame } from "../rules/semantic-changes.ts";
import { strategyOf } from "../typed-strategy.ts";
import { defaultJobSpec, validateJobSpec } from "./job-spec.ts";
import { isTemplateOpen, validateTemplateChange } from "./job-template-change.ts";

export const jobKind = defineKind({
  group: "batch",
  kind: "Job",
  plural: "jobs",
  maxValues: MAX_POD_VALUES,
  categories: ["all"],
  status: true,
  strategy: strategyOf("Job", {
    generation: true,
    orphansByDefault: true,
    initialStatus: {},
    fields: { "status.successful": ({ status }) => `${status?.succeeded ?? 0}` },
    default: setDefaults,
    prepareCreate: generateSelector,
    validate: (job) => (job.spec ? validateJob(job, job.spec) : [required("spec.template.spec.containers")]),
    validateUpdate: validateChange,
    warnings: ({ spec }) => podTemplateWarnings(spec?.template ?? {}, "spec.template."),
  }),
});

function setDefaults(job: { metadata?: Job["metadata"]; spec?: JobSpec }): void {
  const { spec, metadata } = job;
  if (!spec) return;
  defaultJobSpec(spec);
  const labels = spec.template.metadata?.labels ?? {};
  const isLabelled = Object.keys(metadata?.labels ?? {}).length > 0;
  if (metadata && !isLabelled && Object.keys(labels).length > 0) metadata.labels = { ...labels };
}

/** The labels that distinguish a job's pods from all others, in the old and the new spelling. */
function generatedLabels({ uid = "", name = "" }: NonNullable<Job["metadata"]>): Record<string, string> {
  return {
    "controller-uid": uid,
    "job-name": name,
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
  };
}

/**
 * Generates the selector from the UID, which the object has by now. Labels that the author set stay, and validation
 * refuses them if they differ.
 */
function generateSelector(job: Job): void {
  const { metadata, spec } = job;
  if (!spec || spec.manualSelector) return;
  spec.template.metadata ??= {};
  const { metadata: template } = spec.template;
  template.labels = { ...generatedLabels(metadata ?? {}), ...template.labels };
  const own = { "batch.kubernetes.io/controller-uid": metadata?.uid ?? "" };
  spec.selector = { ...spec.selector, matchLabels: { ...own, ...spec.selector?.matchLabels } };
  // A job without labels gets those of its pods, which include the generated ones by now.
  if (metadata?.labels === undefined) job.metadata = { ...metadata, labels: { ...template.labels } };
}

function validateJob(job: Job, spec: JobSpec): FieldError[] {
  const { selector, template } = spec;
  const errors = validateJobSpec("spec", spec);
  const selection = validateLabelSelector("spec.selector", selector);
  if (selector === undefined) errors.push(required("spec.selector"));
  else errors.push(...(selection.length > 0 ? selection : validateSelected(selector, template)));
  return [...errors, ...validateGenerated(job, spec), ...validatePodNames(job, spec)];
}

function validateGenerated({ metadata = {} }: Job, { manualSelector, selector, template }: JobSpec): FieldError[] {
  if (manualSelector || selector === undefined) return [];
  const labels = template.metadata?.labels ?? {};
  const expected = generatedLabels(metadata);
  const sorted = Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
  const errors = Object.entries(expected).flatMap(([key, value]) => {
    const path = `spec.template.metadata.labels[${key}]`;
    if (labels[key] === undefined) return [required(path, `must be '${value}'`)];
    return labels[key] === value ? [] : [invalid(path, sorted, `must be '${value}'`)];
  });
  const isGood = validateLabelSelector("spec.selector", selector).length === 0;
  const isOwn = isGood && labelSelectorOf(selector).matches(expected);
  return isOwn ? errors : [...errors, invalid("spec.selector", selector, "`selector` not auto-generated")];
}

/**
 * The problems of an indexed job's name. Its pods are named after it and their index, which must fit into a host name.
 */
function validatePodNames({ metadata }: Job, { completionMode, completions = 0 }: JobSpec): FieldError[] {
  if (completionMode !== "Indexed" || completions <= 0) return [];
  const { name = "" } = metadata ?? {};
  const longest = `${name}-${completions - 1}`;
  if (checkDnsLabel(longest).length === 0) return [];
  return [invalid("metadata.name", name, `will not able to create pod with invalid DNS label: ${longest}`)];
}

function validateChange({ spec }: Job, { spec: current, status }: Job): FieldError[] {
  if (!spec || !current) return [];
  const fields = [
    "selector",
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
  ] as const;
  return [
    ...validateCompletions(spec, current),
    ...fields.flatMap((field) => immutable(`spec.${field}`, spec[field], current[field])),
    ...validateTemplateChange({
      next: spec.template,
      current: current.template,
      isOpen: isTemplateOpen(current, status),
    }),
  ];
}

/**
 * The problems of a change of completions. Only an indexed job may change its size, with as many pods at a time as
 * there are indexes.
 */
function validateCompletions(spec: JobSpec, current: JobSpec): FieldError[] {
  const { completions, parallelism } = spec;
  if (spec.completionMode !== "Indexed") return immutable("spec.completions", completions, current.completions);
  if (isSame(current.completions, completions) || completions === undefined || completions === parallelism) return [];
  return [invalid("spec.completions", completions, "can only be modified in tandem with spec.parallelism")];
}
