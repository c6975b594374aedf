import { describe, expect, test } from "vitest";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import type { Authorize } from "../ports/request.ts";
import { admit, admitPod, pod, readerOf, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createAdmissionPlugins } from "./admission-plugins.ts";
import {
  createCertificateApproval,
  createCertificateSigning,
  createCertificateSubjectRestriction,
} from "./certificates.ts";
import { createDefaultStorageClass } from "./default-storage-class.ts";
import { createDefaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { createRuntimeClass } from "./runtime-class.ts";
import { createTaintNodesByCondition } from "./taint-nodes-by-condition.ts";

test("the plugins run in upstream's order", () => {
  const plugins = createAdmissionPlugins(
    {
      reader: readerOf({}),
      feed: { follow: () => () => undefined },
      clock: createFakeClock(),
      randomSuffix: () => "",
      authorize: () => ({ allowed: false, reason: "" }),
      resolveKind: () => undefined,
      viewsOf: (kind) => [kind],
      loadSubjectReader: async () => () => ({ commonName: "", organizations: [] }),
      webhooks: { name: "AdmissionWebhooks" },
    },
    { apiAudiences: [] },
  );
  expect(plugins.map(({ name }) => name)).toEqual([
    "CertificateRequester",
    "NamespaceLifecycle",
    "LimitRanger",
    "ServiceAccount",
    "NodeRestriction",
    "TaintNodesByCondition",
    "PodSecurity",
    "Priority",
    "DefaultTolerationSeconds",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "CertificateApproval",
    "CertificateSigning",
    "PodCertificateSigning",
    "ClusterTrustBundleAttest",
    "CertificateSubjectRestriction",
    "DeviceAccess",
    "DefaultIngressClass",
    "PodTopologyLabels",
    "MutatingAdmissionPolicy",
    "ValidatingAdmissionPolicy",
    "AdmissionWebhooks",
    "ResourceQuota",
    "UnattendedKinds",
  ]);
});

describe("default tolerations", () => {
  const NOT_READY = {
    key: "node.kubernetes.io/not-ready",
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 300,
  };
  const UNREACHABLE = { ...NOT_READY, key: "node.kubernetes.io/unreachable" };
  const plugin = createDefaultTolerationSeconds();
  const tolerationsOf = (tolerations: object[]) => {
    return admitPod(plugin, requestFor("pods", { object: pod({ tolerations }) })).spec?.tolerations;
  };

  test.each([
    ["nothing", [], [NOT_READY, UNREACHABLE]],
    ["one of them", [{ ...NOT_READY, tolerationSeconds: 5 }], [{ ...NOT_READY, tolerationSeconds: 5 }, UNREACHABLE]],
    ["everything", [{ operator: "Exists" }], [{ operator: "Exists" }]],
    ["every NoExecute", [{ operator: "Exists", effect: "NoExecute" }], [{ operator: "Exists", effect: "NoExecute" }]],
    [
      "another effect",
      [{ key: NOT_READY.key, operator: "Exists", effect: "NoSchedule" }],
      [{ key: NOT_READY.key, operator: "Exists", effect: "NoSchedule" }, NOT_READY, UNREACHABLE],
    ],
  ])("where a pod tolerates %s", (_what, own, expected) => {
    expect(tolerationsOf(own)).toEqual(expected);
  });

  test("are as long as the options say, and come with updates too", () => {
    const other = createDefaultTolerationSeconds({ notReadyTolerationSeconds: 1, unreachableTolerationSeconds: 2 });
    const request = requestFor("pods", { operation: "UPDATE", object: pod(), current: pod() });
    expect(admitPod(other, request).spec?.tolerations?.map(({ tolerationSeconds }) => tolerationSeconds)).toEqual([
      1, 2,
    ]);
    expect(admit(other, requestFor("pods/status", { operation: "UPDATE", object: request.object }))).toBe(
      request.object,
    );
  });
});

describe("a new node", () => {
  const node = (taints: object[] = []): KubeObject => {
    return { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec: { taints } };
  };
  const plugin = createTaintNodesByCondition();
  const taintsOf = (object: KubeObject) => {
    const admitted = admit(plugin, requestFor("nodes", { namespace: "", object }));
    return typed("Node", admitted ?? object).spec?.taints;
  };

  test("is tainted as not ready, once", () => {
    const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
    expect(taintsOf(node())).toEqual([taint]);
    expect(taintsOf(node([taint]))).toEqual([taint]);
    expect(taintsOf(node([{ key: "k", effect: "NoExecute" }]))).toEqual([{ key: "k", effect: "NoExecute" }, taint]);
  });

  test("is not tainted again by updates", () => {
    const object = node();
    expect(admit(plugin, requestFor("nodes", { operation: "UPDATE", object, current: object }))).toBe(object);
  });
});

describe("a pod's runtime class", () => {
  const runtimeClass = (name: string, more: object): KubeObject => {
    return { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name }, handler: "h", ...more };
  };
  const plugin = createRuntimeClass(
    readerOf({
      "runtimeclasses.node.k8s.io": [
        runtimeClass("plain", {}),
        runtimeClass("heavy", { overhead: { podFixed: { cpu: "250m" } } }),
        runtimeClass("placed", {
          scheduling: {
            nodeSelector: { vm: "yes" },
            tolerations: [
              { key: "vm", operator: "Exists" },
              { key: "x", operator: "Equal", value: "1", effect: "NoSchedule" },
            ],
          },
        }),
      ],
    }),
  );
  const admitted = (spec: Parameters<typeof pod>[0]) =>
    admitPod(plugin, requestFor("pods", { object: pod(spec) })).spec;
  const refused = (spec: Parameters<typeof pod>[0]) =>
    refusalOf(plugin, requestFor("pods", { object: pod(spec) })).message;

  test("sets the overhead", () => {
    expect(admitted({ runtimeClassName: "heavy" })).toMatchObject({ overhead: { cpu: "250m" } });
    expect(admitted({ runtimeClassName: "heavy", overhead: { cpu: "0.25" } })).toMatchObject({
      overhead: { cpu: "250m" },
    });
    expect(admitted({ runtimeClassName: "plain" })).not.toHaveProperty("overhead");
  });

  test.each([
    [{ runtimeClassName: "none" }, 'pod rejected: RuntimeClass "none" not found'],
    [
      { runtimeClassName: "heavy", overhead: { cpu: "1" } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      { runtimeClassName: "plain", overhead: { cpu: "1" } },
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
    ],
    [{ overhead: { cpu: "1" } }, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"],
    [
      { runtimeClassName: "placed", nodeSelector: { vm: "no" } },
      "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no",
    ],
  ])("refuses what does not fit: %j", (spec, detail) => {
    expect(refused(spec)).toBe(`pods "p" is forbidden: ${detail}`);
  });

  test("adds its placement, without tolerations that another covers", () => {
    const spec = admitted({
      runtimeClassName: "placed",
      nodeSelector: { disk: "ssd" },
      tolerations: [
        { key: "vm", operator: "Equal", value: "a" },
        { key: "x", operator: "Exists" },
      ],
    });
    expect(spec?.nodeSelector).toEqual({ disk: "ssd", vm: "yes" });
    expect(spec?.tolerations).toEqual([
      { key: "x", operator: "Exists" },
      { key: "vm", operator: "Exists" },
    ]);
  });

  test.each([
    ["shorter", 10, 5, 1],
    ["longer", 5, 10, 2],
  ])("keeps a NoExecute toleration unless one as wide covers its %s time", (_what, wide, narrow, count) => {
    const toleration = { key: "k", operator: "Exists", effect: "NoExecute" };
    const scheduling = { tolerations: [{ ...toleration, tolerationSeconds: wide }] };
    const other = createRuntimeClass(
      readerOf({ "runtimeclasses.node.k8s.io": [runtimeClass("timed", { scheduling })] }),
    );
    const own = [{ ...toleration, operator: "Equal", value: "v", tolerationSeconds: narrow }];
    const object = pod({ runtimeClassName: "timed", tolerations: own });
    expect(admitPod(other, requestFor("pods", { object })).spec?.tolerations).toHaveLength(count);
  });
});

describe("a claim without a storage class", () => {
  const storageClass = (name: string, isDefault: string, creationTimestamp: string): KubeObject => {
    const annotations = { "storageclass.kubernetes.io/is-default-class": isDefault };
    return {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name, annotations, creationTimestamp },
    };
  };
  const claim = (spec: object = {}, annotations: Record<string, string> = {}): KubeObject => {
    return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "c", annotations }, spec };
  };
  const plugin = createDefaultStorageClass(
    readerOf({
      "storageclasses.storage.k8s.io": [
        storageClass("old", "true", "2025-01-01T00:00:00Z"),
        storageClass("new", "true", "2026-01-01T00:00:00Z"),
        storageClass("newest", "false", "2026-02-01T00:00:00Z"),
      ],
    }),
  );
  const classOf = (object: KubeObject, admission = plugin) => {
    const admitted = admit(admission, requestFor("persistentvolumeclaims", { object }));
    return typed("PersistentVolumeClaim", admitted ?? object).spec?.storageClassName;
  };

  test("gets the newest default", () => {
    expect(classOf(claim())).toBe("new");
    expect(classOf(claim(), createDefaultStorageClass(readerOf({})))).toBeUndefined();
  });

  test("is one that did not choose: the empty class and the old annotation are choices", () => {
    expect(classOf(claim({ storageClassName: "" }))).toBe("");
    expect(classOf(claim({}, { "volume.beta.kubernetes.io/storage-class": "x" }))).toBeUndefined();
  });
});

