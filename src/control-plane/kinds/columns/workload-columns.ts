import type {
  Container,
  CronJob,
  DaemonSet,
  Job,
  ObjectMeta,
  PodTemplateSpec,
  ReplicationController,
} from "../../../api/gen/types.ts";
import { formatHumanDuration } from "../../../base/human-duration.ts";
import type { Cell, CellAt } from "../../ports/resource-kind.ts";
import {
  containerImages,
  containerNames,
  flagText,
  intOrStringText,
  labelsText,
  orNone,
  selectorText,
} from "./cell-text.ts";
import { AGE, ageOf, type ColumnRow, columnsOf, NAME } from "./column.ts";

/** The columns of kinds with a pod template. */
function templateColumns<Object>(
  templateOf: (object: Object) => PodTemplateSpec | undefined,
  { wide }: { wide: boolean } = { wide: true },
): Array<ColumnRow<Object>> {
  const containersOf = (object: Object): Container[] | undefined => templateOf(object)?.spec?.containers;
  return [
    {
      name: "Containers",
      wide,
      description: "What the template's containers are called.",
      cell: (object) => containerNames(containersOf(object)),
    },
    {
      name: "Images",
      wide,
      description: "What the template's containers run.",
      cell: (object) => containerImages(containersOf(object)),
    },
  ];
}

const READY_PODS = { name: "Ready", description: "How many pods are ready, and how many there should be." };
const SELECTOR = { name: "Selector", wide: true, description: "Which pods belong to it." };

export const POD_TEMPLATE_COLUMNS = columnsOf("PodTemplate", [
  NAME,
  ...templateColumns(({ template }: { template?: PodTemplateSpec }) => template, { wide: false }),
  {
    name: "Pod Labels",
    description: "The labels that the template's pods get.",
    cell: ({ template }) => labelsText(template?.metadata?.labels),
  },
]);

interface Replicated {
  metadata?: Readonly<ObjectMeta>;
  spec?: { replicas?: number; template?: PodTemplateSpec };
  status?: { replicas?: number; readyReplicas?: number };
}

const REPLICAS: ReadonlyArray<ColumnRow<Replicated>> = [
  {
    name: "Desired",
    type: "integer",
    description: "How many pods there should be.",
    cell: ({ spec }) => spec?.replicas ?? 0,
  },
  {
    name: "Current",
    type: "integer",
    description: "How many pods there are.",
    cell: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: "Ready",
    type: "integer",
    description: "How many pods are ready.",
    cell: ({ status }) => status?.readyReplicas ?? 0,
  },
];

export const REPLICATION_CONTROLLER_COLUMNS = columnsOf("ReplicationController", [
  NAME,
  ...REPLICAS,
  AGE,
  ...templateColumns(({ spec }: ReplicationController) => spec?.template),
  { ...SELECTOR, cell: ({ spec }) => labelsText(spec?.selector) },
]);

export const REPLICA_SET_COLUMNS = columnsOf("ReplicaSet", [
  NAME,
  ...REPLICAS,
  AGE,
  ...templateColumns(({ spec }: Replicated) => spec?.template),
  { ...SELECTOR, cell: ({ spec }) => orNone(selectorText(spec?.selector)) },
]);

export const DEPLOYMENT_COLUMNS = columnsOf("Deployment", [
  NAME,
  { ...READY_PODS, cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}` },
  {
    name: "Up-to-date",
    description: "How many pods are made from the current template.",
    cell: ({ status }) => status?.updatedReplicas ?? 0,
  },
  {
    name: "Available",
    description: "How many pods have been ready for long enough.",
    cell: ({ status }) => status?.availableReplicas ?? 0,
  },
  AGE,
  ...templateColumns(({ spec }: Replicated) => spec?.template),
  { ...SELECTOR, cell: ({ spec }) => selectorText(spec?.selector) },
]);

export const STATEFUL_SET_COLUMNS = columnsOf("StatefulSet", [
  NAME,
  { ...READY_PODS, cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}` },
  AGE,
  ...templateColumns(({ spec }: Replicated) => spec?.template),
]);

