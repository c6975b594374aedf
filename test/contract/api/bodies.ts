/** A body that is sent, and what both servers say of it. */
interface BodyCase {
  /** What is wrong with it, or special about it. */
  readonly what: string;
  /** The collection, with `{ns}` for a namespace of the suite's own. */
  readonly path: string;
  readonly body: object;
  /** The fields that are refused, each with its reason and its message; none: the body is taken. */
  readonly causes?: readonly (readonly [field: string, reason: string, message: string])[];
  /** Fields of the object that is made, where the body is accepted. */
  readonly made?: object;
  /** Fields that it does not have: what upstream leaves out. */
  readonly left?: readonly string[];
  /** The first minor version that says so. */
  readonly since?: number;
}

const PODS = "/api/v1/namespaces/{ns}/pods";
const CLAIMS = "/api/v1/namespaces/{ns}/persistentvolumeclaims";
const SERVICES = "/api/v1/namespaces/{ns}/services";
const SETS = "/apis/apps/v1/namespaces/{ns}/statefulsets";
const AUTOSCALERS = "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const main = { name: "main", image: "example.com/main:1" };
const podWith = (spec: object, metadata: object = {}) => ({
  metadata: { name: "p", ...metadata },
  spec: { containers: [main], ...spec },
});
const mainWith = (fields: object) => podWith({ containers: [{ ...main, ...fields }] });

const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const REQUIRED = "FieldValueRequired";
const INVALID = "FieldValueInvalid";
const UNSUPPORTED = "FieldValueNotSupported";
const FORBIDDEN = "FieldValueForbidden";
const DUPLICATE = "FieldValueDuplicate";
const AFFINITY = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
const PREFERRED = "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]";

const affinity = (requirement: object) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [requirement] }] },
  },
});
const antiAffinity = (weight: number, term: object) => ({
  podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: term }] },
});
const spread = (fields: object) => ({
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", ...fields }],
});

