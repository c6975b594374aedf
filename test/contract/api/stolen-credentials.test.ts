import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster, type TestCluster } from "../../../src/testing/start-cluster.ts";
import { type ApiClient, type CallOptions, type Credentials, createApiClient, type PatchType } from "./client.ts";
import { credentialsOf } from "./credentials-of.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const CORE = "/api/v1/namespaces/default";
const PODS = `${CORE}/pods`;
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const REVIEWS = "/apis/authorization.k8s.io/v1";
const BOOTSTRAP_TOKEN = { id: "abcdef", secret: "0123456789abcdef" };

const MIRROR = { "kubernetes.io/config.mirror": "hash", "kubernetes.io/config.hash": "hash" };
const CONTAINERS = [{ name: "main", image: "example.com/main:1" }];

/** What an attacker tries. The status is what a server answers that holds; 403 where none is given. */
interface Attempt {
  readonly what: string;
  readonly ask: (client: ApiClient, world: World) => Promise<{ status: number }>;
  readonly status?: number;
}

/** What the attacker knows. */
interface World {
  /** The UIDs of the nodes and pods, by their names. */
  readonly uids: Readonly<Record<string, string>>;
}

const get = (path: string, options?: CallOptions): Attempt["ask"] => {
  return async (client) => await client.json("GET", path, undefined, options);
};
const select = (path: string, fieldSelector: string) => get(path, { query: { fieldSelector } });
const post = (path: string, body: object): Attempt["ask"] => {
  return async (client) => await client.json("POST", path, body);
};
const remove =
  (path: string): Attempt["ask"] =>
  async (client) =>
    await client.json("DELETE", path);
const patch = (path: string, body: unknown, type: PatchType = "merge"): Attempt["ask"] => {
  return async (client) => await client.patch(type, path, body);
};
const impersonating = (headers: Record<string, string>) => get(PODS, { headers });

/** A mirror pod as the node `a` may make it, with these changes. */
const mirror = (spec: object = {}, metadata: object = {}): Attempt["ask"] => {
  return async (client, { uids }) => {
    const owner = { apiVersion: "v1", kind: "Node", name: "a", uid: uids["a"], controller: true };
    return await client.json("POST", PODS, {
      metadata: { name: "static-a", annotations: MIRROR, ownerReferences: [owner], ...metadata },
      spec: { nodeName: "a", containers: CONTAINERS, ...spec },
    });
  };
};

const token = (account: string, boundObjectRef?: (uids: World["uids"]) => object): Attempt["ask"] => {
  return async (client, { uids }) => {
    const spec = { audiences: [], ...(boundObjectRef && { boundObjectRef: boundObjectRef(uids) }) };
    return await client.json("POST", `${CORE}/serviceaccounts/${account}/token`, { spec });
  };
};
const ofPod = (name: string) => (uids: World["uids"]) => ({ apiVersion: "v1", kind: "Pod", name, uid: uids[name] });

const ownerOfNode = { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "none", uid: "none" }] };