export const DAEMON_SET_COLUMNS = columnsOf("DaemonSet", [
  NAME,
  {
    name: "Desired",
    type: "integer",
    description: "How many nodes should run its pod.",
    cell: ({ status }) => status?.desiredNumberScheduled ?? 0,
  },
  {
    name: "Current",
    type: "integer",
    description: "How many of these nodes have its pod.",
    cell: ({ status }) => status?.currentNumberScheduled ?? 0,
  },
  {
    name: "Ready",
    type: "integer",
    description: "On how many nodes its pod is ready.",
    cell: ({ status }) => status?.numberReady ?? 0,
  },
  {
    name: "Up-to-date",
    type: "integer",
    description: "How many nodes have a pod made from the current template.",
    cell: ({ status }) => status?.updatedNumberScheduled ?? 0,
  },
  {
    name: "Available",
    type: "integer",
    description: "On how many nodes its pod has been ready for long enough.",
    cell: ({ status }) => status?.numberAvailable ?? 0,
  },
  {
    name: "Node Selector",
    description: "Which nodes should run its pod.",
    cell: ({ spec }) => labelsText(spec?.template?.spec?.nodeSelector),
  },
  AGE,
  ...templateColumns(({ spec }: DaemonSet) => spec?.template),
  { ...SELECTOR, cell: ({ spec }) => orNone(selectorText(spec?.selector)) },
]);

export const CONTROLLER_REVISION_COLUMNS = columnsOf("ControllerRevision", [
  NAME,
  {
    name: "Controller",
    description: "Whose state this is.",
    cell: ({ metadata }) => {
      const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true);
      if (!owner) return "<none>";
      const [group] = owner.apiVersion.includes("/") ? owner.apiVersion.split("/") : [];
      return `${[owner.kind, ...(group ? [group] : [])].join(".").toLowerCase()}/${owner.name}`;
    },
  },
  { name: "Revision", description: "Its place in the history.", cell: ({ revision }) => revision },
  AGE,
]);

export const JOB_COLUMNS = columnsOf("Job", [
  NAME,
  { name: "Status", description: "How far the job is.", cell: jobStatus },
  { name: "Completions", description: "How many pods have succeeded, and how many must.", cell: jobCompletions },
  { name: "Duration", description: "How long the job took, or has been running.", cell: jobDuration },
  AGE,
  ...templateColumns(({ spec }: Job) => spec?.template),
  { ...SELECTOR, cell: ({ spec }) => orNone(selectorText(spec?.selector)) },
]);

function jobStatus({ metadata, status }: Job): string {
  const has = (type: string) => status?.conditions?.find((condition) => condition.type === type)?.status === "True";
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (metadata?.deletionTimestamp !== undefined) return "Terminating";
  if (has("Suspended")) return "Suspended";
  return has("FailureTarget") ? "FailureTarget" : "Running";
}

function jobCompletions({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration({ status }: Job): Cell | CellAt {
  if (status?.startTime === undefined) return "";
  if (status.completionTime === undefined) return ageOf(status.startTime);
  return formatHumanDuration(Date.parse(status.completionTime) - Date.parse(status.startTime));
}

export const CRON_JOB_COLUMNS = columnsOf("CronJob", [
  NAME,
  { name: "Schedule", description: "When it runs, as in a crontab.", cell: ({ spec }) => spec?.schedule ?? "" },
  {
    name: "Timezone",
    description: "Where the schedule's clock hangs.",
    cell: ({ spec }) => spec?.timeZone ?? "<none>",
  },
  {
    name: "Suspend",
    type: "boolean",
    description: "Whether further runs are held back.",
    cell: ({ spec }) => flagText(spec?.suspend),
  },
  {
    name: "Active",
    type: "integer",
    description: "How many of its jobs are running.",
    cell: ({ status }) => status?.active?.length ?? 0,
  },
  {
    name: "Last Schedule",
    description: "How long ago it last started a job.",
    cell: ({ status }) => (status?.lastScheduleTime === undefined ? "<none>" : ageOf(status.lastScheduleTime)),
  },
  AGE,
  ...templateColumns(({ spec }: CronJob) => spec?.jobTemplate?.spec?.template),
  { ...SELECTOR, cell: ({ spec }) => orNone(selectorText(spec?.jobTemplate?.spec?.selector)) },
]);

export const POD_DISRUPTION_BUDGET_COLUMNS = columnsOf("PodDisruptionBudget", [
  NAME,
  {
    name: "Min Available",
    description: "How many pods must stay available.",
    cell: ({ spec }) => intOrStringText(spec?.minAvailable, "N/A"),
  },
  {
    name: "Max Unavailable",
    description: "How many pods may be unavailable.",
    cell: ({ spec }) => intOrStringText(spec?.maxUnavailable, "N/A"),
  },
  {
    name: "Allowed Disruptions",
    type: "integer",
    description: "How many pods may be disrupted right now.",
    cell: ({ status }) => status?.disruptionsAllowed ?? 0,
  },
  AGE,
]);