const POD_CASES: readonly BodyCase[] = [
  {
    what: "a container's name with a dot",
    path: PODS,
    body: podWith({ containers: [{ name: "a.b", image: "i" }] }),
    causes: [["spec.containers[0].name", INVALID, 'Invalid value: "a.b": must not contain dots']],
    since: 27,
  },
  {
    what: "no container",
    path: PODS,
    body: podWith({ containers: [] }),
    causes: [["spec.containers", REQUIRED, "Required value"]],
  },
  {
    what: "a restart policy that there is not",
    path: PODS,
    body: podWith({ restartPolicy: "Sometimes" }),
    causes: [
      [
        "spec.restartPolicy",
        UNSUPPORTED,
        'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
      ],
    ],
  },
  {
    what: "an unknown operating system",
    path: PODS,
    body: podWith({ os: { name: "plan9" } }),
    causes: [["spec.os", UNSUPPORTED, 'Unsupported value: "plan9": supported values: "linux", "windows"']],
  },
  {
    what: "an affinity with an unknown operator",
    path: PODS,
    body: podWith({ affinity: affinity({ key: "a", operator: "Near", values: ["b"] }) }),
    causes: [
      [`${AFFINITY}[0].matchExpressions[0].operator`, INVALID, 'Invalid value: "Near": not a valid selector operator'],
    ],
  },
  {
    what: "an affinity to no values",
    path: PODS,
    body: podWith({ affinity: affinity({ key: "a", operator: "In" }) }),
    causes: [
      [
        `${AFFINITY}[0].matchExpressions[0].values`,
        REQUIRED,
        "Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
    ],
  },
  {
    what: "an affinity without terms",
    path: PODS,
    body: podWith({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
    }),
    causes: [[AFFINITY, REQUIRED, "Required value: must have at least one node selector term"]],
  },
  {
    what: "a weight out of range",
    path: PODS,
    body: podWith({ affinity: antiAffinity(101, { topologyKey: "zone", labelSelector: {} }) }),
    causes: [[`${PREFERRED}.weight`, INVALID, "Invalid value: 101: must be in the range 1-100"]],
  },
  {
    what: "a spread without label selector for its keys",
    path: PODS,
    body: podWith(spread({ matchLabelKeys: ["a"] })),
    causes: [
      [
        "spec.topologySpreadConstraints[0].matchLabelKeys",
        FORBIDDEN,
        "Forbidden: must not be specified when labelSelector is not set",
      ],
    ],
    since: 27,
  },
  {
    what: "an unknown policy of a spread",
    path: PODS,
    body: podWith(spread({ nodeTaintsPolicy: "Perhaps" })),
    causes: [
      [
        "spec.topologySpreadConstraints[0].nodeTaintsPolicy",
        UNSUPPORTED,
        'Unsupported value: "Perhaps": supported values: "Honor", "Ignore"',
      ],
    ],
    since: 27,
  },
  {
    what: "a scheduling gate named twice",
    path: PODS,
    body: podWith({ schedulingGates: [{ name: "example.com/a" }, { name: "example.com/a" }] }),
    causes: [["spec.schedulingGates[1]", DUPLICATE, 'Duplicate value: "example.com/a"']],
    since: 27,
  },
  {
    what: "a variable of a config map that cannot be",
    path: PODS,
    body: mainWith({ env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "Not_One", key: "a" } } }] }),
    causes: [
      [
        "spec.containers[0].env[0].valueFrom.configMapKeyRef.name",
        INVALID,
        `Invalid value: "Not_One": ${SUBDOMAIN_RULE}`,
      ],
    ],
    since: 34,
  },
  {
    what: "a variable of a field that there is not",
    path: PODS,
    body: mainWith({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.hostname" } } }] }),
    causes: [
      [
        "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath",
        INVALID,
        'Invalid value: "spec.hostname": error converting fieldPath: field label not supported: spec.hostname',
      ],
    ],
  },
  {
    what: "a limit of an unknown resource",
    path: PODS,
    body: mainWith({ resources: { limits: { disk: "1" }, requests: { cpu: "1" } } }),
    causes: [
      [
        "spec.containers[0].resources.limits[disk]",
        INVALID,
        'Invalid value: "disk": must be a standard resource type or fully qualified',
      ],
      [
        "spec.containers[0].resources.limits[disk]",
        INVALID,
        'Invalid value: "disk": must be a standard resource for containers',
      ],
      [
        "spec.containers[0].resources.requests[disk]",
        INVALID,
        'Invalid value: "disk": must be a standard resource type or fully qualified',
      ],
      [
        "spec.containers[0].resources.requests[disk]",
        INVALID,
        'Invalid value: "disk": must be a standard resource for containers',
      ],
    ],
    since: 34,
  },
  {
    what: "a port of an unknown protocol",
    path: PODS,
    body: mainWith({ ports: [{ containerPort: 80, protocol: "ICMP" }] }),
    causes: [
      [
        "spec.containers[0].ports[0].protocol",
        UNSUPPORTED,
        'Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
      ],
    ],
  },
  {
    what: "a claim of its own without a size",
    path: PODS,
    body: podWith({
      volumes: [{ name: "v", ephemeral: { volumeClaimTemplate: { spec: { accessModes: ["ReadWriteOnce"] } } } }],
    }),
    causes: [["spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]", REQUIRED, "Required value"]],
  },
  {
    what: "two files of one path in a volume",
    path: PODS,
    body: podWith({
      volumes: [
        {
          name: "v",
          projected: {
            sources: [
              { secret: { name: "s", items: [{ key: "a", path: "same" }] } },
              { configMap: { name: "c", items: [{ key: "a", path: "same" }] } },
            ],
          },
        },
      ],
    }),
    causes: [["spec.volumes[0].projected", INVALID, 'Invalid value: "c": conflicting duplicate paths']],
  },
  {
    what: "an owner without a name",
    path: PODS,
    body: podWith({}, { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "", uid: "u" }] }),
    causes: [["metadata.ownerReferences.name", INVALID, 'Invalid value: "": must not be empty']],
    since: 34,
  },
  {
    what: "what is empty or zero",
    path: PODS,
    body: podWith(
      {
        hostNetwork: false,
        nodeSelector: {},
        volumes: [],
        hostname: "",
        containers: [{ ...main, args: [], tty: false }],
      },
      { labels: {}, annotations: {}, finalizers: [] },
    ),
    made: { spec: { containers: [{ resources: {} }] } },
    left: [
      "metadata.labels",
      "metadata.annotations",
      "metadata.finalizers",
      "spec.hostNetwork",
      "spec.nodeSelector",
      "spec.hostname",
      "spec.containers.0.args",
      "spec.containers.0.tty",
    ],
  },
  {
    what: "a negative grace period",
    path: PODS,
    body: podWith({ terminationGracePeriodSeconds: -1 }),
    made: { spec: { terminationGracePeriodSeconds: 1 } },
    since: 27,
  },
  {
    what: "an owner that is named twice",
    path: PODS,
    body: podWith(
      {},
      {
        ownerReferences: [
          { apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "u", controller: true },
          { apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "u", controller: true },
        ],
      },
    ),
    made: { metadata: { ownerReferences: [{ name: "a" }] } },
  },
];