const AS_NODE: readonly Attempt[] = [
  { what: "reads the secret of its own pod", ask: get(`${CORE}/secrets/mine`), status: 200 },
  { what: "reads the secret of another node's pod", ask: get(`${CORE}/secrets/others`) },
  {
    what: "reads the secret of another node's pod by a selector",
    ask: select(`${CORE}/secrets`, "metadata.name=others"),
  },
  {
    what: "reads a secret by the name of another one that it may read",
    ask: select(`${CORE}/secrets`, "metadata.name!=mine"),
  },
  { what: "reads all secrets", ask: get("/api/v1/secrets") },
  { what: "reads all config maps", ask: get(`${CORE}/configmaps`) },
  { what: "reads another node's pod", ask: get(`${PODS}/others`) },
  { what: "reads its own pods", ask: select("/api/v1/pods", "spec.nodeName=a"), status: 200 },
  { what: "reads all pods", ask: get("/api/v1/pods") },
  { what: "reads another node's pods", ask: select("/api/v1/pods", "spec.nodeName=b") },
  {
    what: "reads all pods by a selector that only looks like one of its own",
    ask: select("/api/v1/pods", "metadata.name!=x\\,spec.nodeName=a"),
  },
  { what: "reads another node", ask: get("/api/v1/nodes/b") },
  { what: "reads all nodes", ask: get("/api/v1/nodes") },
  { what: "reads namespaces", ask: get("/api/v1/namespaces") },
  { what: "reads roles", ask: get(`${RBAC}/clusterroles`) },
  { what: "reads a volume that no pod of its own uses", ask: get("/api/v1/persistentvolumes/others") },
  { what: "writes a secret", ask: patch(`${CORE}/secrets/mine`, { data: {} }) },
  { what: "writes a config map", ask: patch(`${CORE}/configmaps/kube-root-ca.crt`, { data: {} }) },
  { what: "writes endpoints", ask: post(`${CORE}/endpoints`, { metadata: { name: "x" } }) },

  { what: "changes its own pod's image", ask: patch(`${PODS}/mine`, { spec: { containers: CONTAINERS } }) },
  { what: "adds a container to its own pod", ask: patch(`${PODS}/mine/ephemeralcontainers`, { spec: {} }) },
  { what: "runs a command in its own pod", ask: get(`${PODS}/mine/exec?command=id`) },
  { what: "binds a pod to itself", ask: post(`${PODS}/loose/binding`, { target: { kind: "Node", name: "a" } }) },
  {
    what: "writes the status of another node's pod",
    ask: patch(`${PODS}/others/status`, { status: { phase: "Failed" } }),
  },
  {
    what: "writes the labels of its own pod with its status",
    ask: patch(`${PODS}/mine/status`, { metadata: { labels: { a: "b" } } }),
  },
  { what: "deletes another node's pod", ask: remove(`${PODS}/others`) },
  { what: "deletes all pods", ask: remove(PODS) },
  { what: "evicts another node's pod", ask: post(`${PODS}/others/eviction`, { metadata: { name: "others" } }) },

  { what: "makes a mirror pod", ask: mirror(), status: 201 },
  {
    what: "takes the mark of a mirror pod away",
    ask: patch(`${PODS}/static-a/status`, { metadata: { annotations: { "kubernetes.io/config.mirror": null } } }),
    status: 422,
  },
  { what: "makes a pod that is no mirror pod", ask: mirror({}, { annotations: {} }) },
  { what: "makes a mirror pod of another node", ask: mirror({ nodeName: "b" }) },
  { what: "makes a mirror pod without an owner", ask: mirror({}, { ownerReferences: [] }) },
  {
    what: "makes a mirror pod that uses a secret (CVE-2025-4563)",
    ask: mirror({ volumes: [{ name: "v", secret: { secretName: "others" } }] }),
  },
  {
    what: "makes a mirror pod that uses a pull secret (CVE-2025-4563)",
    ask: mirror({ imagePullSecrets: [{ name: "others" }] }),
  },
  {
    what: "makes a mirror pod that uses a config map (CVE-2025-4563)",
    ask: mirror({ volumes: [{ name: "v", configMap: { name: "x" } }] }),
  },
  { what: "makes a mirror pod of a service account (CVE-2025-4563)", ask: mirror({ serviceAccountName: "builder" }) },
  {
    what: "makes a mirror pod that uses a device claim (CVE-2025-4563)",
    ask: mirror({ resourceClaims: [{ name: "c", resourceClaimName: "x" }] }),
  },
  {
    what: "makes a mirror pod that uses a volume claim",
    ask: mirror({ volumes: [{ name: "v", persistentVolumeClaim: { claimName: "x" } }] }),
  },

  { what: "gets a token for its own pod", ask: token("default", ofPod("mine")), status: 201 },
  { what: "gets a token for another node's pod", ask: token("default", ofPod("others")) },
  { what: "gets a token of an account that its pod does not run as", ask: token("builder", ofPod("mine")) },
  { what: "gets a token that is bound to no pod", ask: token("default") },
  {
    what: "gets a token that is bound to itself",
    ask: token("default", (uids) => ({ apiVersion: "v1", kind: "Node", name: "a", uid: uids["a"] })),
  },
  {
    what: "gets a token for a pod of another UID",
    ask: token("default", () => ({ apiVersion: "v1", kind: "Pod", name: "mine", uid: "other" })),
  },

  { what: "writes another node's status", ask: patch("/api/v1/nodes/b/status", { status: { phase: "x" } }) },
  { what: "writes another node", ask: patch("/api/v1/nodes/b", { spec: { unschedulable: true } }) },
  { what: "makes another node", ask: post("/api/v1/nodes", { metadata: { name: "c" } }) },
  { what: "deletes itself", ask: remove("/api/v1/nodes/a") },
  { what: "deletes itself by an owner (CVE-2025-5187)", ask: patch("/api/v1/nodes/a", { metadata: ownerOfNode }) },
  {
    what: "deletes itself by an owner with its status (CVE-2025-5187)",
    ask: patch("/api/v1/nodes/a/status", { metadata: ownerOfNode }),
  },
  { what: "takes its taints away", ask: patch("/api/v1/nodes/a", { spec: { taints: [] } }) },
  {
    what: "gives itself a label of restricted nodes",
    ask: patch("/api/v1/nodes/a", { metadata: { labels: { "node-restriction.kubernetes.io/x": "y" } } }),
  },
  {
    what: "gives itself a label of restricted nodes with its status",
    ask: patch("/api/v1/nodes/a/status", { metadata: { labels: { "node-restriction.kubernetes.io/x": "y" } } }),
  },
  {
    what: "gives itself a role",
    ask: patch("/api/v1/nodes/a", { metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } } }),
  },
  { what: "keeps another node alive", ask: patch(`${LEASES}/b`, { spec: { holderIdentity: "b" } }) },
  { what: "makes another node's lease", ask: post(LEASES, { metadata: { name: "b" } }) },
  {
    what: "makes another node's lease by applying it",
    ask: patch(`${LEASES}/b?fieldManager=x`, { apiVersion: "coordination.k8s.io/v1", kind: "Lease" }, "apply"),
  },
  {
    what: "takes a lock of the scheduler",
    ask: post("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", { metadata: { name: "kube-scheduler" } }),
  },
  {
    what: "writes another node's CSI drivers",
    ask: post("/apis/storage.k8s.io/v1/csinodes", { metadata: { name: "b" }, spec: { drivers: [] } }),
  },
  { what: "uses its own API through the API server", ask: get("/api/v1/nodes/a/proxy/pods") },
  { what: "uses another node's API through the API server", ask: get("/api/v1/nodes/b/proxy/pods") },

  { what: "approves certificates", ask: patch(`${REQUESTS}/x/approval`, { status: {} }) },
  {
    what: "makes itself administrator",
    ask: post(`${RBAC}/clusterrolebindings`, {
      metadata: { name: "x" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    }),
  },
  {
    what: "acts as another node",
    ask: impersonating({ "impersonate-user": "system:node:b", "impersonate-group": "system:nodes" }),
  },
  {
    what: "acts as an administrator",
    ask: impersonating({ "impersonate-user": "x", "impersonate-group": "system:masters" }),
  },
  {
    what: "acts as itself with another UID",
    ask: impersonating({ "impersonate-user": "system:node:a", "impersonate-uid": "0" }),
  },
  {
    what: "acts as itself with more words",
    ask: impersonating({ "impersonate-user": "system:node:a", "impersonate-extra-scopes": "all" }),
  },
];

