import { CONTAINER, CORE, type HostileBody, list, MANY, MEBIBYTE, NAMED } from "./hostile-body.ts";

const object = (path: string, name: string, body: () => object): HostileBody => ({
  name,
  path,
  body: () => JSON.stringify({ metadata: NAMED, ...body() }),
});
const RULE = (i: number) => ({ apiGroups: [""], resources: [`r${i}`], verbs: ["get"] });
const TEMPLATE = { metadata: { labels: { a: "b" } }, spec: { containers: [CONTAINER] } };
const term = (i: number) => ({ key: `k${i}`, operator: "In", values: ["a"] });

/** Long lists in objects of the other kinds. */
export const KIND_BODIES: readonly HostileBody[] = [
  object(`${CORE}/services`, "service: ports", () => ({
    spec: { ports: list(10_000, (i) => ({ name: `p${i}`, port: i + 1 })) },
  })),
  object(`${CORE}/services`, "service: ports of one name", () => ({
    spec: { ports: list(MANY, () => ({ name: "p", port: 1 })) },
  })),
  object(`${CORE}/services`, "service: nearly all ports that nodes have", () => ({
    spec: { type: "NodePort", ports: list(2_700, (i) => ({ name: `p${i}`, port: i + 1 })) },
  })),
  object(`${CORE}/services`, "service: addresses", () => ({
    spec: { ports: [{ port: 1 }], externalIPs: list(100_000, () => ({})).map(() => "1.2.3.4") },
  })),
  object(`${CORE}/secrets`, "secret: keys", () => ({
    data: Object.fromEntries(list(100_000, () => ({})).map((_, i) => [`k${i}`, "YQ=="])),
  })),
  object(`${CORE}/secrets`, "secret: text", () => ({ stringData: { a: "é".repeat(MEBIBYTE / 3) } })),
  object(`${CORE}/endpoints`, "endpoints: addresses", () => ({
    subsets: [
      { addresses: list(MANY, () => ({ ip: "1.2.3.4" })), ports: list(MANY, (i) => ({ name: `p${i}`, port: 1 })) },
    ],
  })),
  object(`${CORE}/limitranges`, "limit range: limits", () => ({
    spec: { limits: list(MANY, () => ({ type: "Container" })) },
  })),
  object(`${CORE}/resourcequotas`, "quota: scopes", () => ({
    spec: { hard: Object.fromEntries(list(50_000, () => ({})).map((_, i) => [`count/r${i}`, "1"])) },
  })),
  object(`${CORE}/serviceaccounts`, "service account: secrets", () => ({
    secrets: list(50_000, (i) => ({ name: `s${i}` })),
  })),
  object("/api/v1/nodes", "node: taints", () => ({
    spec: { taints: list(MANY, (i) => ({ key: `k${i}`, effect: "NoSchedule" })) },
  })),
  object("/api/v1/nodes", "node: images", () => ({ status: { images: list(MANY, (i) => ({ names: [`i${i}`] })) } })),
  object("/api/v1/persistentvolumes", "volume: modes", () => ({
    spec: {
      capacity: { storage: "1Gi" },
      hostPath: { path: "/a" },
      accessModes: list(100_000, () => ({})).map(() => "ReadWriteOnce"),
    },
  })),
  object("/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", "role: rules", () => ({
    rules: list(MANY, RULE),
  })),
  object("/apis/rbac.authorization.k8s.io/v1/clusterroles", "role: resources", () => ({
    rules: [
      {
        apiGroups: list(300, () => ({})).map((_, i) => `g${i}`),
        resources: list(100_000, () => ({})).map((_, i) => `r${i}`),
        verbs: ["get"],
      },
    ],
  })),
  object("/apis/rbac.authorization.k8s.io/v1/clusterroles", "role: selectors of aggregation", () => ({
    aggregationRule: { clusterRoleSelectors: list(10_000, (i) => ({ matchLabels: { a: `b${i}` } })) },
    rules: [],
  })),
  object("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "binding: subjects", () => ({
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    subjects: list(MANY, (i) => ({ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: `u${i}` })),
  })),
  object("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", "network policy: rules", () => ({
    spec: {
      podSelector: {},
      ingress: list(MANY, () => ({ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }] })),
    },
  })),
  object("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", "network policy: exceptions", () => ({
    spec: {
      podSelector: {},
      ingress: [
        { from: [{ ipBlock: { cidr: "10.0.0.0/8", except: list(50_000, () => ({})).map(() => "10.1.0.0/16") } }] },
      ],
    },
  })),
  object("/apis/networking.k8s.io/v1/namespaces/default/ingresses", "ingress: rules", () => ({
    spec: {
      rules: list(10_000, (i) => ({
        host: `h${i}.a`,
        http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "a", port: { number: 1 } } } }] },
      })),
    },
  })),
  object("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", "endpoint slice: endpoints", () => ({
    addressType: "IPv4",
    endpoints: list(MANY, () => ({ addresses: ["1.2.3.4"] })),
    ports: list(MANY, (i) => ({ name: `p${i}` })),
  })),
  object("/apis/apps/v1/namespaces/default/deployments", "deployment: expressions", () => ({
    spec: { selector: { matchExpressions: list(MANY, term) }, template: TEMPLATE },
  })),
  object("/apis/apps/v1/namespaces/default/deployments", "deployment: values", () => ({
    spec: {
      selector: {
        matchExpressions: [{ key: "a", operator: "In", values: list(200_000, () => ({})).map((_, i) => `v${i}`) }],
      },
      template: TEMPLATE,
    },
  })),
  object("/apis/apps/v1/namespaces/default/statefulsets", "stateful set: templates of claims", () => ({
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: TEMPLATE,
      volumeClaimTemplates: list(5_000, (i) => ({
        metadata: { name: `c${i}` },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1" } } },
      })),
    },
  })),
  object("/apis/batch/v1/namespaces/default/jobs", "job: rules of its failure policy", () => ({
    spec: {
      template: { spec: { containers: [CONTAINER], restartPolicy: "Never" } },
      podFailurePolicy: {
        rules: list(MANY, () => ({ action: "Ignore", onExitCodes: { operator: "In", values: [1] } })),
      },
    },
  })),
  object("/apis/batch/v1/namespaces/default/jobs", "job: exit codes", () => ({
    spec: {
      template: { spec: { containers: [CONTAINER], restartPolicy: "Never" } },
      podFailurePolicy: {
        rules: [
          { action: "Ignore", onExitCodes: { operator: "In", values: list(200_000, () => ({})).map((_, i) => i) } },
        ],
      },
    },
  })),
  object("/apis/batch/v1/namespaces/default/cronjobs", "cron job: a schedule of one MiB", () => ({
    spec: {
      schedule: `${"1,".repeat(500_000)}1 * * * *`,
      jobTemplate: { spec: { template: { spec: { containers: [CONTAINER], restartPolicy: "Never" } } } },
    },
  })),
  object("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", "autoscaler: metrics", () => ({
    spec: {
      maxReplicas: 2,
      scaleTargetRef: { kind: "Deployment", name: "a" },
      metrics: list(MANY, () => ({
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 1 } },
      })),
    },
  })),
  object("/apis/policy/v1/namespaces/default/poddisruptionbudgets", "budget: expressions", () => ({
    spec: { minAvailable: 1, selector: { matchExpressions: list(MANY, term) } },
  })),
  object("/apis/storage.k8s.io/v1/storageclasses", "storage class: parameters", () => ({
    provisioner: "a",
    parameters: Object.fromEntries(list(100_000, () => ({})).map((_, i) => [`k${i}`, "v"])),
  })),
  object("/apis/storage.k8s.io/v1/storageclasses", "storage class: topologies", () => ({
    provisioner: "a",
    allowedTopologies: list(5_000, (i) => ({ matchLabelExpressions: [{ key: `k${i}`, values: ["a"] }] })),
  })),
  object("/apis/storage.k8s.io/v1/csinodes", "CSI node: drivers", () => ({
    spec: { drivers: list(MANY, (i) => ({ name: `d${i}`, nodeID: "n", topologyKeys: ["a"] })) },
  })),
  object("/apis/storage.k8s.io/v1/csidrivers", "CSI driver: token requests", () => ({
    spec: { tokenRequests: list(50_000, (i) => ({ audience: `a${i}` })) },
  })),
  object("/apis/authentication.k8s.io/v1/tokenreviews", "token review: three MiB", () => ({
    spec: { token: `${"a.".repeat(1_400_000)}` },
  })),
  object("/apis/authorization.k8s.io/v1/subjectaccessreviews", "access review: groups", () => ({
    spec: {
      user: "a",
      groups: list(200_000, () => ({})).map((_, i) => `g${i}`),
      resourceAttributes: { verb: "get", resource: "pods" },
    },
  })),
  object("/apis/certificates.k8s.io/v1/certificatesigningrequests", "certificate request: PEM", () => ({
    spec: {
      request: Buffer.from(
        `-----BEGIN CERTIFICATE REQUEST-----\n${"QUFB\n".repeat(300_000)}-----END CERTIFICATE REQUEST-----\n`,
      ).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["client auth"],
    },
  })),
  object("/apis/certificates.k8s.io/v1/certificatesigningrequests", "certificate request: beginnings of PEM", () => ({
    spec: {
      request: Buffer.from("-----BEGIN A-----\n".repeat(100_000)).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["client auth"],
    },
  })),
  object("/apis/certificates.k8s.io/v1/certificatesigningrequests", "certificate request: usages", () => ({
    spec: { request: "YQ==", signerName: "example.com/a", usages: list(200_000, () => ({})).map(() => "client auth") },
  })),
  object("/apis/certificates.k8s.io/v1beta1/clustertrustbundles", "trust bundle: beginnings of PEM", () => ({
    spec: { trustBundle: "-----BEGIN CERTIFICATE-----\n".repeat(90_000) },
  })),
  object("/apis/certificates.k8s.io/v1beta1/clustertrustbundles", "trust bundle: empty certificates", () => ({
    spec: { trustBundle: "-----BEGIN CERTIFICATE-----\nQUFB\n-----END CERTIFICATE-----\n".repeat(40_000) },
  })),
  object(
    "/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests",
    "pod's certificate request: a mebibyte of DER",
    () => ({
      spec: { signerName: "example.com/a", stubPKCS10Request: Buffer.alloc(MEBIBYTE, 0x30).toString("base64") },
    }),
  ),
  object(`${CORE}/pods/target/binding`, "binding: a name of a MiB", () => ({
    target: { kind: "Node", name: "a".repeat(MEBIBYTE) },
  })),
  object(`${CORE}/pods/target/eviction`, "eviction: options", () => ({
    deleteOptions: { dryRun: list(200_000, () => ({})).map(() => "All") },
  })),
];
