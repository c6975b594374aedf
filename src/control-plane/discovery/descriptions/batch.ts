import type { TypeDescriptions } from "../type-description.ts";
import { CONDITION_FIELDS } from "./condition-fields.ts";

export const BATCH_TYPES: TypeDescriptions = {
  CronJob: { is: "Creates jobs on a schedule.", fields: {} },
  CronJobSpec: {
    is: "When jobs should be created, and which.",
    fields: {
      concurrencyPolicy:
        "What happens when the job before still runs: Allow (the default) runs both, Forbid skips the new one, Replace ends the old one.",
      failedJobsHistoryLimit: "How many failed jobs are kept; default 1.",
      jobTemplate: "What the jobs are like.",
      schedule: "When a job is created, in cron format, `*/5 * * * *`.",
      startingDeadlineSeconds:
        "How late in seconds a job may still be created after its time; later, that run is missed. No limit by default.",
      successfulJobsHistoryLimit: "How many successful jobs are kept; default 3.",
      suspend: "Whether no more jobs are created; jobs that run go on. Default false.",
      timeZone: "The time zone of the schedule, `Europe/Berlin`; default: that of the control plane.",
    },
  },
  CronJobStatus: {
    is: "What was last seen of a cron job. Set by the server.",
    fields: {
      active: "The jobs that run.",
      lastScheduleTime: "When a job was last created.",
      lastSuccessfulTime: "When a job last succeeded.",
    },
  },
  Job: { is: "Runs pods until enough of them have succeeded.", fields: {} },
  JobCondition: {
    is: "Something that is true or false of a job.",
    fields: {
      ...CONDITION_FIELDS,
      lastProbeTime: "When the condition was last checked.",
      type: "What the condition says: Complete, Failed, Suspended, FailureTarget, SuccessCriteriaMet.",
    },
  },
  JobSpec: {
    is: "Which pods a job should run, and how many.",
    fields: {
      activeDeadlineSeconds: "How long in seconds the job may take before its pods are stopped and it fails.",
      backoffLimit:
        "How many failures are retried before the job fails; default 6, or no limit with `backoffLimitPerIndex`.",
      backoffLimitPerIndex:
        "How many failures are retried at each index before that index fails; only for indexed jobs.",
      completionMode:
        "NonIndexed (the default): pods are alike. Indexed: each pod has an index from 0, and each index must succeed once.",
      completions:
        "How many pods must succeed; default 1. If only `parallelism` is set, the success of any pod is enough.",
      managedBy:
        "The controller that runs the job, `example.com/controller`; default: the built-in one. Cannot be changed.",
      manualSelector: "Whether the author of the job chooses `selector` and the labels of the pods; default false.",
      maxFailedIndexes: "How many indexes may fail before the whole job fails; only with `backoffLimitPerIndex`.",
      parallelism: "How many pods may run at a time; default 1.",
      podFailurePolicy:
        "What failures of pods mean, by exit codes and conditions; by default each counts towards `backoffLimit`.",
      podReplacementPolicy:
        "When a pod that goes is replaced: TerminatingOrFailed (the default) at once, Failed when it has ended. Failed is the only one with `podFailurePolicy`.",
      selector: "The labels of the job's pods. Set by the server, unless `manualSelector` is true.",
      successPolicy: "Which indexes are enough for success; only for indexed jobs. By default all are needed.",
      suspend: "Whether no pods are created, and those that run are deleted; default false.",
      template: "What the pods are like; their restart policy must be Never or OnFailure.",
      ttlSecondsAfterFinished: "How long in seconds after its end the job is deleted; by default it stays.",
    },
  },
  JobStatus: {
    is: "What was last seen of a job. Set by the server.",
    fields: {
      active: "How many pods are pending or running and not being deleted.",
      completedIndexes: "The indexes that have succeeded, `1,3-5`.",
      completionTime: "When the job succeeded; not set when it failed.",
      conditions: "How the job is: Complete, Failed, Suspended.",
      failed: "How many pods have failed.",
      failedIndexes: "The indexes that have failed, `1,3-5`; only with `backoffLimitPerIndex`.",
      ready: "How many of the active pods are ready.",
      startTime: "When the job started, or was last resumed.",
      succeeded: "How many pods have succeeded.",
      terminating: "How many pods are being deleted and have not ended yet.",
      uncountedTerminatedPods: "Pods that have ended and are not yet in the counts.",
    },
  },
  JobTemplateSpec: {
    is: "What jobs made from a template are like.",
    fields: {
      metadata: "The labels and annotations of the jobs.",
      spec: "Which pods the jobs should run, and how many.",
    },
  },
  PodFailurePolicy: {
    is: "What failures of a job's pods mean.",
    fields: { rules: "The rules, in order; the first that matches holds. At most 20." },
  },
  PodFailurePolicyOnExitCodesRequirement: {
    is: "Which exit codes a rule is about; success, 0, is never one.",
    fields: {
      containerName: "The container whose exit code counts; default: any of the pod.",
      operator: "In: an exit code is one of `values`; NotIn: one is none of them.",
      values: "The exit codes, in ascending order, at most 255.",
    },
  },
  PodFailurePolicyOnPodConditionsPattern: {
    is: "A condition of a failed pod.",
    fields: { status: "True (the default), False or Unknown.", type: "The type of the condition, `DisruptionTarget`." },
  },
  PodFailurePolicyRule: {
    is: "What a failure of some sort means; the sort is given by exit codes or by conditions.",
    fields: {
      action:
        "FailJob fails the job, FailIndex the index, Ignore replaces the pod without counting, Count counts towards `backoffLimit`.",
      onExitCodes: "Exit codes of the containers.",
      onPodConditions: "Conditions of the pod, one of which must match; at most 20.",
    },
  },
  SuccessPolicy: {
    is: "When an indexed job has succeeded before all indexes have.",
    fields: { rules: "The rules, one of which must be met; the pods that are left are then deleted. At most 20." },
  },
  SuccessPolicyRule: {
    is: "How many indexes, or which, must have succeeded.",
    fields: {
      succeededCount: "How many indexes, of `succeededIndexes` if that is set.",
      succeededIndexes: "Which indexes, `0,2-4`; all of them when there is no `succeededCount`.",
    },
  },
  UncountedTerminatedPods: {
    is: "Pods that have ended and are not yet in the counts of a job's status.",
    fields: { failed: "The UIDs of pods that failed.", succeeded: "The UIDs of pods that succeeded." },
  },
};
