import { type DefaultRole, READ, rule, WRITE } from "./default-role.ts";

const aggregateTo = (role: string) => `rbac.authorization.k8s.io/aggregate-to-${role}`;
const labelled = (role: string) => ({ [aggregateTo(role)]: "true" });

const WORKLOADS =
  "daemonsets deployments deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale";
const STATUS_OF_WORKLOADS = "daemonsets/status deployments/status replicasets/status statefulsets/status";
const EXTENSIONS =
  "daemonsets deployments deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale";

const VIEW_RULES = [
  rule(
    READ,
    "",
    "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status",
  ),
  rule(
    READ,
    "",
    "bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status",
  ),
  rule(READ, "", "namespaces"),
  rule(READ, " events.k8s.io", "events"),
  rule(READ, "discovery.k8s.io", "endpointslices"),
  rule(READ, "apps", `controllerrevisions ${WORKLOADS} ${STATUS_OF_WORKLOADS}`),
  rule(READ, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
  rule(READ, "batch", "cronjobs cronjobs/status jobs jobs/status"),
  rule(READ, "extensions", `${EXTENSIONS} daemonsets/status deployments/status ingresses/status replicasets/status`),
  rule(READ, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
  rule(READ, "networking.k8s.io", "ingresses ingresses/status networkpolicies"),
  rule(READ, "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates"),
];

/**
 * The rules of an editor. A viewer reads no secrets and so cannot act as another user; an editor can, by a pod of any
 * service account.
 */
const EDIT_RULES = [
  rule(READ, "", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"),
  rule("impersonate", "", "serviceaccounts"),
  rule(WRITE, "", "pods pods/attach pods/exec pods/portforward pods/proxy"),
  rule("create", "", "pods/eviction"),
  rule(
    WRITE,
    "",
    "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy",
  ),
  rule("create", "", "serviceaccounts/token"),
  rule(WRITE, " events.k8s.io", "events"),
  rule(WRITE, "apps", `${WORKLOADS} deployments/rollback`),
  rule(WRITE, "autoscaling", "horizontalpodautoscalers"),
  rule(WRITE, "batch", "cronjobs jobs"),
  rule(WRITE, "extensions", `${EXTENSIONS} deployments/rollback`),
  rule(WRITE, "policy", "poddisruptionbudgets"),
  rule(WRITE, "networking.k8s.io", "ingresses networkpolicies"),
  rule(`${READ} ${WRITE}`, "coordination.k8s.io", "leases"),
  rule(WRITE, "resource.k8s.io", "resourceclaims resourceclaimtemplates"),
];

const ADMIN_RULES = [
  rule("create", "authorization.k8s.io", "localsubjectaccessreviews"),
  rule(`${READ} ${WRITE}`, "rbac.authorization.k8s.io", "rolebindings roles"),
];

/** The role that comes with metrics-server. */
const METRICS_READER: DefaultRole = {
  name: "system:aggregated-metrics-reader",
  labels: { ...labelled("view"), ...labelled("edit"), ...labelled("admin") },
  rules: [rule(READ, "metrics.k8s.io", "pods nodes")],
};

/** The roles for people, each after the roles that it combines. */
export const USER_ROLES: readonly DefaultRole[] = [
  METRICS_READER,
  { name: "system:aggregate-to-view", labels: labelled("view"), rules: VIEW_RULES },
  { name: "view", labels: labelled("edit"), aggregates: [aggregateTo("view")] },
  { name: "system:aggregate-to-edit", labels: labelled("edit"), rules: EDIT_RULES },
  { name: "edit", labels: labelled("admin"), aggregates: [aggregateTo("edit")] },
  { name: "system:aggregate-to-admin", labels: labelled("admin"), rules: ADMIN_RULES },
  { name: "admin", aggregates: [aggregateTo("admin")] },
];