describe("certificate requests", () => {
  const target = "certificatesigningrequests.certificates.k8s.io";
  const csr = (signerName: string, status: object = {}, request = "") =>
    untyped({
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "csr" },
      spec: { signerName, request },
      status,
    });
  /** Allows a user exactly one verb for one signer. */
  const allowing =
    (verb: string, signer: string): Authorize =>
    (attributes) => {
      const isSigner = "resource" in attributes && attributes.resource === "signers" && attributes.name === signer;
      return { allowed: isSigner && attributes.verb === verb, reason: "" };
    };
  const update = { operation: "UPDATE", namespace: "" } as const;

  test("are approved by whoever may approve for the stored signer", () => {
    const request = requestFor(`${target}/approval`, {
      ...update,
      current: csr("example.com/s"),
      object: csr("example.com/other"),
    });
    for (const signer of ["example.com/s", "example.com/*"]) {
      expect(() => admit(createCertificateApproval(allowing("approve", signer)), request)).not.toThrow();
    }
    expect(refusalOf(createCertificateApproval(allowing("approve", "example.com/other")), request).message).toBe(
      'certificatesigningrequests.certificates.k8s.io "csr" is forbidden: user not permitted to approve requests with signerName "example.com/s"',
    );
  });

  test("are signed by whoever may sign; other changes of the status are free", () => {
    const current = csr("example.com/s", { conditions: [{ type: "Approved", status: "True" }] });
    const signed = csr("example.com/s", { conditions: [{ status: "True", type: "Approved" }], certificate: "PEM" });
    const failed = csr("example.com/s", { conditions: [{ type: "Failed", status: "True" }] });
    const nobody = createCertificateSigning(() => ({ allowed: false, reason: "" }));
    for (const object of [signed, failed]) {
      const request = requestFor(`${target}/status`, { ...update, current, object });
      expect(() => admit(createCertificateSigning(allowing("sign", "example.com/s")), request)).not.toThrow();
      expect(refusalOf(nobody, request).message).toContain(
        'user not permitted to sign requests with signerName "example.com/s"',
      );
    }
    const reordered = csr("example.com/s", { conditions: [{ status: "True", type: "Approved" }] });
    expect(() =>
      admit(nobody, requestFor(`${target}/status`, { ...update, current, object: reordered })),
    ).not.toThrow();
  });

  test("make nobody all-powerful through the signer of clients", () => {
    const plugin = createCertificateSubjectRestriction({
      settle: () => undefined,
      parse(request) {
        if (request === "broken") throw new Error("no PEM");
        return { commonName: "x", organizations: request.split(",") };
      },
    });
    const create = (signer: string, organizations: string) =>
      requestFor(target, { namespace: "", object: csr(signer, {}, organizations) });
    const signer = "kubernetes.io/kube-apiserver-client";
    expect(refusalOf(plugin, create(signer, "dev,system:masters")).message).toContain(
      `use of ${signer} signer with system:masters group is not allowed`,
    );
    expect(refusalOf(plugin, create(signer, "broken")).message).toContain("failed to parse CSR: no PEM");
    expect(() => admit(plugin, create(signer, "dev"))).not.toThrow();
    expect(() => admit(plugin, create("example.com/s", "system:masters"))).not.toThrow();
  });
});
