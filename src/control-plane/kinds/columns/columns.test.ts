import { expect, test } from "vitest";
import { cellOf, groupResource } from "../../ports/resource-kind.ts";
import { CORE_KINDS, EVENT_KINDS } from "../core/core-kinds.ts";
import { GROUP_KINDS } from "../group-kinds.ts";
import { METRICS_KINDS } from "../metrics/metrics-kinds.ts";
import { COLUMNS, DEFAULT_COLUMNS } from "./columns.ts";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const HOUR_AGO = "2026-01-01T11:00:00Z";
const ALL_KINDS = [...CORE_KINDS, ...EVENT_KINDS, ...GROUP_KINDS, ...METRICS_KINDS];

/** The printed cells, by column, of an object named `a` that was created an hour ago. */
function cellsOf(resource: string, fields: Record<string, unknown>, metadata: Record<string, unknown> = {}) {
  const kind = ALL_KINDS.find((row) => groupResource(row) === resource);
  if (!kind) throw new Error(`no kind for ${resource}`);
  const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
  const sent = { apiVersion, kind: kind.kind, metadata: { name: "a", creationTimestamp: HOUR_AGO, ...metadata } };
  const object = { ...sent, ...fields };
  return Object.fromEntries(kind.columns.map((column) => [column.name, cellOf(column, object, NOW)]));
}

const template = {
  metadata: { labels: { app: "web" } },
  spec: {
    containers: [
      { name: "x", image: "i:1" },
      { name: "y", image: "j:2" },
    ],
    nodeSelector: { disk: "ssd" },
  },
};
const selector = {
  matchLabels: { app: "web" },
  matchExpressions: [
    { key: "a", operator: "In", values: ["2", "1"] },
    { key: "b", operator: "NotIn", values: ["3"] },
    { key: "c", operator: "Exists" },
    { key: "d", operator: "DoesNotExist" },
  ],
};
const SELECTOR = "a in (1,2),app=web,b notin (3),c,!d";
const TEMPLATE = { Containers: "x,y", Images: "i:1,j:2" };
const metric = (type: string, source: string, target: object) => ({ type, [source]: { name: "cpu", target } });
const address = (ip: string) => ({ ip });

