import type { KubeObject } from "../../../src/api/object.ts";
import type { Dice } from "../dice.ts";
import { NAMESPACE } from "./ledger.ts";

/** A kind of workload as users address it. */
export interface WorkloadKind {
  readonly kind: string;
  /** `deployments.apps` */
  readonly resource: string;
  /** `/apis/apps/v1/namespaces/shop/deployments` */
  readonly path: string;
  readonly names: readonly [string, ...string[]];
  make(dice: Dice, name: string): KubeObject;
}

export const pathOf = (group: string, plural: string) => `/apis/${group}/v1/namespaces/${NAMESPACE}/${plural}`;

export function templateOf(dice: Dice, app: string, restartPolicy: "Always" | "Never" = "Always") {
  return {
    metadata: { labels: { app } },
    spec: {
      restartPolicy,
      terminationGracePeriodSeconds: 10,
      containers: [{ name: "main", image: `image:${dice.whole(1, 4)}` }],
    },
  };
}

export function objectOf(kind: string, apiVersion: string, { name, spec }: { name: string; spec: object }): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace: NAMESPACE }, spec };
}

export const selectorOf = (app: string) => ({ matchLabels: { app } });

function rollout(dice: Dice) {
  if (dice.chance(0.2)) return { type: "Recreate" };
  const maxSurge = dice.pick<number | string>([0, 1, 2, "25%", "50%"]);
  const maxUnavailable = dice.pick<number | string>(maxSurge === 0 ? [1, 2, "50%"] : [0, 0, 1, "25%"]);
  return { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } };
}

const DEPLOYMENTS: WorkloadKind = {
  kind: "Deployment",
  resource: "deployments.apps",
  path: pathOf("apps", "deployments"),
  names: ["web", "cart", "mail"],
  make: (dice, name) =>
    objectOf("Deployment", "apps/v1", {
      name,
      spec: {
        replicas: dice.whole(1, 6),
        selector: selectorOf(name),
        template: templateOf(dice, name),
        strategy: rollout(dice),
        revisionHistoryLimit: dice.whole(0, 3),
      },
    }),
};

const REPLICA_SETS: WorkloadKind = {
  kind: "ReplicaSet",
  resource: "replicasets.apps",
  path: pathOf("apps", "replicasets"),
  names: ["bare"],
  make: (dice, name) =>
    objectOf("ReplicaSet", "apps/v1", {
      name,
      spec: { replicas: dice.whole(0, 5), selector: selectorOf(name), template: templateOf(dice, name) },
    }),
};

const STATEFUL_SETS: WorkloadKind = {
  kind: "StatefulSet",
  resource: "statefulsets.apps",
  path: pathOf("apps", "statefulsets"),
  names: ["db", "queue"],
  make: (dice, name) =>
    objectOf("StatefulSet", "apps/v1", {
      name,
      spec: {
        replicas: dice.whole(1, 4),
        serviceName: name,
        selector: selectorOf(name),
        template: templateOf(dice, name),
        podManagementPolicy: dice.pick(["OrderedReady", "OrderedReady", "Parallel"]),
        updateStrategy: dice.pick([
          { type: "RollingUpdate" },
          { type: "RollingUpdate" },
          { type: "RollingUpdate", rollingUpdate: { partition: 1 } },
        ]),
      },
    }),
};

const DAEMON_SETS: WorkloadKind = {
  kind: "DaemonSet",
  resource: "daemonsets.apps",
  path: pathOf("apps", "daemonsets"),
  names: ["logs", "net"],
  make: (dice, name) =>
    objectOf("DaemonSet", "apps/v1", {
      name,
      spec: {
        selector: selectorOf(name),
        template: templateOf(dice, name),
        updateStrategy: {
          type: "RollingUpdate",
          // Whether it surges follows from the name, so that a change of it is none of the manner.
          rollingUpdate: name === "net" ? { maxSurge: dice.whole(1, 2), maxUnavailable: 0 } : { maxUnavailable: 1 },
        },
      },
    }),
};

