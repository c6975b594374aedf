import { describe, expect, it } from "vitest";
import { defaultPod } from "./defaults.ts";
import { formatFieldError } from "./field-error.ts";
import type { Container, FileKeySelector, ObjectMeta, PodSpec, Volume } from "./gen/types.ts";
import { validatePod } from "./validate-pod.ts";

const main: Container = { name: "main", image: "app:1" };

function problems(spec: Partial<PodSpec>, metadata: Partial<ObjectMeta> = {}): string[] {
  const pod = { metadata: { name: "a", namespace: "default", ...metadata }, spec: { containers: [main], ...spec } };
  return validatePod(defaultPod(pod)).map(formatFieldError);
}

const withMain = (fields: Partial<Container>, more: Partial<PodSpec> = {}) =>
  problems({ containers: [{ ...main, ...fields }], ...more });
const withVolume = (fields: Partial<Volume>) => problems({ volumes: [{ name: "v", ...fields }] });
/** Some complaints quote whole rules; their beginning says which one it is. */
const expectProblem = (found: string[], expected: string) => {
  expect(found.map((problem) => problem.slice(0, expected.length))).toEqual([expected]);
};

it("a plain pod is fine", () => {
  expect(problems({})).toEqual([]);
});

it("a pod that uses much is fine", () => {
  const container: Container = {
    ...main,
    ports: [
      { name: "web", containerPort: 80 },
      { name: "dns", containerPort: 80, protocol: "UDP" },
    ],
    env: [
      { name: "A", value: "1" },
      { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
      { name: "C", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
    ],
    resources: { limits: { cpu: "1", memory: "1Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": "1" } },
    volumeMounts: [
      { name: "v", mountPath: "/v", subPath: "a/b" },
      { name: "w", mountPath: "/w", readOnly: true },
    ],
    livenessProbe: { httpGet: { port: "web" } },
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
    securityContext: { runAsUser: 0, seccompProfile: { type: "RuntimeDefault" } },
  };
  const spec: Partial<PodSpec> = {
    containers: [container],
    initContainers: [
      { name: "sidecar", image: "x", restartPolicy: "Always", readinessProbe: { exec: { command: ["true"] } } },
    ],
    volumes: [{ name: "v" }, { name: "w", hostPath: { path: "/w", type: "DirectoryOrCreate" } }],
    tolerations: [{ operator: "Exists", effect: "NoExecute" }],
    dnsConfig: { nameservers: ["10.0.0.1", "2001:db8::1"], searches: ["a.b.", "_x.y"], options: [{ name: "ndots" }] },
    hostAliases: [{ ip: "127.0.0.1", hostnames: ["a.b"] }],
    securityContext: { sysctls: [{ name: "net.ipv4.ip_forward", value: "1" }], fsGroup: 1 },
  };
  expect(problems(spec, { labels: { "example.com/app": "x" }, annotations: { "Example.com/Note": "y" } })).toEqual([]);
});

describe("metadata", () => {
  it.each<[Partial<ObjectMeta>, string]>([
    [{ name: "" }, "metadata.name: Required value: name or generateName is required"],
    [{ name: "a/b" }, 'metadata.name: Invalid value: "a/b": a lowercase RFC 1123 subdomain must consist of'],
    [{ name: ".." }, 'metadata.name: Invalid value: "..": a lowercase RFC 1123 subdomain'],
    [{ name: "A" }, 'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain'],
    [
      { name: "a".repeat(254) },
      `metadata.name: Invalid value: "${"a".repeat(127)}…: must be no more than 253 characters`,
    ],
    [{ namespace: "" }, "metadata.namespace: Required value"],
    [{ namespace: "a.b" }, 'metadata.namespace: Invalid value: "a.b": must not contain dots'],
    [{ uid: "../../x" }, 'metadata.uid: Invalid value: "../../x": must consist of'],
    [{ labels: { "": "x" } }, 'metadata.labels: Invalid value: "": name part must be non-empty'],
    [{ labels: { a: "b c" } }, 'metadata.labels: Invalid value: "b c": a valid label must be an empty string'],
    [{ labels: { "a/b/c": "" } }, 'metadata.labels: Invalid value: "a/b/c": a valid label key must consist of'],
    [{ annotations: { "a b": "x" } }, 'metadata.annotations: Invalid value: "a b": name part must consist of'],
    [{ annotations: { a: "x".repeat(262_145) } }, "metadata.annotations: Too long: may not be more than 262144 bytes"],
  ])("%j", (metadata, problem) => {
    const found = problems({}, metadata);
    expect(found[0]?.slice(0, problem.length)).toBe(problem);
  });
});

describe("containers", () => {
  it.each<[string, Partial<PodSpec>, string]>([
    ["none", { containers: [] }, "spec.containers: Required value"],
    ["no name", { containers: [{ ...main, name: "" }] }, "spec.containers[0].name: Required value"],
    [
      "bad name",
      { containers: [{ ...main, name: "a/b" }] },
      'spec.containers[0].name: Invalid value: "a/b": a lowercase RFC 1123 label',
    ],
    ["same name", { containers: [main, main] }, 'spec.containers[1].name: Duplicate value: "main"'],
    ["same name among init", { initContainers: [main] }, 'spec.initContainers[0].name: Duplicate value: "main"'],
    ["no image", { containers: [{ name: "main" }] }, "spec.containers[0].image: Required value"],
    [
      "padded image",
      { containers: [{ ...main, image: " app" }] },
      'spec.containers[0].image: Invalid value: " app": must not have leading or trailing whitespace',
    ],
    [
      "ephemeral",
      { ephemeralContainers: [{ name: "e", image: "x" }] },
      "spec.ephemeralContainers: Forbidden: cannot be set on create",
    ],
    [
      "probe of an init container",
      { initContainers: [{ name: "i", image: "x", livenessProbe: { exec: { command: ["x"] } } }] },
      "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
    ],
    [
      "host port taken twice",
      {
        containers: [
          { ...main, ports: [{ containerPort: 1, hostPort: 80 }] },
          { ...main, name: "b", ports: [{ containerPort: 2, hostPort: 80 }] },
        ],
      },
      'spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//80"',
    ],
  ])("%s", (_, spec, problem) => {
    expectProblem(problems(spec), problem);
  });

  it.each<[Partial<Container>, string]>([
    [
      { imagePullPolicy: "Sometimes" },
      'imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
    ],
    [
      { terminationMessagePolicy: "x" },
      'terminationMessagePolicy: Unsupported value: "x": supported values: "File", "FallbackToLogsOnError"',
    ],
    [{ restartPolicy: "x" }, 'restartPolicy: Unsupported value: "x": supported values: "Always", "Never", "OnFailure"'],
    [
      { restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }] },
      "restartPolicy: Required value: must specify restartPolicy when restart rules are used",
    ],
    [{ ports: [{ containerPort: 0 }] }, "ports[0].containerPort: Required value"],
    [
      { ports: [{ containerPort: 65536 }] },
      "ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive",
    ],
    [
      { ports: [{ containerPort: 1, hostPort: -1 }] },
      "ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive",
    ],
    [
      { ports: [{ containerPort: 1, protocol: "tcp" }] },
      'ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
    ],
    [
      { ports: [{ containerPort: 1, name: "much-too-long-name" }] },
      'ports[0].name: Invalid value: "much-too-long-name": must be no more than 15 characters',
    ],
    [
      {
        ports: [
          { containerPort: 1, name: "a" },
          { containerPort: 2, name: "a" },
        ],
      },
      'ports[1].name: Duplicate value: "a"',
    ],
    [{ env: [{ name: "" }] }, "env[0].name: Required value"],
    [
      { env: [{ name: "A=B" }] },
      'env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of printable',
    ],
    [{ env: [{ name: "A", valueFrom: {} }] }, 'env[0].valueFrom: Invalid value: "": must specify one of:'],
    [
      { env: [{ name: "A", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] },
      'env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
    ],
    [
      { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.hostname" } } }] },
      'env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.hostname": error converting fieldPath: field label not supported',
    ],
    [
      { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "../x" } } }] },
      'env[0].valueFrom.secretKeyRef.key: Invalid value: "../x": a valid config key',
    ],
    [{ envFrom: [{}] }, 'envFrom[0]: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
    [{ envFrom: [{ secretRef: {} }] }, "envFrom[0].secretRef.name: Required value"],
  ])("%j", (fields, problem) => {
    expect(withMain(fields)[0]?.slice(0, problem.length + 19)).toBe(`spec.containers[0].${problem}`);
  });
});

