import type { KubeObject } from "../../../../src/api/object.ts";
import type { Dice } from "../../dice.ts";
import { NAMESPACE } from "../ledger.ts";
import { jobSpec, objectOf, pathOf, selectorOf, templateOf, type WorkloadKind } from "../workloads.ts";

const corePathOf = (plural: string) => `/api/v1/namespaces/${NAMESPACE}/${plural}`;

const CONTROLLERS: WorkloadKind = {
  kind: "ReplicationController",
  resource: "replicationcontrollers",
  path: corePathOf("replicationcontrollers"),
  names: ["old"],
  make: (dice, name) =>
    objectOf("ReplicationController", "v1", {
      name,
      spec: { replicas: dice.whole(0, 5), selector: { app: name }, template: tolerant(dice, templateOf(dice, name)) },
    }),
};

/** The template with a toleration, for a while or for good, of what nodes are tainted with. */
function tolerant(dice: Dice, template: ReturnType<typeof templateOf>) {
  const tolerations = dice.pick([
    [],
    [{ key: TAINT_KEY, operator: "Exists", effect: "NoExecute" }],
    [{ key: TAINT_KEY, operator: "Exists", effect: "NoExecute", tolerationSeconds: dice.whole(1, 20) }],
  ]);
  return { ...template, spec: { ...template.spec, tolerations } };
}

export const TAINT_KEY = "simulator.example/broken";

const CLAIM_TEMPLATES = ["data", "logs"].map((name) => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
}));

const CLAIMED_SETS: WorkloadKind = {
  kind: "StatefulSet",
  resource: "statefulsets.apps",
  path: pathOf("apps", "statefulsets"),
  names: ["vault", "ledger"],
  make: (dice, name) =>
    objectOf("StatefulSet", "apps/v1", {
      name,
      spec: {
        replicas: dice.whole(1, 3),
        serviceName: name,
        selector: selectorOf(name),
        template: templateOf(dice, name),
        podManagementPolicy: dice.pick(["OrderedReady", "Parallel"]),
        updateStrategy: { type: "RollingUpdate" },
        // What cannot be changed follows from the name.
        volumeClaimTemplates: name === "vault" ? CLAIM_TEMPLATES : CLAIM_TEMPLATES.slice(0, 1),
        persistentVolumeClaimRetentionPolicy: {
          whenDeleted: dice.pick(["Retain", "Delete"]),
          whenScaled: dice.pick(["Retain", "Delete"]),
        },
      },
    }),
};

const BRIEF_JOBS: WorkloadKind = {
  kind: "Job",
  resource: "jobs.batch",
  path: pathOf("batch", "jobs"),
  names: ["brief", "spare"],
  make: (dice, name) =>
    objectOf("Job", "batch/v1", {
      name,
      spec: { ...jobSpec(dice, name), ttlSecondsAfterFinished: dice.pick([0, 1, 10, 60]) },
    }),
};

/** What each autoscaler scales: the object of its name. */
const SCALED: Readonly<Record<string, readonly [apiVersion: string, kind: string, resource: string]>> = {
  web: ["apps/v1", "Deployment", "deployments.apps"],
  cart: ["apps/v1", "Deployment", "deployments.apps"],
  bare: ["apps/v1", "ReplicaSet", "replicasets.apps"],
  queue: ["apps/v1", "StatefulSet", "statefulsets.apps"],
  old: ["v1", "ReplicationController", "replicationcontrollers"],
};

export const scaledResourceOf = (name = ""): string => SCALED[name]?.[2] ?? "";

/** What a pod is to use, in thousandths of a processor. */
export const TARGET_MILLICORES = 500;

const AUTOSCALERS: WorkloadKind = {
  kind: "HorizontalPodAutoscaler",
  resource: "horizontalpodautoscalers.autoscaling",
  path: `/apis/autoscaling/v2/namespaces/${NAMESPACE}/horizontalpodautoscalers`,
  names: ["web", "cart", "bare", "queue", "old"],
  make(dice, name) {
    const [apiVersion, kind] = SCALED[name] ?? ["", ""];
    const minReplicas = dice.whole(1, 3);
    const target = { type: "AverageValue", averageValue: `${TARGET_MILLICORES}m` };
    return objectOf("HorizontalPodAutoscaler", "autoscaling/v2", {
      name,
      spec: {
        scaleTargetRef: { apiVersion, kind, name },
        minReplicas,
        maxReplicas: minReplicas + dice.whole(0, 4),
        metrics: [{ type: "Resource", resource: { name: "cpu", target } }],
        ...(dice.chance(0.6) && { behavior: behavior(dice) }),
      },
    });
  },
};