export function jobSpec(dice: Dice, app: string) {
  const isIndexed = dice.chance(0.6);
  return {
    completions: dice.whole(1, 6),
    parallelism: dice.whole(1, 3),
    completionMode: isIndexed ? "Indexed" : "NonIndexed",
    backoffLimit: dice.pick([0, 3, 20, 20]),
    podReplacementPolicy: dice.pick(["TerminatingOrFailed", "Failed"]),
    template: templateOf(dice, app, "Never"),
  };
}

const JOBS: WorkloadKind = {
  kind: "Job",
  resource: "jobs.batch",
  path: pathOf("batch", "jobs"),
  names: ["sum", "index", "send", "sort"],
  make: (dice, name) => objectOf("Job", "batch/v1", { name, spec: jobSpec(dice, name) }),
};

const CRON_JOBS: WorkloadKind = {
  kind: "CronJob",
  resource: "cronjobs.batch",
  path: pathOf("batch", "cronjobs"),
  names: ["hourly", "nightly"],
  make: (dice, name) =>
    objectOf("CronJob", "batch/v1", {
      name,
      spec: {
        schedule: "* * * * *",
        concurrencyPolicy: dice.pick(["Allow", "Forbid", "Replace"]),
        jobTemplate: { spec: { ...jobSpec(dice, name), completions: 1, parallelism: 1 } },
      },
    }),
};

const BUDGETS: WorkloadKind = {
  kind: "PodDisruptionBudget",
  resource: "poddisruptionbudgets.policy",
  path: pathOf("policy", "poddisruptionbudgets"),
  // Each is for the workload of its name.
  names: ["web", "db"],
  make: (dice, name) =>
    objectOf("PodDisruptionBudget", "policy/v1", {
      name,
      spec: { minAvailable: dice.whole(1, 3), selector: selectorOf(name) },
    }),
};

const SERVICES: WorkloadKind = {
  kind: "Service",
  resource: "services",
  path: `/api/v1/namespaces/${NAMESPACE}/services`,
  names: ["front", "back"],
  make: (dice, name) =>
    objectOf("Service", "v1", {
      name,
      spec: {
        selector: { app: dice.pick(["web", "cart", "db", "bare", "logs"]) },
        ports: [{ port: 80, targetPort: 8080, protocol: "TCP" }],
        publishNotReadyAddresses: dice.chance(0.1),
      },
    }),
};

const QUOTAS: WorkloadKind = {
  kind: "ResourceQuota",
  resource: "resourcequotas",
  path: `/api/v1/namespaces/${NAMESPACE}/resourcequotas`,
  names: ["limit"],
  make: (dice, name) => objectOf("ResourceQuota", "v1", { name, spec: { hard: { pods: String(dice.whole(8, 40)) } } }),
};

/** Everything that users make, the more of what makes pods. */
export const WORKLOADS: readonly [WorkloadKind, ...WorkloadKind[]] = [
  DEPLOYMENTS,
  DEPLOYMENTS,
  REPLICA_SETS,
  STATEFUL_SETS,
  STATEFUL_SETS,
  DAEMON_SETS,
  JOBS,
  JOBS,
  CRON_JOBS,
  BUDGETS,
  SERVICES,
  QUOTAS,
];

/** The nodes of the cluster; a label tells which of them have which disk. */
export const NODE_NAMES = ["n1", "n2", "n3"] as const;

export function nodeOf(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels: { "kubernetes.io/hostname": name } } };
}

/** `address`: where the API server calls the node. Default: nowhere. */
export function nodeStatusOf(now: string, address?: string): object {
  const resources = { cpu: "64", memory: "64Gi", pods: "110" };
  const ready = { type: "Ready", status: "True", reason: "Simulated", lastHeartbeatTime: now, lastTransitionTime: now };
  const addresses = address === undefined ? {} : { addresses: [{ type: "InternalIP", address }] };
  return { capacity: resources, allocatable: resources, conditions: [ready], ...addresses };
}
