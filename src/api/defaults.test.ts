import { describe, expect, it } from "vitest";
import { defaultPod } from "./defaults.ts";
import type { Container, PodSpec, Volume } from "./gen/types.ts";

const spec = (fields: Partial<PodSpec>) =>
  defaultPod({ metadata: { name: "a" }, spec: { containers: [], ...fields } }).spec;
const container = (fields: Partial<Container>, more: Partial<PodSpec> = {}) =>
  spec({ containers: [{ name: "main", image: "app:1", ...fields }], ...more })?.containers[0];
const volume = (fields: Partial<Volume>) => spec({ volumes: [{ name: "v", ...fields }] })?.volumes?.[0];

describe("defaultPod", () => {
  it("sets the pod's fields", () => {
    expect(defaultPod({}).spec).toEqual({
      containers: [],
      dnsPolicy: "ClusterFirst",
      enableServiceLinks: true,
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    });
  });

  it("keeps what the pod says, zero and false included", () => {
    const said: PodSpec = {
      containers: [],
      dnsPolicy: "Default",
      enableServiceLinks: false,
      restartPolicy: "Never",
      schedulerName: "mine",
      securityContext: { runAsUser: 1 },
      terminationGracePeriodSeconds: 0,
    };
    expect(spec(said)).toEqual(said);
  });

  it("leaves the pod it was given alone, and twice is as good as once", () => {
    const pod = { spec: { containers: [{ name: "a", ports: [{ containerPort: 1 }] }] } };
    const before = structuredClone(pod);
    const once = defaultPod(pod);
    expect(pod).toEqual(before);
    expect(defaultPod(once)).toEqual(once);
  });

  it("keeps both names of the service account alike", () => {
    expect(spec({ serviceAccount: "old" })?.serviceAccountName).toBe("old");
    expect(spec({ serviceAccountName: "new", serviceAccount: "old" })?.serviceAccount).toBe("new");
  });
});

describe("containers", () => {
  it("get what a container needs", () => {
    expect(container({})).toEqual({
      name: "main",
      image: "app:1",
      imagePullPolicy: "IfNotPresent",
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
    });
    expect(container({ image: "app" })?.imagePullPolicy).toBe("Always");
  });

  it("of every kind do", () => {
    const all = spec({ initContainers: [{ name: "i" }], ephemeralContainers: [{ name: "e" }] });
    expect(all?.initContainers?.[0]?.terminationMessagePolicy).toBe("File");
    expect(all?.ephemeralContainers?.[0]?.terminationMessagePolicy).toBe("File");
  });

  it("get ports by TCP, on the host network the host's", () => {
    expect(container({ ports: [{ containerPort: 80 }] })?.ports).toEqual([{ containerPort: 80, protocol: "TCP" }]);
    expect(container({ ports: [{ containerPort: 80 }] }, { hostNetwork: true })?.ports).toEqual([
      { containerPort: 80, hostPort: 80, protocol: "TCP" },
    ]);
  });

  it("request what they limit, not finer than a thousandth", () => {
    const resources = { limits: { cpu: "100u", memory: "1Gi" }, requests: { memory: "512Mi" } };
    expect(container({ resources })?.resources).toEqual({
      limits: { cpu: "1m", memory: "1Gi" },
      requests: { cpu: "1m", memory: "512Mi" },
    });
  });

  it("get probes with their numbers, zero being unset", () => {
    const livenessProbe = { httpGet: { port: 80, path: "" }, timeoutSeconds: 0, periodSeconds: 5 };
    expect(container({ livenessProbe })?.livenessProbe).toEqual({
      httpGet: { port: 80, path: "/", scheme: "HTTP" },
      timeoutSeconds: 1,
      periodSeconds: 5,
      successThreshold: 1,
      failureThreshold: 3,
    });
    expect(container({ readinessProbe: { grpc: { port: 1 } } })?.readinessProbe?.grpc).toEqual({
      port: 1,
      service: "",
    });
  });

  it("get hooks and field references completed", () => {
    const preStop = { httpGet: { port: 80 } };
    expect(container({ lifecycle: { preStop } })?.lifecycle?.preStop?.httpGet).toEqual({
      port: 80,
      path: "/",
      scheme: "HTTP",
    });
    const env = [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }];
    expect(container({ env })?.env?.[0]?.valueFrom?.fieldRef?.apiVersion).toBe("v1");
  });
});

describe("volumes", () => {
  it.each<[string, Partial<Volume>, Partial<Volume>]>([
    ["without a source are empty directories", {}, { emptyDir: {} }],
    ["emptyDir stays as it is", { emptyDir: { medium: "Memory" } }, { emptyDir: { medium: "Memory" } }],
    ["hostPath", { hostPath: { path: "/x" } }, { hostPath: { path: "/x", type: "" } }],
    ["secret", { secret: { secretName: "s" } }, { secret: { secretName: "s", defaultMode: 420 } }],
    ["configMap", { configMap: { name: "c", defaultMode: 0 } }, { configMap: { name: "c", defaultMode: 0 } }],
    [
      "downwardAPI",
      { downwardAPI: { items: [{ path: "l", fieldRef: { fieldPath: "metadata.labels" } }] } },
      {
        downwardAPI: {
          defaultMode: 420,
          items: [{ path: "l", fieldRef: { apiVersion: "v1", fieldPath: "metadata.labels" } }],
        },
      },
    ],
    [
      "projected",
      { projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
      { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 3600 } }] } },
    ],
    [
      "projected, of a certificate",
      { projected: { sources: [{ podCertificate: { signerName: "a.b/c", keyType: "ED25519" } }] } },
      {
        projected: {
          defaultMode: 420,
          sources: [{ podCertificate: { signerName: "a.b/c", keyType: "ED25519", maxExpirationSeconds: 86_400 } }],
        },
      },
    ],
    ["image", { image: { reference: "app" } }, { image: { reference: "app", pullPolicy: "Always" } }],
    [
      "iscsi",
      { iscsi: { iqn: "q", lun: 0, targetPortal: "t" } },
      { iscsi: { iqn: "q", lun: 0, targetPortal: "t", iscsiInterface: "default" } },
    ],
    [
      "ephemeral",
      { ephemeral: { volumeClaimTemplate: { spec: {} } } },
      { ephemeral: { volumeClaimTemplate: { spec: { volumeMode: "Filesystem" } } } },
    ],
  ])("%s", (_, given, expected) => {
    expect(volume(given)).toEqual({ name: "v", ...expected });
  });
});

describe("pod-level resources", () => {
  const containers = [
    { name: "a", image: "x:1", resources: { requests: { cpu: "1" }, limits: { "hugepages-2Mi": "4Mi" } } },
  ];

  it("request the containers' sum, else the pod's limit; hugepages limits follow the containers'", () => {
    expect(spec({ containers, resources: { limits: { cpu: "4", memory: "1Gi" } } })?.resources).toEqual({
      limits: { cpu: "4", memory: "1Gi", "hugepages-2Mi": "4Mi" },
      requests: { cpu: "1", memory: "1Gi", "hugepages-2Mi": "4Mi" },
    });
  });

  it("stay away when the pod sets none", () => {
    expect(spec({ containers })?.resources).toBeUndefined();
    expect(spec({ containers, resources: {} })?.resources).toEqual({});
  });
});