const DENIED = [{ type: "Denied", status: "True" }];
const SHOWN: ReadonlyArray<[string, Record<string, unknown>, Record<string, unknown>]> = [
  ["namespaces", { status: { phase: "Active" } }, { Name: "a", Status: "Active", Age: "60m" }],
  ["configmaps", { data: { a: "", b: "" }, binaryData: { c: "" } }, { Name: "a", Data: 3, Age: "60m" }],
  ["configmaps", {}, { Data: 0 }],
  ["secrets", { type: "Opaque", data: { a: "" } }, { Name: "a", Type: "Opaque", Data: 1, Age: "60m" }],
  ["serviceaccounts", {}, { Name: "a", Age: "60m" }],
  [
    "resourcequotas",
    { status: { hard: { "requests.cpu": "2", pods: "9", "limits.cpu": "4" }, used: { pods: "3", "limits.cpu": "1" } } },
    { Request: "pods: 3/9, requests.cpu: 0/2", Limit: "limits.cpu: 1/4" },
  ],
  ["podtemplates", { template }, { Name: "a", ...TEMPLATE, "Pod Labels": "app=web" }],
  [
    "replicationcontrollers",
    { spec: { replicas: 3, template, selector: { b: "2", a: "1" } }, status: { replicas: 2, readyReplicas: 1 } },
    { Desired: 3, Current: 2, Ready: 1, Age: "60m", ...TEMPLATE, Selector: "a=1,b=2" },
  ],
  [
    "replicasets.apps",
    { spec: { replicas: 3, template, selector }, status: { replicas: 2 } },
    { Desired: 3, Current: 2, Ready: 0, ...TEMPLATE, Selector: SELECTOR },
  ],
  [
    "deployments.apps",
    {
      spec: { replicas: 3, template, selector },
      status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
    },
    { Name: "a", Ready: "1/3", "Up-to-date": 2, Available: 1, Age: "60m", ...TEMPLATE, Selector: SELECTOR },
  ],
  ["deployments.apps", { spec: { template, selector: {} } }, { Ready: "0/0", Selector: "" }],
  ["statefulsets.apps", { spec: { replicas: 2, template, selector }, status: { readyReplicas: 2 } }, { Ready: "2/2" }],
  [
    "daemonsets.apps",
    {
      spec: { template, selector: {} },
      status: {
        desiredNumberScheduled: 5,
        currentNumberScheduled: 4,
        numberReady: 3,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    },
    {
      Desired: 5,
      Current: 4,
      Ready: 3,
      "Up-to-date": 2,
      Available: 1,
      "Node Selector": "disk=ssd",
      Selector: "<none>",
    },
  ],
  [
    "jobs.batch",
    { spec: { completions: 3, template }, status: { succeeded: 1, startTime: "2026-01-01T11:59:30Z" } },
    { Status: "Running", Completions: "1/3", Duration: "30s", ...TEMPLATE, Selector: "<none>" },
  ],
  [
    "jobs.batch",
    {
      spec: { parallelism: 4, template },
      status: {
        startTime: HOUR_AGO,
        completionTime: "2026-01-01T11:05:10Z",
        conditions: [
          { type: "SuccessCriteriaMet", status: "True" },
          { type: "Complete", status: "True" },
        ],
      },
    },
    { Status: "Complete", Completions: "0/1 of 4", Duration: "5m10s" },
  ],
  ["jobs.batch", { spec: { template } }, { Status: "Running", Completions: "0/1", Duration: "" }],
  [
    "jobs.batch",
    { spec: { template }, status: { conditions: [{ type: "Failed", status: "True" }] } },
    { Status: "Failed" },
  ],
  [
    "jobs.batch",
    { spec: { template }, status: { conditions: [{ type: "Suspended", status: "True" }] } },
    { Status: "Suspended" },
  ],
  [
    "cronjobs.batch",
    {
      spec: { schedule: "* * * * *", suspend: false, jobTemplate: { spec: { template } } },
      status: { active: [{}], lastScheduleTime: "2026-01-01T11:59:00Z" },
    },
    { Schedule: "* * * * *", Timezone: "<none>", Suspend: "False", Active: 1, "Last Schedule": "60s", ...TEMPLATE },
  ],
  [
    "cronjobs.batch",
    { spec: { schedule: "@daily", timeZone: "Etc/UTC", jobTemplate: {} } },
    { Timezone: "Etc/UTC", Suspend: "<unset>", Active: 0, "Last Schedule": "<none>" },
  ],
  [
    "poddisruptionbudgets.policy",
    { spec: { minAvailable: "50%" }, status: { disruptionsAllowed: 1 } },
    { "Min Available": "50%", "Max Unavailable": "N/A", "Allowed Disruptions": 1 },
  ],
  [
    "horizontalpodautoscalers.autoscaling",
    {
      spec: {
        scaleTargetRef: { kind: "Deployment", name: "web" },
        minReplicas: 2,
        maxReplicas: 5,
        metrics: [
          metric("Resource", "resource", { averageUtilization: 80 }),
          metric("External", "external", { averageValue: "10" }),
          metric("Pods", "pods", { averageValue: "1" }),
        ],
      },
      status: {
        currentReplicas: 3,
        currentMetrics: [{ type: "Resource", resource: { current: { averageUtilization: 7 } } }],
      },
    },
    {
      Reference: "Deployment/web",
      Targets: "cpu: 7%/80%, <unknown>/10 (avg) + 1 more...",
      MinPods: "2",
      MaxPods: 5,
      Replicas: 3,
    },
  ],
  [
    "horizontalpodautoscalers.autoscaling",
    { spec: { scaleTargetRef: { kind: "Deployment", name: "web" }, maxReplicas: 5 } },
    { Targets: "<none>", MinPods: "<unset>", Replicas: 0 },
  ],
  [
    "services",
    {
      spec: {
        type: "NodePort",
        clusterIPs: ["10.0.0.1"],
        selector: { app: "web" },
        ports: [
          { port: 80, nodePort: 30_080, protocol: "TCP" },
          { port: 53, protocol: "UDP" },
        ],
      },
    },
    {
      Type: "NodePort",
      "Cluster-IP": "10.0.0.1",
      "External-IP": "<none>",
      "Port(s)": "80:30080/TCP,53/UDP",
      Selector: "app=web",
    },
  ],
  [
    "services",
    { spec: { type: "LoadBalancer" } },
    { "External-IP": "<pending>", "Cluster-IP": "<none>", "Port(s)": "<none>" },
  ],
  [
    "services",
    {
      spec: { type: "LoadBalancer", externalIPs: ["192.0.2.9"] },
      status: { loadBalancer: { ingress: [{ hostname: "lb.example.com" }, { ip: "192.0.2.1" }] } },
    },
    { "External-IP": "192.0.2.1,lb.example.com,192.0.2.9" },
  ],
  ["services", { spec: { type: "ExternalName", externalName: "db.example.com" } }, { "External-IP": "db.example.com" }],
  ["endpoints", {}, { Endpoints: "<none>" }],
  [
    "endpoints",
    { subsets: [{ addresses: ["10.0.0.1", "fd00::2"].map(address), ports: [{ port: 80 }, { port: 443 }] }] },
    { Endpoints: "10.0.0.1:80,[fd00::2]:80,10.0.0.1:443 + 1 more..." },
  ],
  ["endpoints", { subsets: [{ addresses: [address("10.0.0.1")] }] }, { Endpoints: "10.0.0.1" }],
  [
    "endpointslices.discovery.k8s.io",
    {
      addressType: "IPv4",
      ports: [{ port: 80 }, { name: "web" }, {}],
      endpoints: [{ addresses: ["1", "2"] }, { addresses: ["3", "4"] }],
    },
    { AddressType: "IPv4", Ports: "80,web,*", Endpoints: "1,2,3 + 1 more..." },
  ],
  ["endpointslices.discovery.k8s.io", { addressType: "IPv6" }, { Ports: "<unset>", Endpoints: "<unset>" }],
  [
    "ingresses.networking.k8s.io",
    {
      spec: {
        ingressClassName: "nginx",
        tls: [{}],
        rules: [{ host: "a" }, {}, { host: "b" }, { host: "c" }, { host: "d" }],
      },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
    },
    { Class: "nginx", Hosts: "a,b,c + 2 more...", Address: "192.0.2.1", Ports: "80, 443" },
  ],
  ["ingresses.networking.k8s.io", { spec: {} }, { Class: "<none>", Hosts: "*", Address: "", Ports: "80" }],
  [
    "ingressclasses.networking.k8s.io",
    { spec: { controller: "c", parameters: { apiGroup: "g.io", kind: "K", name: "n" } } },
    { Controller: "c", Parameters: "K.g.io/n" },
  ],
  ["networkpolicies.networking.k8s.io", { spec: { podSelector: {} } }, { "Pod-Selector": "<none>" }],
  [
    "persistentvolumes",
    {
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteMany", "ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Retain",
        claimRef: { namespace: "n", name: "c" },
        storageClassName: "fast",
        volumeMode: "Block",
      },
      status: { phase: "Bound" },
    },
    {
      Capacity: "1Gi",
      "Access Modes": "RWO,RWX",
      "Reclaim Policy": "Retain",
      Status: "Bound",
      Claim: "n/c",
      StorageClass: "fast",
      VolumeAttributesClass: "<unset>",
      Reason: "",
      VolumeMode: "Block",
    },
  ],
  [
    "persistentvolumeclaims",
    {
      spec: { volumeName: "v" },
      status: { phase: "Bound", capacity: { storage: "2Gi" }, accessModes: ["ReadWriteOncePod"] },
    },
    { Status: "Bound", Volume: "v", Capacity: "2Gi", "Access Modes": "RWOP", StorageClass: "", VolumeMode: "<unset>" },
  ],
  [
    "persistentvolumeclaims",
    { spec: {}, status: { phase: "Pending", capacity: { storage: "2Gi" } } },
    { Status: "Pending", Capacity: "", "Access Modes": "" },
  ],
  [
    "storageclasses.storage.k8s.io",
    { provisioner: "p" },
    { Provisioner: "p", ReclaimPolicy: "Delete", VolumeBindingMode: "Immediate", AllowVolumeExpansion: false },
  ],
  [
    "volumeattachments.storage.k8s.io",
    { spec: { attacher: "d", nodeName: "n", source: { persistentVolumeName: "v" } }, status: { attached: true } },
    { Attacher: "d", PV: "v", Node: "n", Attached: true },
  ],
  ["csinodes.storage.k8s.io", { spec: { drivers: [{}, {}] } }, { Drivers: 2 }],
  [
    "csidrivers.storage.k8s.io",
    { spec: { tokenRequests: [{ audience: "x" }, { audience: "y" }], volumeLifecycleModes: ["Persistent"] } },
    {
      AttachRequired: true,
      PodInfoOnMount: false,
      StorageCapacity: false,
      TokenRequests: "x,y",
      RequiresRepublish: false,
      Modes: "Persistent",
    },
  ],
  [
    "rolebindings.rbac.authorization.k8s.io",
    {
      roleRef: { kind: "ClusterRole", name: "view" },
      subjects: [
        { kind: "User", name: "u" },
        { kind: "User", name: "v" },
        { kind: "Group", name: "g" },
        { kind: "ServiceAccount", namespace: "n", name: "s" },
      ],
    },
    { Role: "ClusterRole/view", Users: "u, v", Groups: "g", ServiceAccounts: "n/s" },
  ],
  [
    "certificatesigningrequests.certificates.k8s.io",
    {
      spec: { signerName: "s/t", username: "u", expirationSeconds: 3600 },
      status: { conditions: [{ type: "Approved" }], certificate: "eA==" },
    },
    { Age: "60m", SignerName: "s/t", Requestor: "u", RequestedDuration: "60m", Condition: "Approved,Issued" },
  ],
  [
    "certificatesigningrequests.certificates.k8s.io",
    { spec: { signerName: "" }, status: { conditions: [{ type: "Denied" }, { type: "Failed" }] } },
    { SignerName: "<none>", RequestedDuration: "<none>", Condition: "Denied,Failed" },
  ],
  [
    "clustertrustbundles.certificates.k8s.io",
    { spec: { signerName: "s/t", trustBundle: "" } },
    { Name: "a", SignerName: "s/t" },
  ],
  ["clustertrustbundles.certificates.k8s.io", { spec: { trustBundle: "" } }, { SignerName: "<none>" }],
  ["csistoragecapacities.storage.k8s.io", {}, { Name: "a", Capacity: "<unset>" }],
  [
    "podcertificaterequests.certificates.k8s.io",
    { spec: { podName: "p", unverifiedUserAnnotations: { b: "2", a: "1" } }, status: { conditions: DENIED } },
    { PodName: "p", State: "Denied", UnverifiedUserAnnotations: "a=1,b=2" },
  ],
  [
    "flowschemas.flowcontrol.apiserver.k8s.io",
    { spec: { priorityLevelConfiguration: { name: "l" }, matchingPrecedence: 9 } },
    { PriorityLevel: "l", MatchingPrecedence: 9, DistinguisherMethod: "<none>", MissingPL: "?" },
  ],
  [
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
    { spec: { type: "Limited", limited: { nominalConcurrencyShares: 3, limitResponse: { queuing: { queues: 4 } } } } },
    { Type: "Limited", NominalConcurrencyShares: 3, Queues: 4, HandSize: "<none>" },
  ],
  [
    "priorityclasses.scheduling.k8s.io",
    { value: 7, preemptionPolicy: "Never" },
    { Value: 7, "Global-Default": false, PreemptionPolicy: "Never" },
  ],
  ["runtimeclasses.node.k8s.io", { handler: "h" }, { Handler: "h" }],
  ["leases.coordination.k8s.io", { spec: { holderIdentity: "h" } }, { Name: "a", Holder: "h", Age: "60m" }],
  [
    "nodes",
    {
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: "Ready", status: "Unknown" }],
        addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
        nodeInfo: { kubeletVersion: "v1.35.0", osImage: "Debian" },
      },
    },
    {
      Status: "NotReady,SchedulingDisabled",
      Roles: "<none>",
      Version: "v1.35.0",
      "Internal-IP": "10.0.0.1",
      "External-IP": "<none>",
      "OS-Image": "Debian",
      "Kernel-Version": "<unknown>",
    },
  ],
  ["nodes", { status: { conditions: [{ type: "Ready", status: "True" }] } }, { Status: "Ready" }],
  ["nodes", {}, { Status: "Unknown" }],
  ["roles.rbac.authorization.k8s.io", {}, { Name: "a", "Created At": HOUR_AGO }],
];