const binding = (name: string, roleRef: object, kind = "clusterrolebindings") => {
  const path = kind === "clusterrolebindings" ? `${RBAC}/${kind}` : `${RBAC}/namespaces/default/${kind}`;
  const subjects = [{ kind: "ServiceAccount", name: "editor", namespace: "default" }];
  return post(path, { metadata: { name }, roleRef: { apiGroup: "rbac.authorization.k8s.io", ...roleRef }, subjects });
};
const EVERYTHING = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
const SECRETS = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];

/** An account that may write roles and bindings, and read pods. */
const AS_EDITOR: readonly Attempt[] = [
  { what: "reads what it may", ask: get("/api/v1/pods"), status: 200 },
  {
    what: "makes a role of what it may",
    ask: post(`${RBAC}/clusterroles`, {
      metadata: { name: "ok" },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    }),
    status: 201,
  },
  {
    what: "makes a role of everything",
    ask: post(`${RBAC}/clusterroles`, { metadata: { name: "all" }, rules: EVERYTHING }),
  },
  {
    what: "makes a role of everything by applying it",
    ask: patch(
      `${RBAC}/clusterroles/all?fieldManager=x`,
      { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", rules: EVERYTHING },
      "apply",
    ),
  },
  { what: "adds to its own role", ask: patch(`${RBAC}/clusterroles/editor`, { rules: SECRETS }) },
  {
    what: "adds to its own role by a JSON patch",
    ask: patch(`${RBAC}/clusterroles/editor`, [{ op: "add", path: "/rules/-", value: SECRETS[0] }], "json"),
  },
  {
    what: "adds to everybody's view",
    ask: post(`${RBAC}/clusterroles`, {
      metadata: { name: "more", labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } },
      rules: SECRETS,
    }),
  },
  {
    what: "collects the rules of all roles",
    ask: post(`${RBAC}/clusterroles`, {
      metadata: { name: "sum" },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: {} }] },
    }),
  },
  {
    what: "makes its own role collect",
    ask: patch(`${RBAC}/clusterroles/editor`, { aggregationRule: { clusterRoleSelectors: [{}] } }),
  },
  {
    what: "makes a role in a namespace",
    ask: post(`${RBAC}/namespaces/default/roles`, { metadata: { name: "s" }, rules: SECRETS }),
  },
  {
    what: "lets itself impersonate",
    ask: post(`${RBAC}/clusterroles`, {
      metadata: { name: "imp" },
      rules: [{ apiGroups: [""], resources: ["users"], verbs: ["impersonate"] }],
    }),
  },
  {
    what: "lets itself bind",
    ask: post(`${RBAC}/clusterroles`, {
      metadata: { name: "bind" },
      rules: [{ apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: ["bind", "escalate"] }],
    }),
  },
  {
    what: "lets itself see paths",
    ask: post(`${RBAC}/clusterroles`, {
      metadata: { name: "paths" },
      rules: [{ nonResourceURLs: ["*"], verbs: ["*"] }],
    }),
  },
  { what: "binds itself to cluster-admin", ask: binding("up", { kind: "ClusterRole", name: "cluster-admin" }) },
  {
    what: "binds itself to admin in a namespace",
    ask: binding("up", { kind: "ClusterRole", name: "admin" }, "rolebindings"),
  },
  {
    what: "joins the administrators",
    ask: patch(`${RBAC}/clusterrolebindings/cluster-admin`, {
      subjects: [{ kind: "ServiceAccount", name: "editor", namespace: "default" }],
    }),
  },
  {
    what: "binds itself to a role that does not exist yet",
    ask: binding("later", { kind: "ClusterRole", name: "later" }),
    status: 404,
  },
  { what: "reads secrets", ask: get(`${CORE}/secrets`) },
  { what: "gets another account's token", ask: token("builder") },
  {
    what: "asks what others may",
    ask: post(`${REVIEWS}/subjectaccessreviews`, {
      spec: { user: "x", nonResourceAttributes: { path: "/", verb: "get" } },
    }),
  },
  {
    what: "asks what it may itself",
    ask: post(`${REVIEWS}/selfsubjectaccessreviews`, { spec: { nonResourceAttributes: { path: "/", verb: "get" } } }),
    status: 201,
  },
  { what: "asks whose a token is", ask: post("/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: "x" } }) },
  {
    what: "acts as an administrator",
    ask: impersonating({ "impersonate-user": "x", "impersonate-group": "system:masters" }),
  },
  {
    what: "acts as another account",
    ask: impersonating({ "impersonate-user": "system:serviceaccount:kube-system:generic-garbage-collector" }),
  },
];

const AS_NEW_NODE: readonly Attempt[] = [
  { what: "reads who it is", ask: post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}), status: 201 },
  { what: "reads requests for certificates", ask: get(REQUESTS), status: 200 },
  { what: "reads nodes", ask: get("/api/v1/nodes") },
  { what: "makes a node", ask: post("/api/v1/nodes", { metadata: { name: "c" } }) },
  { what: "reads secrets", ask: get("/api/v1/namespaces/kube-system/secrets") },
  {
    what: "reads its own token",
    ask: get(`/api/v1/namespaces/kube-system/secrets/bootstrap-token-${BOOTSTRAP_TOKEN.id}`),
  },
  { what: "reads pods", ask: get("/api/v1/pods") },
  { what: "makes a pod", ask: mirror() },
  { what: "gets an account's token", ask: token("default") },
  { what: "approves its request", ask: patch(`${REQUESTS}/x/approval`, { status: {} }) },
  {
    what: "acts as a node",
    ask: impersonating({ "impersonate-user": "system:node:a", "impersonate-group": "system:nodes" }),
  },
];