describe("resources", () => {
  it.each<[Container["resources"], string]>([
    [
      { requests: { cpu: "2" }, limits: { cpu: "1" } },
      'requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ],
    [
      { limits: { cpu: "-1" }, requests: { cpu: "-1" } },
      'limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ],
    [
      { limits: { disk: "1" }, requests: { disk: "1" } },
      'limits[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
    ],
    [
      { requests: { "example.com/gpu": "1" } },
      "limits: Required value: Limit must be set for non overcommitable resources",
    ],
    [
      { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "2" } },
      'requests: Invalid value: "1": must be equal to example.com/gpu limit of 2',
    ],
    [{ limits: { "example.com/gpu": "500m" } }, 'limits[example.com/gpu]: Invalid value: "500m": must be an integer'],
    [{ limits: { "hugepages-2Mi": "2Mi" } }, "Forbidden: HugePages require cpu or memory"],
    [
      { claims: [{ name: "x" }] },
      'claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
    ],
  ])("%j", (resources, problem) => {
    const prefix = problem.startsWith("Forbidden") ? "spec.containers[0].resources: " : "spec.containers[0].resources.";
    expect(withMain({ ...(resources && { resources }) })[0]).toBe(`${prefix}${problem}`);
  });

  it("of the pod cover its containers'", () => {
    const found = withMain({ resources: { requests: { cpu: "2" } } }, { resources: { requests: { cpu: "1" } } });
    expect(found).toEqual([
      'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2',
    ]);
  });
});

describe("handlers", () => {
  const exec = { command: ["x"] };
  it.each<[Partial<Container>, string]>([
    [{ livenessProbe: {} }, "livenessProbe: Required value: must specify a handler type"],
    [
      { livenessProbe: { exec, tcpSocket: { port: 1 } } },
      "livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
    ],
    [{ livenessProbe: { exec: {} } }, "livenessProbe.exec.command: Required value"],
    [
      { livenessProbe: { httpGet: { port: 0 } } },
      "livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive",
    ],
    [
      { livenessProbe: { httpGet: { port: "web_1" } } },
      'livenessProbe.httpGet.port: Invalid value: "web_1": must contain only',
    ],
    [
      { livenessProbe: { httpGet: { port: 1, scheme: "http" } } },
      'livenessProbe.httpGet.scheme: Unsupported value: "http": supported values: "HTTP", "HTTPS"',
    ],
    [
      { livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: "a b", value: "" }] } } },
      'livenessProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header',
    ],
    [{ livenessProbe: { exec, successThreshold: 2 } }, "livenessProbe.successThreshold: Invalid value: 2: must be 1"],
    [
      { livenessProbe: { exec, periodSeconds: -1 } },
      "livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
    ],
    [
      { livenessProbe: { exec, terminationGracePeriodSeconds: 0 } },
      "livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
    ],
    [
      { readinessProbe: { exec, terminationGracePeriodSeconds: 5 } },
      "readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes",
    ],
    [{ lifecycle: { preStop: {} } }, "lifecycle.preStop: Required value: must specify a handler type"],
    [
      { lifecycle: { preStop: { sleep: { seconds: 31 } } } },
      "lifecycle.preStop.sleep.seconds: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)",
    ],
    [
      { lifecycle: { stopSignal: "SIGUSR1" } },
      "lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`",
    ],
  ])("%j", (fields, problem) => {
    expectProblem(withMain(fields), `spec.containers[0].${problem}`);
  });
});