test.each(SHOWN)("%s: %j", (resource, fields, expected) => {
  expect(cellsOf(resource, fields)).toMatchObject(expected);
});

test("roles of a node come from both of its labels, in order and once", () => {
  const labels = {
    "node-role.kubernetes.io/worker": "",
    "node-role.kubernetes.io/control-plane": "",
    "kubernetes.io/role": "worker",
  };
  expect(cellsOf("nodes", {}, { labels })).toMatchObject({ Roles: "control-plane,worker" });
});

test.each([
  ["storageclasses.storage.k8s.io", "storageclass.kubernetes.io/is-default-class"],
  ["storageclasses.storage.k8s.io", "storageclass.beta.kubernetes.io/is-default-class"],
])("%s: a class that is the default says so", (resource, annotation) => {
  expect(cellsOf(resource, {}, { annotations: { [annotation]: "true" } })).toMatchObject({ Name: "a (default)" });
  expect(cellsOf(resource, {}, { annotations: { [annotation]: "false" } })).toMatchObject({ Name: "a" });
});

test("the class of a claim may still be an annotation, and a claim that goes says so", () => {
  const metadata = {
    annotations: { "volume.beta.kubernetes.io/storage-class": "old" },
    deletionTimestamp: HOUR_AGO,
  };
  const shown = cellsOf("persistentvolumeclaims", { spec: { storageClassName: "new" } }, metadata);
  expect(shown).toMatchObject({ StorageClass: "old", Status: "Terminating" });
});

