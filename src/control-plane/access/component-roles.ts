import { KUBELET_CLIENT_USER, PROXY_USER } from "../../api/user-names.ts";
import { type DefaultNamespaceRole, type DefaultRole, EVENTS_RULE, pathRule, READ, rule } from "./default-role.ts";
import { NODE_RULES } from "./node-rules.ts";

const AUTHENTICATION = "authentication.k8s.io";
const AUTHORIZATION = "authorization.k8s.io";
const CERTIFICATES = "certificates.k8s.io";
const LEASES = "coordination.k8s.io";
const DISCOVERY = "discovery.k8s.io";
const STORAGE = "storage.k8s.io";

const EVERYBODY = ["Group/system:authenticated", "Group/system:unauthenticated"];
const AUTHENTICATED = ["Group/system:authenticated"];
/** The paths at which clients discover the kinds. */
const DISCOVERY_PATHS = "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/";

/** The roles of Kubernetes' own components and of all users. */
export const COMPONENT_ROLES: readonly DefaultRole[] = [
  {
    name: "cluster-admin",
    rules: [rule("*", "*", "*"), pathRule("*", "*")],
    subjects: ["Group/system:masters"],
  },
  { name: "system:discovery", rules: [pathRule("get", DISCOVERY_PATHS)], subjects: AUTHENTICATED },
  {
    name: "system:public-info-viewer",
    rules: [pathRule("get", "/healthz /livez /readyz /version /version/")],
    subjects: EVERYBODY,
  },
  {
    name: "system:monitoring",
    rules: [
      pathRule("get", "/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz"),
      rule("get", "", "nodes/metrics"),
    ],
    subjects: ["Group/system:monitoring"],
  },
  {
    name: "system:basic-user",
    rules: [
      rule("create", AUTHORIZATION, "selfsubjectaccessreviews selfsubjectrulesreviews"),
      rule("create", AUTHENTICATION, "selfsubjectreviews"),
    ],
    subjects: AUTHENTICATED,
  },
  {
    name: "system:service-account-issuer-discovery",
    rules: [
      pathRule(
        "get",
        "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/",
      ),
    ],
    subjects: ["Group/system:serviceaccounts"],
  },
  {
    name: "system:cluster-trust-bundle-discovery",
    rules: [rule(READ, CERTIFICATES, "clustertrustbundles")],
    subjects: ["Group/system:serviceaccounts"],
  },
  {
    name: "system:heapster",
    rules: [rule(READ, "", "events namespaces nodes pods"), rule(READ, "extensions", "deployments")],
  },
  // This role is bound to no subject, because the node authorizer knows these rules. It is for clusters that run
  // without that authorizer.
  { name: "system:node", rules: NODE_RULES, subjects: [] },
  {
    name: "system:node-problem-detector",
    rules: [rule("get", "", "nodes"), rule("patch", "", "nodes/status"), EVENTS_RULE],
  },
  {
    name: "system:kubelet-api-admin",
    rules: [
      rule(READ, "", "nodes"),
      rule("proxy", "", "nodes"),
      rule("*", "", "nodes/configz nodes/healthz nodes/log nodes/metrics nodes/pods nodes/proxy nodes/stats"),
      rule("*", "", "nodes/checkpoint nodes/statusz"),
    ],
    subjects: [`User/${KUBELET_CLIENT_USER}`],
  },
  {
    name: "system:node-bootstrapper",
    rules: [rule("create get list watch", CERTIFICATES, "certificatesigningrequests")],
    subjects: ["Group/system:bootstrappers"],
  },
  {
    name: "system:auth-delegator",
    rules: [rule("create", AUTHENTICATION, "tokenreviews"), rule("create", AUTHORIZATION, "subjectaccessreviews")],
  },
  { name: "system:kube-aggregator", rules: [rule(READ, "", "endpoints services")] },
  {
    name: "system:kube-controller-manager",
    rules: [
      EVENTS_RULE,
      rule("create", LEASES, "leases"),
      rule("get update", LEASES, "leases", "kube-controller-manager"),
      rule("create", "", "secrets serviceaccounts"),
      rule("delete", "", "secrets"),
      rule("get", "", "configmaps namespaces secrets serviceaccounts"),
      rule("update", "", "secrets serviceaccounts"),
      rule("create", AUTHENTICATION, "tokenreviews"),
      rule("create", AUTHORIZATION, "subjectaccessreviews"),
      rule("list watch", "*", "*"),
      rule("create", "", "serviceaccounts/token"),
    ],
    subjects: ["User/system:kube-controller-manager"],
  },
  {
    name: "system:kube-dns",
    rules: [rule("list watch", "", "endpoints services")],
    subjects: ["ServiceAccount/kube-system/kube-dns"],
  },
  {
    name: "system:persistent-volume-provisioner",
    rules: [
      rule("create delete get list watch", "", "persistentvolumes"),
      rule("get list update watch", "", "persistentvolumeclaims"),
      rule(READ, STORAGE, "storageclasses"),
      rule("watch", "", "events"),
      EVENTS_RULE,
    ],
  },
  {
    name: "system:kube-scheduler",
    rules: [
      EVENTS_RULE,
      rule("create", LEASES, "leases"),
      rule("get list update watch", LEASES, "leases", "kube-scheduler"),
      rule("create delete deletecollection get list patch update watch", LEASES, "leasecandidates"),
      rule(READ, "", "nodes"),
      rule("delete get list watch", "", "pods"),
      rule("create", "", "bindings pods/binding"),
      rule("patch update", "", "pods/status"),
      rule(READ, "", "replicationcontrollers services"),
      rule(READ, "apps extensions", "replicasets"),
      rule(READ, "apps", "statefulsets"),
      rule(READ, "policy", "poddisruptionbudgets"),
      rule(READ, "", "persistentvolumeclaims persistentvolumes"),
      rule("create", AUTHENTICATION, "tokenreviews"),
      rule("create", AUTHORIZATION, "subjectaccessreviews"),
      rule(READ, STORAGE, "csinodes csidrivers csistoragecapacities volumeattachments"),
      rule(READ, "", "namespaces"),
      rule("get list patch update watch", "resource.k8s.io", "resourceclaims resourceclaims/status"),
      rule("create delete", "resource.k8s.io", "resourceclaims"),
      rule("patch update", "resource.k8s.io", "resourceclaims/binding"),
      rule("update", "", "pods/finalizers"),
      rule(READ, "resource.k8s.io", "deviceclasses resourceslices"),
    ],
    subjects: ["User/system:kube-scheduler"],
  },
  {
    name: "system:volume-scheduler",
    rules: [
      rule("get list patch update watch", "", "persistentvolumes"),
      rule(READ, STORAGE, "storageclasses"),
      rule("get list patch update watch", "", "persistentvolumeclaims"),
    ],
    subjects: ["User/system:kube-scheduler"],
  },
  {
    name: "system:node-proxier",
    rules: [
      rule("list watch", "", "endpoints services"),
      rule(READ, "", "nodes"),
      EVENTS_RULE,
      rule("list watch", DISCOVERY, "endpointslices"),
      rule("list watch", "networking.k8s.io", "servicecidrs"),
    ],
    subjects: [`User/${PROXY_USER}`],
  },
  {
    // The proxy keeps to network policies, for which other clusters have a program of their own.
    name: "system:nodelet-network-policies",
    rules: [rule("list watch", "", "namespaces pods"), rule("list watch", "networking.k8s.io", "networkpolicies")],
    subjects: [`User/${PROXY_USER}`],
  },
  {
    name: "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    rules: [rule("create", CERTIFICATES, "certificatesigningrequests/nodeclient")],
    subjects: ["Group/system:bootstrappers"],
  },
  {
    name: "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
    rules: [rule("create", CERTIFICATES, "certificatesigningrequests/selfnodeclient")],
    subjects: ["Group/system:nodes"],
  },
  ...[
    ["legacy-unknown-approver", "approve", "kubernetes.io/legacy-unknown"],
    ["kubelet-serving-approver", "approve", "kubernetes.io/kubelet-serving"],
    ["kube-apiserver-client-approver", "approve", "kubernetes.io/kube-apiserver-client"],
    ["kube-apiserver-client-kubelet-approver", "approve", "kubernetes.io/kube-apiserver-client-kubelet"],
  ].map(([name = "", verb = "", signer = ""]) => ({
    name: `system:certificates.k8s.io:${name}`,
    rules: [rule(verb, CERTIFICATES, "signers", signer)],
  })),
];