describe("volumes", () => {
  it.each<[Partial<Volume>, string]>([
    [{ name: "" }, ".name: Required value"],
    [{ name: "../x" }, '.name: Invalid value: "../x": a lowercase RFC 1123 label'],
    [{ emptyDir: {}, hostPath: { path: "/x" } }, ".hostPath: Forbidden: may not specify more than 1 volume type"],
    [
      { emptyDir: { sizeLimit: "-1" } },
      ".emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity",
    ],
    [{ hostPath: { path: "" } }, ".hostPath.path: Required value"],
    [{ hostPath: { path: "/a/../b" } }, `.hostPath.path: Invalid value: "/a/../b": must not contain '..'`],
    [
      { hostPath: { path: "/a", type: "Pipe" } },
      '.hostPath.type: Unsupported value: "Pipe": supported values: "", "BlockDevice"',
    ],
    [{ secret: {} }, ".secret.secretName: Required value"],
    [
      { secret: { secretName: "s", defaultMode: 512 } },
      ".secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
    ],
    [
      { configMap: { name: "c", items: [{ key: "k", path: "/x" }] } },
      '.configMap.items[0].path: Invalid value: "/x": must be a relative path',
    ],
    [
      { configMap: { name: "c", items: [{ key: "k", path: "..x" }] } },
      `.configMap.items[0].path: Invalid value: "..x": must not start with '..'`,
    ],
    [
      { downwardAPI: { items: [{ path: "p" }] } },
      ".downwardAPI.items[0]: Required value: one of fieldRef and resourceFieldRef is required",
    ],
    [{ nfs: { server: "s", path: "x" } }, '.nfs.path: Invalid value: "x": must be an absolute path'],
    [{ persistentVolumeClaim: { claimName: "" } }, ".persistentVolumeClaim.claimName: Required value"],
    [{ image: {} }, ".image.reference: Required value"],
  ])("%j", (volume, problem) => {
    expectProblem(withVolume(volume), `spec.volumes[0]${problem}`);
  });

  it("have names of their own", () => {
    expect(problems({ volumes: [{ name: "v" }, { name: "v" }] })).toEqual([
      'spec.volumes[1].name: Duplicate value: "v"',
    ]);
  });

  const volumes: Volume[] = [{ name: "v" }, { name: "w" }];
  it.each<[Partial<Container>, string]>([
    [{ volumeMounts: [{ name: "x", mountPath: "/x" }] }, 'volumeMounts[0].name: Not found: "x"'],
    [{ volumeMounts: [{ name: "v", mountPath: "" }] }, "volumeMounts[0].mountPath: Required value"],
    [
      {
        volumeMounts: [
          { name: "v", mountPath: "/x" },
          { name: "w", mountPath: "/x" },
        ],
      },
      'volumeMounts[1].mountPath: Invalid value: "/x": must be unique',
    ],
    [
      { volumeMounts: [{ name: "v", mountPath: "/x", subPath: "/y" }] },
      'volumeMounts[0].subPath: Invalid value: "/y": must be a relative path',
    ],
    [
      { volumeMounts: [{ name: "v", mountPath: "/x", subPath: "a/../.." }] },
      `volumeMounts[0].subPath: Invalid value: "a/../..": must not contain '..'`,
    ],
    [
      { volumeMounts: [{ name: "v", mountPath: "/x", subPath: "a", subPathExpr: "b" }] },
      'volumeMounts[0].subPathExpr: Invalid value: "b": subPathExpr and subPath are mutually exclusive',
    ],
    [
      { volumeMounts: [{ name: "v", mountPath: "/x", mountPropagation: "Bidirectional" }] },
      "volumeMounts[0].mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
    ],
    [
      { volumeMounts: [{ name: "v", mountPath: "/x", recursiveReadOnly: "Enabled" }] },
      "volumeMounts[0].recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
    ],
    [
      { volumeDevices: [{ name: "v", devicePath: "/dev/x" }] },
      'volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
    ],
  ])("%j", (fields, problem) => {
    expect(withMain(fields, { volumes })).toEqual([`spec.containers[0].${problem}`]);
  });
});