const labels = { app: "a" };
const template = { metadata: { labels }, spec: { containers: [main] } };
const setWith = (spec: object) => ({
  metadata: { name: "s" },
  spec: { selector: { matchLabels: labels }, serviceName: "s", template, ...spec },
});
const metric = (containerResource: object) => ({
  metadata: { name: "h" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
    maxReplicas: 2,
    metrics: [
      {
        type: "ContainerResource",
        containerResource: {
          name: "cpu",
          target: { type: "Utilization", averageUtilization: 50 },
          ...containerResource,
        },
      },
    ],
  },
});
const definition = (schema: object) => ({
  metadata: { name: "widgets.bodies.example.com" },
  spec: {
    group: "bodies.example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
});

const OTHER_CASES: readonly BodyCase[] = [
  {
    what: "a claim of an impossible class of attributes",
    path: CLAIMS,
    body: {
      metadata: { name: "c" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        volumeAttributesClassName: "Not_One",
      },
    },
    causes: [["spec.volumeAttributesClassName", INVALID, `Invalid value: "Not_One": ${SUBDOMAIN_RULE}`]],
    since: 34,
  },
  {
    what: "a claim with an older data source that is none",
    path: CLAIMS,
    body: {
      metadata: { name: "c" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        dataSource: { kind: "Tape", name: "t" },
      },
    },
    made: { spec: { volumeMode: "Filesystem" } },
    left: ["spec.dataSource", "spec.dataSourceRef"],
  },
  {
    what: "a service of an unknown protocol",
    path: SERVICES,
    body: { metadata: { name: "s" }, spec: { ports: [{ port: 80, protocol: "ICMP" }] } },
    causes: [
      ["spec.ports[0].protocol", UNSUPPORTED, 'Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ],
  },
  {
    what: "a stateful set with a container that cannot be",
    path: SETS,
    body: setWith({ template: { ...template, spec: { containers: [{ name: "Main", image: "i" }] } } }),
    causes: [["spec.template.spec.containers[0].name", INVALID, `Invalid value: "Main": ${LABEL_RULE}`]],
    since: 34,
  },
  {
    what: "a stateful set that claims nothing much",
    path: SETS,
    body: setWith({ volumeClaimTemplates: [{ metadata: { name: "v" }, spec: { accessModes: ["ReadWriteOnce"] } }] }),
    causes: [["spec.volumeClaimTemplates[0].spec.resources[storage]", REQUIRED, "Required value"]],
    since: 34,
  },
  {
    what: "an autoscaler of a container that cannot be",
    path: AUTOSCALERS,
    body: metric({ container: "Main" }),
    causes: [["spec.metrics[0].containerResource.container", INVALID, `Invalid value: "Main": ${LABEL_RULE}`]],
    since: 34,
  },
  {
    what: "a definition whose schema has no type",
    path: DEFINITIONS,
    body: definition({ type: "object", properties: { spec: { properties: { a: { type: "string" } } } } }),
    causes: [
      [
        "spec.validation.openAPIV3Schema.properties[spec].type",
        REQUIRED,
        "Required value: must not be empty for specified object fields",
      ],
    ],
  },
  {
    what: "a daemon set",
    path: "/apis/apps/v1/namespaces/{ns}/daemonsets",
    body: { metadata: { name: "d" }, spec: { selector: { matchLabels: labels }, template } },
    made: { metadata: { annotations: { "deprecated.daemonset.template.generation": "1" } } },
  },
  {
    what: "a job without labels of its own",
    path: "/apis/batch/v1/namespaces/{ns}/jobs",
    body: { metadata: { name: "j" }, spec: { template: { spec: { restartPolicy: "Never", containers: [main] } } } },
    made: { metadata: { labels: { "job-name": "j" } } },
  },
];

/** Bodies of many kinds, each sent as a dry run. */
export const BODY_CASES: readonly BodyCase[] = [...POD_CASES, ...OTHER_CASES];
