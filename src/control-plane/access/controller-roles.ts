import type { PolicyRule } from "../../api/gen/types.ts";
import { type DefaultRole, EVENTS_RULE, READ, rule } from "./default-role.ts";

const APPS = "apps extensions";
const POD_RULE = rule("create delete list patch watch", "", "pods");
const CERTIFICATES = "certificates.k8s.io";
const DEVICES = "resource.k8s.io";
const STORAGE = "storage.k8s.io";
const SIGNERS =
  "kubernetes.io/kube-apiserver-client kubernetes.io/kube-apiserver-client-kubelet kubernetes.io/kubelet-serving kubernetes.io/legacy-unknown";

/**
 * The rules of upstream's controllers, each of which has an identity of its own, for a kube-controller-manager that
 * uses this API server.
 */
const RULES: Readonly<Record<string, readonly PolicyRule[]>> = {
  "attachdetach-controller": [
    rule("list watch", "", "persistentvolumeclaims persistentvolumes"),
    rule(READ, "", "nodes"),
    rule("patch update", "", "nodes/status"),
    rule("list watch", "", "pods"),
    EVENTS_RULE,
    rule("create delete get list watch", STORAGE, "volumeattachments"),
    rule(READ, STORAGE, "csidrivers"),
    rule(READ, STORAGE, "csinodes"),
  ],
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
    rule("update", "batch", "cronjobs/status"),
    rule("update", "batch", "cronjobs/finalizers"),
    rule("delete list watch", "", "pods"),
    EVENTS_RULE,
  ],
  "daemon-set-controller": [
    rule(READ, APPS, "daemonsets"),
    rule("update", APPS, "daemonsets/status"),
    rule("update", APPS, "daemonsets/finalizers"),
    rule("list watch", "", "nodes"),
    POD_RULE,
    rule("create", "", "pods/binding"),
    rule("create delete get list patch update watch", "apps", "controllerrevisions"),
    EVENTS_RULE,
  ],
  "deployment-controller": [
    rule("get list update watch", APPS, "deployments"),
    rule("update", APPS, "deployments/status"),
    rule("update", APPS, "deployments/finalizers"),
    rule("create delete get list patch update watch", APPS, "replicasets"),
    rule("get list update watch", "", "pods"),
    EVENTS_RULE,
  ],
  "device-taint-eviction-controller": [
    rule("delete get list watch", "", "pods"),
    rule("patch update", "", "pods/status"),
    rule(READ, DEVICES, "resourceclaims"),
    rule(READ, DEVICES, "resourceslices"),
    rule(READ, DEVICES, "deviceclasses"),
    EVENTS_RULE,
  ],
  "disruption-controller": [
    rule(READ, APPS, "deployments"),
    rule(READ, APPS, "replicasets"),
    rule(READ, "", "replicationcontrollers"),
    rule(READ, "policy", "poddisruptionbudgets"),
    rule(READ, "apps", "statefulsets"),
    rule("update", "policy", "poddisruptionbudgets/status"),
    rule("patch update", "", "pods/status"),
    rule("get", "*", "*/scale"),
    EVENTS_RULE,
  ],
  "endpoint-controller": [
    rule(READ, "", "pods services"),
    rule("create delete get list update watch", "", "endpoints"),
    rule("create", "", "endpoints/restricted"),
    EVENTS_RULE,
  ],
  "endpointslice-controller": [
    rule(READ, "", "nodes pods services"),
    rule("update", "", "services/finalizers"),
    rule("create delete get list update watch", "discovery.k8s.io", "endpointslices"),
    rule("create", "discovery.k8s.io", "endpointslices/restricted"),
    EVENTS_RULE,
  ],
  "endpointslicemirroring-controller": [
    rule(READ, "", "endpoints services"),
    rule("update", "", "services/finalizers"),
    rule("update", "", "endpoints/finalizers"),
    rule("create delete get list update watch", "discovery.k8s.io", "endpointslices"),
    rule("create", "discovery.k8s.io", "endpointslices/restricted"),
    EVENTS_RULE,
  ],
  "ephemeral-volume-controller": [
    rule(READ, "", "pods"),
    rule("update", "", "pods/finalizers"),
    rule("create get list watch", "", "persistentvolumeclaims"),
    EVENTS_RULE,
  ],
  "expand-controller": [
    rule("get list patch update watch", "", "persistentvolumes"),
    rule("patch update", "", "persistentvolumeclaims/status"),
    rule(READ, "", "persistentvolumeclaims"),
    EVENTS_RULE,
  ],
  "generic-garbage-collector": [rule("delete get list patch update watch", "*", "*"), EVENTS_RULE],
  "horizontal-pod-autoscaler": [
    rule(READ, "autoscaling", "horizontalpodautoscalers"),
    rule("update", "autoscaling", "horizontalpodautoscalers/status"),
    rule("get update", "*", "*/scale"),
    rule("list watch", "", "pods"),
    rule("list watch", "metrics.k8s.io", "pods"),
    rule(READ, "custom.metrics.k8s.io", "*"),
    rule(READ, "external.metrics.k8s.io", "*"),
    EVENTS_RULE,
  ],
  "job-controller": [
    rule("get list patch update watch", "batch", "jobs"),
    rule("update", "batch", "jobs/status"),
    rule("update", "batch", "jobs/finalizers"),
    POD_RULE,
    EVENTS_RULE,
  ],
  "legacy-service-account-token-cleaner": [
    rule("get", "", "configmaps", "kube-apiserver-legacy-service-account-token-tracking"),
    rule("delete patch", "", "secrets"),
  ],
  "namespace-controller": [
    rule("delete get list watch", "", "namespaces"),
    rule("update", "", "namespaces/finalize namespaces/status"),
    rule("delete deletecollection get list watch", "*", "*"),
  ],
  "node-controller": [
    rule("delete get list patch update watch", "", "nodes"),
    rule("patch update", "", "nodes/status"),
    rule("patch update", "", "pods/status"),
    rule("delete get list watch", "", "pods"),
    EVENTS_RULE,
  ],
  "persistent-volume-binder": [
    rule("create delete get list update watch", "", "persistentvolumes"),
    rule("update", "", "persistentvolumes/status"),
    rule("get list update watch", "", "persistentvolumeclaims"),
    rule("update", "", "persistentvolumeclaims/status"),
    rule("create delete get list watch", "", "pods"),
    rule(READ, STORAGE, "storageclasses"),
    rule("list watch", "", "nodes"),
    EVENTS_RULE,
    rule("watch", "", "events"),
  ],
  "pod-garbage-collector": [
    rule("delete list watch", "", "pods"),
    rule(READ, "", "nodes"),
    rule("patch", "", "pods/status"),
  ],
  podcertificaterequestcleaner: [rule("delete get list watch", CERTIFICATES, "podcertificaterequests")],
  "pv-protection-controller": [rule("get list update watch", "", "persistentvolumes"), EVENTS_RULE],
  "pvc-protection-controller": [
    rule("get list update watch", "", "persistentvolumeclaims"),
    rule("update", "", "persistentvolumeclaims/status"),
    rule(READ, "", "pods"),
    EVENTS_RULE,
  ],
  "replicaset-controller": [
    rule("get list update watch", APPS, "replicasets"),
    rule("update", APPS, "replicasets/status"),
    rule("update", APPS, "replicasets/finalizers"),
    POD_RULE,
    EVENTS_RULE,
  ],
  "replication-controller": [
    rule("get list update watch", "", "replicationcontrollers"),
    rule("update", "", "replicationcontrollers/status"),
    rule("update", "", "replicationcontrollers/finalizers"),
    POD_RULE,
    EVENTS_RULE,
  ],
  "resource-claim-controller": [
    rule(READ, "", "pods"),
    rule("update", "", "pods/finalizers"),
    rule("create delete get list watch", DEVICES, "resourceclaims"),
    rule("patch update", DEVICES, "resourceclaims resourceclaims/status"),
    rule("patch update", "", "pods/status"),
    EVENTS_RULE,
    rule("patch update", DEVICES, "resourceclaims/binding"),
  ],
  "resourcequota-controller": [rule("list watch", "*", "*"), rule("update", "", "resourcequotas/status"), EVENTS_RULE],
  "root-ca-cert-publisher": [rule("create update", "", "configmaps"), EVENTS_RULE],
  "route-controller": [rule("list watch", "", "nodes"), rule("patch", "", "nodes/status"), EVENTS_RULE],
  "selinux-warning-controller": [
    EVENTS_RULE,
    rule(READ, "", "persistentvolumes"),
    rule(READ, "", "persistentvolumeclaims"),
    rule(READ, "", "pods"),
    rule(READ, STORAGE, "csidrivers"),
  ],
  "service-account-controller": [rule("create", "", "serviceaccounts"), EVENTS_RULE],
  "service-cidrs-controller": [
    rule("get list patch update watch", "networking.k8s.io", "servicecidrs"),
    rule("patch update", "networking.k8s.io", "servicecidrs/finalizers"),
    rule("patch update", "networking.k8s.io", "servicecidrs/status"),
    rule(READ, "networking.k8s.io", "ipaddresses"),
    EVENTS_RULE,
  ],
  "service-controller": [
    rule(READ, "", "services"),
    rule("patch update", "", "services/status"),
    rule("list watch", "", "nodes"),
    EVENTS_RULE,
  ],
  "statefulset-controller": [
    rule("list watch", "", "pods"),
    rule(READ, "apps", "statefulsets"),
    rule("update", "apps", "statefulsets/status"),
    rule("update", "apps", "statefulsets/finalizers"),
    rule("create delete get patch update", "", "pods"),
    rule("create delete get list patch update watch", "apps", "controllerrevisions"),
    rule("create get list watch", "", "persistentvolumeclaims"),
    rule("delete update", "", "persistentvolumeclaims"),
    rule("update", "", "pods/finalizers"),
    EVENTS_RULE,
  ],
  "ttl-after-finished-controller": [rule("delete get list watch", "batch", "jobs"), EVENTS_RULE],
  "ttl-controller": [rule("list patch update watch", "", "nodes"), EVENTS_RULE],
  "validatingadmissionpolicy-status-controller": [
    rule(READ, "admissionregistration.k8s.io", "validatingadmissionpolicies"),
    rule("get patch update", "admissionregistration.k8s.io", "validatingadmissionpolicies/status"),
    EVENTS_RULE,
  ],
  "volumeattributesclass-protection-controller": [
    rule(READ, "", "persistentvolumeclaims"),
    rule(READ, "", "persistentvolumes"),
    rule("get list update watch", STORAGE, "volumeattributesclasses"),
    EVENTS_RULE,
  ],
};

/** A role with its binding for each controller, `system:controller:<name>`. */
export const CONTROLLER_ROLES: readonly DefaultRole[] = Object.entries(RULES).map(([name, rules]) => ({
  name: `system:controller:${name}`,
  rules,
  subjects: [`ServiceAccount/kube-system/${name}`],
}));