describe("variables of files", () => {
  const volumes = [
    { name: "v", emptyDir: {} },
    { name: "host", hostPath: { path: "/x" } },
  ];
  it.each<[Partial<FileKeySelector>, string[]]>([
    [{}, []],
    [{ path: "" }, ["path: Required value"]],
    [{ path: "/x" }, ['path: Invalid value: "/x": must be a relative path']],
    [{ path: "a/../b" }, [`path: Invalid value: "a/../b": must not contain '..'`]],
    [{ key: "" }, ["key: Required value"]],
    [{ volumeName: "" }, ["volumeName: Required value"]],
    [{ volumeName: "gone" }, ['volumeName: Not found: "gone"']],
    [{ volumeName: "host" }, ['volumeName: Invalid value: "host": referenced volume must be of type emptyDir']],
  ])("%j", (fields, problems) => {
    const env = [{ name: "A", valueFrom: { fileKeyRef: { volumeName: "v", path: "p", key: "K", ...fields } } }];
    const place = "spec.containers[0].env[0].valueFrom.fileKeyRef";
    expect(withMain({ env }, { volumes })).toEqual(problems.map((problem) => `${place}.${problem}`));
  });
});

describe("security", () => {
  it.each<[Container["securityContext"], string]>([
    [{ runAsUser: -1 }, ".runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
    [{ procMount: "x" }, '.procMount: Unsupported value: "x": supported values: "Default", "Unmasked"'],
    [{ procMount: "Unmasked" }, '.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'],
    [
      { seccompProfile: { type: "" } },
      ".seccompProfile.type: Required value: type is required when seccompProfile is set",
    ],
    [
      { seccompProfile: { type: "x" } },
      '.seccompProfile.type: Unsupported value: "x": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
    [
      { seccompProfile: { type: "Localhost" } },
      ".seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
    ],
    [
      { seccompProfile: { type: "Localhost", localhostProfile: "../x" } },
      `.seccompProfile.localhostProfile: Invalid value: "../x": must not contain '..'`,
    ],
    [
      { seccompProfile: { type: "Unconfined", localhostProfile: "x" } },
      '.seccompProfile.localhostProfile: Invalid value: "x": can only be set when seccomp type is Localhost',
    ],
    [
      { privileged: true, allowPrivilegeEscalation: false },
      ': Invalid value: {"allowPrivilegeEscalation":false,"privileged":true}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
    ],
  ])("%j", (securityContext, problem) => {
    const found = withMain({ ...(securityContext && { securityContext }) });
    expect(found).toEqual([`spec.containers[0].securityContext${problem}`]);
  });
});

describe("the pod's own fields", () => {
  const sysctl = (name: string) => ({ securityContext: { sysctls: [{ name, value: "1" }] } });
  it.each<[Partial<PodSpec>, string]>([
    [
      { restartPolicy: "always" },
      'restartPolicy: Unsupported value: "always": supported values: "Always", "OnFailure", "Never"',
    ],
    [
      { activeDeadlineSeconds: 0 },
      "activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
    ],
    [
      { dnsPolicy: "x" },
      'dnsPolicy: Unsupported value: "x": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    ],
    [{ dnsPolicy: "None" }, "dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
    [{ dnsConfig: { nameservers: ["x"] } }, 'dnsConfig.nameservers[0]: Invalid value: "x": must be a valid IP address'],
    [
      { dnsConfig: { searches: ["a b"] } },
      'dnsConfig.searches[0]: Invalid value: "a b": a lowercase RFC 1123 subdomain',
    ],
    [
      { hostAliases: [{ ip: "256.0.0.1" }] },
      'hostAliases[0].ip: Invalid value: "256.0.0.1": must be a valid IP address',
    ],
    [{ hostname: "a.b" }, 'hostname: Invalid value: "a.b": must not contain dots'],
    [
      { hostPID: true, shareProcessNamespace: true },
      "shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
    ],
    [{ hostUsers: false, hostNetwork: true }, "hostNetwork: Forbidden: when `hostUsers` is false"],
    [sysctl(""), "securityContext.sysctls[0].name: Required value"],
    [
      sysctl("Kernel X"),
      'securityContext.sysctls[0].name: Invalid value: "Kernel X": must have at most 253 characters and match regex',
    ],
    [
      { ...sysctl("net.ipv4.ip_forward"), hostNetwork: true },
      `securityContext.sysctls[0].name: Invalid value: "net.ipv4.ip_forward": may not be specified when 'hostNetwork' is true`,
    ],
    [
      { containers: [{ ...main, ports: [{ containerPort: 80, hostPort: 81 }] }], hostNetwork: true },
      "containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true",
    ],
    [
      { tolerations: [{ effect: "NoExecute" }] },
      'tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty',
    ],
    [
      { tolerations: [{ key: "a", tolerationSeconds: 1 }] },
      "tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set",
    ],
    [
      { tolerations: [{ key: "a", operator: "x" }] },
      'tolerations[0].operator: Unsupported value: "x": supported values:',
    ],
    [
      { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }] },
      "topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
    ],
    [{ os: { name: "plan9" } }, 'os: Unsupported value: "plan9": supported values: "linux", "windows"'],
  ])("%j", (spec, problem) => {
    expectProblem(problems(spec), `spec.${problem}`);
  });
});

it("shows a bounded number of problems", () => {
  const env = Array.from({ length: 10_000 }, () => ({ name: "" }));
  const found = withMain({ env });
  expect(found).toHaveLength(51);
  expect(found.at(-1)).toMatch(/more problems are not shown/);
});
