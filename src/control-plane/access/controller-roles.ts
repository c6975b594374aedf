import type { PolicyRule } from "../../api/gen/types.ts";
import { type DefaultRole, EVENTS_RULE, READ, rule } from "./default-role.ts";

const APPS = "apps extensions";
const POD_RULE = rule("create delete list patch watch", "", "pods");
const CERTIFICATES = "certificates.k8s.io";
const SIGNERS =
  "kubernetes.io/kube-apiserver-client kubernetes.io/kube-apiserver-client-kubelet kubernetes.io/kubelet-serving kubernetes.io/legacy-unknown";

/** Upstream's controllers, each with an identity of its own, for a kube-controller-manager that is pointed at us. */
const RULES: Readonly<Record<string, readonly PolicyRule[]>> = {
  "certificate-controller": [
    rule("delete get list watch", CERTIFICATES, "certificatesigningrequests"),
    rule("update", CERTIFICATES, "certificatesigningrequests/approval certificatesigningrequests/status"),
    rule("approve", CERTIFICATES, "signers", "kubernetes.io/kube-apiserver-client-kubelet"),
    rule("sign", CERTIFICATES, "signers", SIGNERS),
    rule("create", "authorization.k8s.io", "subjectaccessreviews"),
    EVENTS_RULE,
  ],
  "clusterrole-aggregation-controller": [
    rule("escalate get list patch update watch", "rbac.authorization.k8s.io", "clusterroles"),
  ],
  "cronjob-controller": [
    rule("get list update watch", "batch", "cronjobs"),
    rule("create delete get list patch update watch", "batch", "jobs"),
    rule("update", "batch", "cronjobs/finalizers cronjobs/status"),
    rule("delete list", "", "pods"),
    EVENTS_RULE,
  ],
  "daemon-set-controller": [
    rule(READ, APPS, "daemonsets"),
    rule("update", APPS, "daemonsets/finalizers daemonsets/status"),
    rule("list watch", "", "nodes"),
    POD_RULE,
    rule("create", "", "pods/binding"),
    rule("create delete get list patch update watch", "apps", "controllerrevisions"),
    EVENTS_RULE,
  ],
  "deployment-controller": [
    rule("get list update watch", APPS, "deployments"),
    rule("update", APPS, "deployments/finalizers deployments/status"),
    rule("create delete get list patch update watch", APPS, "replicasets"),
    rule("get list update watch", "", "pods"),
    EVENTS_RULE,
  ],
  "disruption-controller": [
    rule(READ, APPS, "deployments replicasets"),
    rule(READ, "", "replicationcontrollers"),
    rule(READ, "policy", "poddisruptionbudgets"),
    rule(READ, "apps", "statefulsets"),
    rule("update", "policy", "poddisruptionbudgets/status"),
    rule("get list patch watch", "", "pods"),
    rule("patch update", "", "pods/status"),
    rule("get", "*", "*/scale"),
    EVENTS_RULE,
  ],
  "endpoint-controller": [
    rule(READ, "", "pods services"),
    rule("create delete get list update", "", "endpoints"),
    rule("create", "", "endpoints/restricted"),
    EVENTS_RULE,
  ],
  "endpointslice-controller": [
    rule(READ, "", "nodes pods services"),
    rule("update", "", "services/finalizers"),
    rule("create delete get list update", "discovery.k8s.io", "endpointslices"),
    rule("create", "discovery.k8s.io", "endpointslices/restricted"),
    EVENTS_RULE,
  ],
  "generic-garbage-collector": [rule("delete get list patch update watch", "*", "*"), EVENTS_RULE],
  "job-controller": [
    rule("get list patch update watch", "batch", "jobs"),
    rule("update", "batch", "jobs/finalizers jobs/status"),
    POD_RULE,
    EVENTS_RULE,
  ],
  "namespace-controller": [
    rule("delete get list watch", "", "namespaces"),
    rule("update", "", "namespaces/finalize namespaces/status"),
    rule("delete deletecollection get list", "*", "*"),
  ],
  "node-controller": [
    rule("delete get list patch update", "", "nodes"),
    rule("patch update", "", "nodes/status"),
    rule("patch update", "", "pods/status"),
    rule("delete get list", "", "pods"),
    EVENTS_RULE,
  ],
  "pod-garbage-collector": [
    rule("delete list watch", "", "pods"),
    rule("get list", "", "nodes"),
    rule("patch update", "", "pods/status"),
  ],
  "replicaset-controller": [
    rule("get list update watch", APPS, "replicasets"),
    rule("update", APPS, "replicasets/finalizers replicasets/status"),
    POD_RULE,
    EVENTS_RULE,
  ],
  "replication-controller": [
    rule("get list update watch", "", "replicationcontrollers"),
    rule("update", "", "replicationcontrollers/finalizers replicationcontrollers/status"),
    POD_RULE,
    EVENTS_RULE,
  ],
  "root-ca-cert-publisher": [rule("create update", "", "configmaps"), EVENTS_RULE],
  "service-account-controller": [rule("create", "", "serviceaccounts"), EVENTS_RULE],
  "statefulset-controller": [
    rule("list watch", "", "pods"),
    rule(READ, "apps", "statefulsets"),
    rule("update", "apps", "statefulsets/finalizers statefulsets/status"),
    rule("create delete get patch update", "", "pods"),
    rule("create delete get list patch update watch", "apps", "controllerrevisions"),
    rule("create delete get list update watch", "", "persistentvolumeclaims"),
    EVENTS_RULE,
  ],
  "ttl-after-finished-controller": [rule("delete get list watch", "batch", "jobs"), EVENTS_RULE],
  "ttl-controller": [rule("list patch update watch", "", "nodes"), EVENTS_RULE],
};

/** A role and its binding for each of them, `system:controller:<name>`. */
export const CONTROLLER_ROLES: readonly DefaultRole[] = Object.entries(RULES).map(([name, rules]) => ({
  name: `system:controller:${name}`,
  rules,
  subjects: [`ServiceAccount/kube-system/${name}`],
}));