function behavior(dice: Dice) {
  const rules = () => ({
    stabilizationWindowSeconds: dice.pick([0, 0, 30, 120]),
    policies: [dice.pick([{ type: "Pods", value: dice.whole(1, 3), periodSeconds: 30 }, HALF])],
  });
  return { scaleUp: rules(), scaleDown: rules() };
}

const HALF = { type: "Percent", value: 50, periodSeconds: 15 };

const BUDGETS: WorkloadKind = {
  kind: "PodDisruptionBudget",
  resource: "poddisruptionbudgets.policy",
  path: pathOf("policy", "poddisruptionbudgets"),
  names: ["cart", "vault", "old"],
  make: (dice, name) =>
    objectOf("PodDisruptionBudget", "policy/v1", {
      name,
      spec: {
        ...dice.pick<object>([{ maxUnavailable: 1 }, { maxUnavailable: "50%" }, { minAvailable: "50%" }]),
        unhealthyPodEvictionPolicy: dice.pick(["AlwaysAllow", "IfHealthyBudget"]),
        selector: selectorOf(name),
      },
    }),
};

const LIMIT_RANGES: WorkloadKind = {
  kind: "LimitRange",
  resource: "limitranges",
  path: corePathOf("limitranges"),
  names: ["bounds"],
  make: (dice, name) =>
    objectOf("LimitRange", "v1", {
      name,
      spec: {
        limits: [{ type: "Container", defaultRequest: { cpu: `${dice.whole(1, 5)}00m` }, default: { cpu: "1" } }],
      },
    }),
};

const QUOTAS: WorkloadKind = {
  kind: "ResourceQuota",
  resource: "resourcequotas",
  path: corePathOf("resourcequotas"),
  names: ["wide", "brief"],
  make: (dice, name) =>
    objectOf("ResourceQuota", "v1", { name, spec: { hard: name === "wide" ? wide(dice) : few(dice) } }),
};

const wide = (dice: Dice) => ({
  ...(dice.chance(0.3) && { "requests.cpu": `${dice.whole(2, 8)}` }),
  persistentvolumeclaims: `${dice.whole(2, 8)}`,
  "requests.storage": `${dice.whole(2, 8)}Gi`,
  configmaps: `${dice.whole(2, 20)}`,
});

const few = (dice: Dice) => ({
  "count/jobs.batch": `${dice.whole(1, 6)}`,
  "count/replicasets.apps": `${dice.whole(2, 8)}`,
  replicationcontrollers: `${dice.whole(0, 1)}`,
  services: `${dice.whole(0, 4)}`,
});

/** A service whose endpoints a user writes. */
const FOREIGN_SERVICES: WorkloadKind = {
  kind: "Service",
  resource: "services",
  path: corePathOf("services"),
  names: ["abroad"],
  make: (_dice, name) => objectOf("Service", "v1", { name, spec: { ports: [{ port: 80 }] } }),
};

const FOREIGN_ENDPOINTS: WorkloadKind = {
  kind: "Endpoints",
  resource: "endpoints",
  path: corePathOf("endpoints"),
  names: ["abroad"],
  make: (dice, name): KubeObject => ({
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name, namespace: NAMESPACE },
    subsets: Array.from({ length: dice.whole(0, 3) }, (_, index) => ({
      addresses: Array.from({ length: dice.whole(1, 4) }, () => ({ ip: `198.51.100.${dice.whole(1, 250)}` })),
      ports: [{ port: 8000 + index }],
    })),
  }),
};

/** The first are the simplest: what makes pods is more often made. */
export const ESTATE_KINDS: readonly [WorkloadKind, ...WorkloadKind[]] = [
  CONTROLLERS,
  CONTROLLERS,
  CLAIMED_SETS,
  CLAIMED_SETS,
  CLAIMED_SETS,
  BRIEF_JOBS,
  BRIEF_JOBS,
  AUTOSCALERS,
  AUTOSCALERS,
  AUTOSCALERS,
  BUDGETS,
  LIMIT_RANGES,
  QUOTAS,
  QUOTAS,
  FOREIGN_SERVICES,
  FOREIGN_ENDPOINTS,
];
