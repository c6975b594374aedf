import type {
  FlowcontrolSubject,
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
} from "../../../api/gen/types.ts";

const USERS = { manager: "system:kube-controller-manager", scheduler: "system:kube-scheduler" };
const EVERYBODY = groups("system:unauthenticated", "system:authenticated");
const NODES = groups("system:nodes");
const SYSTEM_ACCOUNTS: FlowcontrolSubject[] = [
  { kind: "ServiceAccount", serviceAccount: { name: "*", namespace: "kube-system" } },
];

function groups(...names: string[]): FlowcontrolSubject[] {
  return names.map((name) => ({ kind: "Group", group: { name } }));
}

function users(...names: string[]): FlowcontrolSubject[] {
  return names.map((name) => ({ kind: "User", user: { name } }));
}

const LEASES: ResourcePolicyRule = {
  verbs: ["*"],
  apiGroups: ["coordination.k8s.io"],
  resources: ["leases"],
  namespaces: ["*"],
};
const ALL_RESOURCES: ResourcePolicyRule = {
  verbs: ["*"],
  apiGroups: ["*"],
  resources: ["*"],
  clusterScope: true,
  namespaces: ["*"],
};
const ALL_URLS: NonResourcePolicyRule = { verbs: ["*"], nonResourceURLs: ["*"] };

function everythingOf(subjects: FlowcontrolSubject[]): PolicyRulesWithSubjects {
  return { subjects, resourceRules: [ALL_RESOURCES], nonResourceRules: [ALL_URLS] };
}

/** A schema's level, precedence, what tells its flows apart (undefined: they are one), and whose requests it takes. */
function schemaOf(
  [name, matchingPrecedence]: [string, number],
  type: "ByUser" | "ByNamespace" | undefined,
  rule: PolicyRulesWithSubjects,
): FlowSchemaSpec {
  return {
    priorityLevelConfiguration: { name },
    matchingPrecedence,
    ...(type && { distinguisherMethod: { type } }),
    rules: [rule],
  };
}

/** The schemas without which some requests would belong to no level, by name. They cannot be changed. */
export const MANDATORY_FLOW_SCHEMAS: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  ["exempt", schemaOf(["exempt", 1], undefined, everythingOf(groups("system:masters")))],
  ["catch-all", schemaOf(["catch-all", 10_000], "ByUser", everythingOf(EVERYBODY))],
]);

/** The other schemas that every cluster begins with, by name. */
export const SUGGESTED_FLOW_SCHEMAS: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  [
    "probes",
    schemaOf(["exempt", 2], undefined, {
      subjects: EVERYBODY,
      nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }],
    }),
  ],
  [
    "system-leader-election",
    schemaOf(["leader-election", 100], "ByUser", {
      subjects: [...users(USERS.manager, USERS.scheduler), ...SYSTEM_ACCOUNTS],
      resourceRules: [{ ...LEASES, verbs: ["get", "create", "update"] }],
    }),
  ],
  [
    "system-node-high",
    schemaOf(["node-high", 400], "ByUser", {
      subjects: NODES,
      resourceRules: [{ ...ALL_RESOURCES, apiGroups: [""], resources: ["nodes", "nodes/status"] }, LEASES],
    }),
  ],
  ["system-nodes", schemaOf(["system", 500], "ByUser", everythingOf(NODES))],
  ["kube-controller-manager", schemaOf(["workload-high", 800], "ByNamespace", everythingOf(users(USERS.manager)))],
  ["kube-scheduler", schemaOf(["workload-high", 800], "ByNamespace", everythingOf(users(USERS.scheduler)))],
  ["kube-system-service-accounts", schemaOf(["workload-high", 900], "ByNamespace", everythingOf(SYSTEM_ACCOUNTS))],
  ["service-accounts", schemaOf(["workload-low", 9000], "ByUser", everythingOf(groups("system:serviceaccounts")))],
  ["global-default", schemaOf(["global-default", 9900], "ByUser", everythingOf(EVERYBODY))],
]);
