import { checkCronSchedule } from "../../../api/cron/cron-schedule.ts";
import type { FieldError } from "../../../api/field-error.ts";
import type { CronJobSpec } from "../../../api/gen/types.ts";
import { isNew } from "../../../api/object.ts";
import { invalid, invalidEach, notNegative, oneOf, required, unsupported } from "../../../api/validation/problems.ts";
import { podTemplateWarnings } from "../core/pod/pod-warnings.ts";
import { defineKind, MAX_POD_VALUES } from "../define-kind.ts";
import { strategyOf } from "../typed-strategy.ts";
import { defaultJobTemplate, validateJobSpec } from "./job-spec.ts";

/** The name of a job consists of its cron job's name and eleven characters for the time at which it was due. */
const MAX_NAME_LENGTH = 52;

export const cronJobKind = defineKind({
  group: "batch",
  kind: "CronJob",
  plural: "cronjobs",
  maxValues: MAX_POD_VALUES,
  shortNames: ["cj"],
  categories: ["all"],
  status: true,
  strategy: strategyOf("CronJob", {
    generation: true,
    initialStatus: {},
    default({ spec }) {
      if (!spec) return;
      spec.concurrencyPolicy ||= "Allow";
      spec.suspend ??= false;
      spec.successfulJobsHistoryLimit ??= 3;
      spec.failedJobsHistoryLimit ??= 1;
      spec.jobTemplate.metadata ??= {};
      if (spec.jobTemplate.spec) defaultJobTemplate(spec.jobTemplate.spec);
    },
    validate: (cronJob) => [
      ...(isNew(cronJob) ? validateName(cronJob.metadata.name ?? "") : []),
      ...(cronJob.spec ? validateSpec(cronJob.spec) : [required("spec.schedule")]),
    ],
    warnings: ({ spec }) => {
      return podTemplateWarnings(spec?.jobTemplate.spec?.template ?? {}, "spec.jobTemplate.spec.template.");
    },
  }),
});

function validateName(name: string): FieldError[] {
  const detail = `must be no more than ${MAX_NAME_LENGTH} characters`;
  return name.length > MAX_NAME_LENGTH ? [invalid("metadata.name", name, detail)] : [];
}

function validateSpec(spec: CronJobSpec): FieldError[] {
  const { schedule, jobTemplate, concurrencyPolicy } = spec;
  const errors = [
    ...validateSchedule(schedule),
    ...notNegative("spec.startingDeadlineSeconds", spec.startingDeadlineSeconds),
    ...validateTimeZone(spec.timeZone),
    ...oneOf("spec.concurrencyPolicy", concurrencyPolicy, ["Allow", "Forbid", "Replace"]),
    ...notNegative("spec.successfulJobsHistoryLimit", spec.successfulJobsHistoryLimit),
    ...notNegative("spec.failedJobsHistoryLimit", spec.failedJobsHistoryLimit),
  ];
  const path = "spec.jobTemplate.spec";
  const job = jobTemplate.spec ?? { template: {} };
  errors.push(...validateJobSpec(path, job));
  if (job.selector) errors.push(invalid(`${path}.selector`, job.selector, "`selector` will be auto-generated"));
  if (job.manualSelector) errors.push(unsupported(`${path}.manualSelector`, true, ["nil", "false"]));
  return errors;
}

function validateSchedule(schedule: string): FieldError[] {
  if (schedule === "") return [required("spec.schedule")];
  const errors = invalidEach("spec.schedule", schedule, checkCronSchedule(schedule));
  if (!schedule.includes("TZ")) return errors;
  const detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
  return [...errors, invalid("spec.schedule", schedule, detail)];
}

const ZONE_PART = /^(?!-)[A-Za-z.\-_0-9+]{1,14}$/;

function validateTimeZone(timeZone: string | undefined): FieldError[] {
  const path = "spec.timeZone";
  if (timeZone === undefined) return [];
  if (timeZone === "") return [invalid(path, timeZone, "timeZone must be nil or non-empty string")];
  const isName = timeZone.split("/").every((part) => part !== "." && part !== ".." && ZONE_PART.test(part));
  if (!isName || !isKnownZone(timeZone)) return [invalid(path, timeZone, `unknown time zone ${timeZone}`)];
  return [];
}

function isKnownZone(timeZone: string): boolean {
  try {
    const { timeZone: known } = new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions();
    // Upstream reads zones from files, whose names are case-sensitive. An alias is resolved to another name.
    return known === timeZone || known.toLowerCase() !== timeZone.toLowerCase();
  } catch {
    return false;
  }
}