test.each([
  [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", controller: true }, "daemonset.apps/d"],
  [{ apiVersion: "v1", kind: "ReplicationController", name: "r", controller: true }, "replicationcontroller/r"],
  [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d" }, "<none>"],
])("a revision of %j", (owner, expected) => {
  const shown = cellsOf("controllerrevisions.apps", { revision: 4 }, { ownerReferences: [owner] });
  expect(shown).toMatchObject({ Controller: expected, Revision: 4 });
});

const EVENT = { type: "Warning", reason: "BackOff" };
const TOLD = { Type: "Warning", Reason: "BackOff", Object: "pod/p", Subobject: "spec.containers{x}", Message: "m" };

test.each([
  [
    "events",
    {
      ...EVENT,
      involvedObject: { kind: "Pod", name: "p", fieldPath: "spec.containers{x}" },
      message: "m\n",
      source: { component: "kubelet", host: "n" },
      firstTimestamp: HOUR_AGO,
      lastTimestamp: "2026-01-01T11:59:00Z",
      count: 7,
    },
    { ...TOLD, "Last Seen": "60s", "First Seen": "60m", Count: 7, Source: "kubelet, n" },
  ],
  [
    "events",
    { ...EVENT, involvedObject: { kind: "Pod" }, eventTime: HOUR_AGO, reportingComponent: "kubelet" },
    { Object: "pod", "Last Seen": "60m", "First Seen": "60m", Count: 1, Source: "kubelet", Message: "" },
  ],
  [
    "events.events.k8s.io",
    {
      ...EVENT,
      regarding: { kind: "Pod", name: "p", fieldPath: "spec.containers{x}" },
      note: "m",
      eventTime: HOUR_AGO,
      reportingController: "c",
      reportingInstance: "c-1",
      series: { count: 9, lastObservedTime: "2026-01-01T11:59:30Z" },
    },
    { ...TOLD, "Last Seen": "30s", "First Seen": "60m", Count: 9, Source: "c, c-1" },
  ],
])("%s: what happened, how often and to whom %#", (resource, fields, expected) => {
  expect(cellsOf(resource, fields)).toMatchObject(expected);
});

test("every kind shows its name once, and no column twice", () => {
  for (const { columns, kind } of ALL_KINDS) {
    expect(
      columns.filter(({ format, name }) => format === "name" && name === "Name"),
      kind,
    ).toHaveLength(1);
    expect(new Set(columns.map(({ name }) => name)).size, kind).toBe(columns.length);
  }
});

test("columns belong to kinds that are served", () => {
  const served = new Set(ALL_KINDS.map(groupResource));
  expect(Object.keys(COLUMNS).filter((resource) => !served.has(resource))).toEqual([]);
});

test("no cell throws, whatever an object leaves out", () => {
  for (const { columns, group, version, kind, schema } of ALL_KINDS) {
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const { value } = schema.decode({ apiVersion, kind, metadata: {} });
    const decoded = Object.assign({ apiVersion, kind, metadata: {} }, value);
    for (const column of columns) expect(() => cellOf(column, decoded, NOW), `${kind} ${column.name}`).not.toThrow();
  }
});

test("a kind without columns of its own shows when it was made", () => {
  expect(DEFAULT_COLUMNS.map(({ name, type }) => [name, type])).toEqual([
    ["Name", "string"],
    ["Created At", "date"],
  ]);
});
