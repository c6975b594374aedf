import { cronTabDefinition } from "./cron-tabs.ts";

/** An object of a kind, with something of each way in which values are written, in the words that the server keeps. */
interface ProtobufCase {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  readonly object: object;
}

type Fields = Readonly<Record<string, unknown>>;

function inNamespace(apiVersion: string, kind: string, plural: string, fields: Fields): ProtobufCase {
  const metadata = { name: "in-protobuf", labels: { b: "2", a: "1" }, annotations: { "example.com/umlaut": "ä €" } };
  return { apiVersion, kind, plural, isNamespaced: true, object: { apiVersion, kind, metadata, ...fields } };
}

function ofCluster(...row: Parameters<typeof inNamespace>): ProtobufCase {
  return { ...inNamespace(...row), isNamespaced: false };
}

/** Where its objects are. */
export function pathOf({ apiVersion, plural, isNamespaced }: ProtobufCase, namespace: string): string {
  const root = apiVersion === "v1" ? "/api" : "/apis";
  return `${root}/${apiVersion}${isNamespaced ? `/namespaces/${namespace}` : ""}/${plural}`;
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
const selector = { matchLabels: { app: "x" } };
const container = { name: "main", image: "example.com/main:1" };
const template = { metadata: { labels: { app: "x" } }, spec: { containers: [container] } };
const jobSpec = { backoffLimit: 0, template: { spec: { containers: [container], restartPolicy: "Never" } } };

const POD_SPEC = {
  schedulerName: "contract",
  terminationGracePeriodSeconds: 0,
  automountServiceAccountToken: false,
  nodeSelector: { disk: "fast" },
  securityContext: { runAsUser: 2_147_483_647, fsGroup: 0, supplementalGroups: [1, 65_534] },
  tolerations: [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 0 }],
  containers: [
    {
      ...container,
      command: ["sh", ""],
      env: [
        { name: "EMPTY" },
        { name: "NAME", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
      ],
      ports: [{ name: "web", containerPort: 8080, protocol: "TCP" }],
      resources: { limits: { cpu: "1500m", memory: "1Gi" }, requests: { cpu: "100m" } },
      livenessProbe: { httpGet: { path: "/", port: "web", scheme: "HTTP" }, initialDelaySeconds: 5 },
      readinessProbe: { tcpSocket: { port: 8080 } },
      volumeMounts: [{ name: "scratch", mountPath: "/scratch", readOnly: true }],
      securityContext: { privileged: false, capabilities: { drop: ["ALL"] } },
    },
  ],
  volumes: [
    { name: "scratch", emptyDir: { sizeLimit: "10Mi" } },
    {
      name: "settings",
      configMap: { name: "settings", optional: false, defaultMode: 420, items: [{ key: "a", path: "b", mode: 0 }] },
    },
  ],
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "zone", operator: "In", values: ["a", "b"] }] } },
      ],
    },
  },
};

const CORE: readonly ProtobufCase[] = [
  inNamespace("v1", "ConfigMap", "configmaps", {
    data: { empty: "" },
    binaryData: { bytes: base64("\0ÿ") },
    immutable: true,
  }),
  inNamespace("v1", "Secret", "secrets", { type: "Opaque", data: { empty: "", key: base64("value") } }),
  inNamespace("v1", "Pod", "pods", { spec: POD_SPEC }),
  inNamespace("v1", "PodTemplate", "podtemplates", { template }),
  inNamespace("v1", "Service", "services", {
    spec: {
      selector: { app: "x" },
      ports: [
        { name: "a", protocol: "TCP", port: 80, targetPort: "web" },
        { name: "b", protocol: "UDP", port: 53, targetPort: 5353 },
      ],
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    },
  }),
  inNamespace("v1", "ServiceAccount", "serviceaccounts", {
    automountServiceAccountToken: false,
    imagePullSecrets: [{ name: "a" }],
  }),
  inNamespace("v1", "PersistentVolumeClaim", "persistentvolumeclaims", {
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1Gi" } } },
  }),
  inNamespace("v1", "LimitRange", "limitranges", {
    spec: { limits: [{ type: "PersistentVolumeClaim", max: { storage: "10Gi" }, min: { storage: "1" } }] },
  }),
  inNamespace("v1", "ReplicationController", "replicationcontrollers", {
    spec: { replicas: 0, selector: { app: "x" }, template },
  }),
  ofCluster("v1", "Node", "nodes", {
    spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"], unschedulable: true },
    status: { capacity: { cpu: "4", memory: "8Gi" }, nodeInfo: { kubeletVersion: "v1.35.0" } },
  }),
  ofCluster("v1", "PersistentVolume", "persistentvolumes", {
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      hostPath: { path: "/data", type: "" },
      persistentVolumeReclaimPolicy: "Retain",
    },
  }),
];