/** The role by which a component keeps other instances of itself from working at the same time. */
function leaderLock(component: string): DefaultNamespaceRole {
  const name = `system::leader-locking-${component}`;
  const rules = [rule("create get list update watch", LEASES, "leases leasecandidates")];
  const subjects = [`User/system:${component}`, `ServiceAccount/kube-system/${component}`];
  return { namespace: "kube-system", role: { name, rules }, bindings: [{ name, role: `Role/${name}`, subjects }] };
}

function controllerRole(
  namespace: string,
  controller: string,
  rules: DefaultNamespaceRole["role"]["rules"],
): DefaultNamespaceRole {
  const name = `system:controller:${controller}`;
  const subjects = [`ServiceAccount/kube-system/${controller}`];
  return { namespace, role: { name, rules }, bindings: [{ name, role: `Role/${name}`, subjects }] };
}

/** The roles within kube-system and kube-public. */
export const NAMESPACE_ROLES: readonly DefaultNamespaceRole[] = [
  {
    namespace: "kube-system",
    role: {
      name: "extension-apiserver-authentication-reader",
      rules: [rule(READ, "", "configmaps", "extension-apiserver-authentication")],
    },
    bindings: [
      {
        name: "system::extension-apiserver-authentication-reader",
        role: "Role/extension-apiserver-authentication-reader",
        subjects: ["User/system:kube-controller-manager", "User/system:kube-scheduler"],
      },
    ],
  },
  controllerRole("kube-system", "bootstrap-signer", [rule(READ, "", "secrets")]),
  controllerRole("kube-system", "cloud-provider", [rule("create get list watch", "", "configmaps")]),
  controllerRole("kube-system", "token-cleaner", [rule("delete get list watch", "", "secrets"), EVENTS_RULE]),
  leaderLock("kube-controller-manager"),
  leaderLock("kube-scheduler"),
  controllerRole("kube-public", "bootstrap-signer", [
    rule(READ, "", "configmaps"),
    rule("update", "", "configmaps", "cluster-info"),
    EVENTS_RULE,
  ]),
];
