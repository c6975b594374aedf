/** What mutation puts into texts: the names and signs that the readers know. */
export const JSON_WORDS = [
  ...['{"', '":', "[", "]", "{", "}", ",", "null", "true", "false", '"', "\\u0000", "\\ud800", "\\", "\\\\"],
  ...["1e400", "-0", "0.1", "12345678901234567890", "9007199254740993", '"__proto__":', '"constructor":', " ", "\n"],
];

export const YAML_WORDS = [
  ...["- ", ": ", "? ", "&a ", "*a", "<<: *a", "!!int ", "!!binary ", "!a ", "|", "|2", ">-", '"', "'", "# ", "---\n"],
  ...[
    "...\n",
    "%YAML 1.1\n",
    "\t",
    "\n",
    "\n  ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "~",
    "0o17",
    "0x1F",
    ".inf",
    "1_000",
    "0644",
  ],
  ...["2001-01-01", "yes", "\0", "\uFEFF", "\u0085", "12345678901234567890", "__proto__: ", "=", "190:20:30"],
];

export const POD_WORDS = [
  ...["apiVersion: v1\nkind: Pod\n", "metadata: ", "name: ", "namespace: ", "uid: ", "labels: ", "annotations: "],
  ...[
    "spec: ",
    "containers: ",
    "initContainers: ",
    "image: ",
    "command: ",
    "args: ",
    "env: ",
    "ports: ",
    "resources: ",
  ],
  ...["limits: ", "requests: ", "cpu: ", "memory: ", "volumes: ", "volumeMounts: ", "mountPath: ", "subPath: "],
  ...[
    "hostPath: ",
    "emptyDir: {}",
    "configMap: ",
    "projected: ",
    "securityContext: ",
    "runAsUser: ",
    "livenessProbe: ",
  ],
  ...["httpGet: ", "port: ", "restartPolicy: ", "terminationGracePeriodSeconds: ", "affinity: ", "tolerations: "],
  ...[
    "topologySpreadConstraints: ",
    "overhead: ",
    "hostNetwork: true",
    "items: ",
    "kind: PodList\n",
    "1Gi",
    "100m",
    "../",
  ],
];

export const POD_OBJECT = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", namespace: "default", labels: { app: "a" }, annotations: { "a.b/c": "d" } },
  spec: {
    containers: [
      {
        name: "c",
        image: "registry.example/a:1",
        command: ["sh", "-c", "echo $(A)"],
        env: [{ name: "A", value: "1" }],
        ports: [{ containerPort: 80, protocol: "TCP" }],
        resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "1Gi" } },
        volumeMounts: [{ name: "v", mountPath: "/v", subPath: "a/b" }],
        livenessProbe: { httpGet: { path: "/", port: 80 }, periodSeconds: 3 },
        securityContext: { runAsUser: 1000, capabilities: { drop: ["ALL"] } },
      },
    ],
    volumes: [{ name: "v", emptyDir: { sizeLimit: "1Gi" } }],
    tolerations: [{ key: "a", operator: "Exists", tolerationSeconds: 3 }],
    restartPolicy: "OnFailure",
  },
};

export const JSON_SEEDS = [
  JSON.stringify(POD_OBJECT),
  '{"a":{"b":[1,2.5e3,-0,"x\\n\\u00e9",null,true,{}]},"c":12345678901234567890}',
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"b","a":"c"}}',
];

export const POD_YAML = `apiVersion: v1
kind: Pod
metadata: {name: a, labels: {app: a}}
spec:
  hostNetwork: true
  containers:
  - name: c
    image: registry.example/a:1
    command: [sh, -c, "echo 1"]
    env: [{name: A, value: "1"}]
    ports: [{containerPort: 80}]
    resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 1Gi}}
    volumeMounts: [{name: v, mountPath: /v, subPath: a/b}]
    livenessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 3}
  volumes:
  - name: v
    hostPath: {path: /var/log, type: Directory}
`;

export const YAML_SEEDS = [
  "a: &x {b: 1}\nc:\n  <<: *x\n  d: [1, 0x1F, 0644, ~, yes, 1.5, .inf]\n",
  "---\na: |\n  text\n   more\nb: >-\n  folded\n  text\n...\n---\n- 'q''q'\n- \"e\\n\\x41\"\n- !!binary aGVsbG8=\n",
  '? a\n: b\n"c d": [e, {f: g}]\n# comment\n',
  '{"json": ["is", {"yaml": true}], "n": 12345678901234567890}',
];