const GROUPS: readonly ProtobufCase[] = [
  inNamespace("apps/v1", "Deployment", "deployments", {
    spec: {
      replicas: 0,
      selector,
      template,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "25%" } },
      paused: true,
    },
  }),
  inNamespace("apps/v1", "ControllerRevision", "controllerrevisions", {
    data: { spec: { text: "ä", list: [1, null] } },
    revision: 9_007_199_254_740_991,
  }),
  inNamespace("batch/v1", "Job", "jobs", { spec: { ...jobSpec, suspend: true } }),
  inNamespace("batch/v1", "CronJob", "cronjobs", { spec: { schedule: "0 0 * * *", jobTemplate: { spec: jobSpec } } }),
  inNamespace("coordination.k8s.io/v1", "Lease", "leases", {
    spec: { holderIdentity: "x", leaseDurationSeconds: 40, renewTime: "2026-01-02T03:04:05.678901Z" },
  }),
  // Events about objects without a namespace are in this one.
  ofCluster("events.k8s.io/v1", "Event", "namespaces/default/events", {
    eventTime: "2026-01-02T03:04:05.000000Z",
    reportingController: "example.com/contract",
    reportingInstance: "contract",
    action: "Test",
    reason: "Tested",
    type: "Normal",
    regarding: { kind: "Node", name: "x" },
  }),
  inNamespace("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", {
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.1.2.3"], conditions: { ready: false } }],
    ports: [{ name: "", port: 80, protocol: "TCP" }],
  }),
  inNamespace("networking.k8s.io/v1", "Ingress", "ingresses", {
    spec: { defaultBackend: { service: { name: "x", port: { number: 80 } } } },
  }),
  inNamespace("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", {
    spec: {
      podSelector: {},
      policyTypes: ["Ingress"],
      ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8" } }], ports: [{ protocol: "TCP", port: 80, endPort: 90 }] }],
    },
  }),
  inNamespace("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", { spec: { minAvailable: "50%", selector } }),
  inNamespace("rbac.authorization.k8s.io/v1", "Role", "roles", {
    rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] }],
  }),
  inNamespace("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", {
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "x" },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
      ],
    },
  }),
  inNamespace("autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", {
    metadata: { name: "in-former-protobuf" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "x" },
      minReplicas: 1,
      maxReplicas: 3,
      targetCPUUtilizationPercentage: 70,
    },
  }),
  ofCluster("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", {
    rules: [{ verbs: ["get"], nonResourceURLs: ["/healthz"] }],
  }),
  ofCluster("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas", {
    spec: {
      priorityLevelConfiguration: { name: "system" },
      matchingPrecedence: 7000,
      distinguisherMethod: { type: "ByUser" },
      rules: [
        {
          subjects: [{ kind: "ServiceAccount", serviceAccount: { name: "a", namespace: "b" } }],
          resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], namespaces: ["c"] }],
        },
      ],
    },
  }),
  ofCluster("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", {
    spec: { type: "Limited", limited: { nominalConcurrencyShares: 0, limitResponse: { type: "Queue", queuing: {} } } },
  }),
  ofCluster("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", { value: -10, preemptionPolicy: "Never" }),
  ofCluster("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", {
    handler: "runc",
    overhead: { podFixed: { cpu: "1" } },
  }),
  ofCluster("storage.k8s.io/v1", "StorageClass", "storageclasses", {
    provisioner: "example.com/disk",
    parameters: { kind: "fast" },
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
    allowVolumeExpansion: false,
  }),
  ofCluster("storage.k8s.io/v1", "CSIDriver", "csidrivers", {
    spec: { attachRequired: false, podInfoOnMount: true, tokenRequests: [{ audience: "", expirationSeconds: 600 }] },
  }),
];

/** A case for most of what is served. */
export function protobufCases(): ProtobufCase[] {
  const definition = ofCluster("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", {
    ...cronTabDefinition("protobuf.example.com"),
  });
  return [...CORE, ...GROUPS, definition];
}