describe("what a stolen credential is worth", () => {
  let cluster: TestCluster;
  let admin: ApiClient;
  let world: World;
  const clients: Partial<Record<"node" | "editor" | "bootstrap", ApiClient>> = {};

  beforeAll(async () => {
    cluster = await startCluster();
    const access = credentialsOf(cluster.kubeconfig);
    admin = createApiClient(access);
    world = { uids: await fillCluster(admin) };
    const { certificatePem: _certificate, keyPem: _key, ...server } = access;
    const withToken = (text: string): Credentials => ({ ...server, token: text });
    const { kubeconfig } = await cluster.addUser("system:node:a", ["system:nodes"]);
    clients.node = createApiClient(credentialsOf(kubeconfig));
    const { status } = await admin.object("POST", `${CORE}/serviceaccounts/editor/token`, { spec: {} });
    clients.editor = createApiClient(withToken(textIn(status, "token")));
    clients.bootstrap = createApiClient(withToken(`${BOOTSTRAP_TOKEN.id}.${BOOTSTRAP_TOKEN.secret}`));
  });
  afterAll(async () => {
    for (const client of [admin, ...Object.values(clients)]) client?.close();
    await cluster?.stop();
  });

  describe.each([
    ["a node", "node", AS_NODE],
    ["a service account that writes roles", "editor", AS_EDITOR],
    ["a bootstrap token", "bootstrap", AS_NEW_NODE],
  ] as const)("%s", (_who, name, attempts) => {
    it.each(attempts.map((attempt) => [attempt.what, attempt] as const))("%s", async (_what, { ask, status = 403 }) => {
      const client = clients[name];
      if (client === undefined) throw new Error("it has a client");
      const answer = await ask(client, world);
      expect(answer).toMatchObject({ status });
    });
  });
});

/** Two nodes with a pod each, and what these use. Returns the UIDs. */
async function fillCluster(admin: ApiClient): Promise<Record<string, string>> {
  const uids: Record<string, string> = {};
  const make = async (path: string, object: { metadata: { name: string } }) => {
    uids[object.metadata.name] = (await admin.object("POST", path, object)).metadata.uid ?? "";
  };
  const taints = [{ key: "dedicated", value: "x", effect: "NoSchedule" }];
  for (const name of ["a", "b"])
    await make("/api/v1/nodes", Object.assign({ metadata: { name } }, { spec: { taints } }));
  for (const name of ["builder", "editor"]) await make(`${CORE}/serviceaccounts`, { metadata: { name } });
  for (const name of ["mine", "others"]) await make(`${CORE}/secrets`, { metadata: { name } });
  const volumes = (secretName: string) => [{ name: "v", secret: { secretName } }];
  const pods = [
    ["mine", { nodeName: "a", volumes: volumes("mine") }],
    ["others", { nodeName: "b", volumes: volumes("others") }],
    ["loose", { schedulerName: "nobody" }],
  ] as const;
  for (const [name, spec] of pods) {
    await make(PODS, Object.assign({ metadata: { name } }, { spec: { containers: CONTAINERS, ...spec } }));
  }
  const roles = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];
  const rules = [
    { apiGroups: ["rbac.authorization.k8s.io"], resources: roles, verbs: ["get", "create", "update", "patch"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] },
  ];
  await make(`${RBAC}/clusterroles`, Object.assign({ metadata: { name: "editor" } }, { rules }));
  await admin.object("POST", `${RBAC}/clusterrolebindings`, {
    metadata: { name: "editor" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "editor" },
    subjects: [{ kind: "ServiceAccount", name: "editor", namespace: "default" }],
  });
  const { id, secret } = BOOTSTRAP_TOKEN;
  await admin.object("POST", "/api/v1/namespaces/kube-system/secrets", {
    metadata: { name: `bootstrap-token-${id}` },
    type: "bootstrap.kubernetes.io/token",
    stringData: { "token-id": id, "token-secret": secret, "usage-bootstrap-authentication": "true" },
  });
  return uids;
}

function textIn(value: unknown, key: string): string {
  const entries = typeof value === "object" && value !== null ? new Map(Object.entries(value)) : new Map();
  return String(entries.get(key));
}
