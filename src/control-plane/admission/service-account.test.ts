import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/gen/types.ts";
import { type KubeObject, untyped } from "../../api/object.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { admit, admitPod, pod, readerOf, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createServiceAccount } from "./service-account.ts";

const account = (name: string, more: object = {}, annotations: Record<string, string> = {}): KubeObject => {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "a", annotations }, ...more };
};
const STRICT = { "kubernetes.io/enforce-mountable-secrets": "true" };
const MIRROR = { "kubernetes.io/config.mirror": "hash" };
const TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const plugin = createServiceAccount({
  reader: readerOf({
    serviceaccounts: [
      account("default"),
      account("quiet", { automountServiceAccountToken: false }),
      account("puller", { imagePullSecrets: [{ name: "registry" }] }),
      account("strict", { secrets: [{ name: "mine" }], imagePullSecrets: [{ name: "registry" }] }, STRICT),
    ],
  }),
  feed: { follow: () => () => undefined },
  clock: createFakeClock(),
  randomSuffix: () => "x7k2p",
});
const admitted = (spec: Parameters<typeof pod>[0]) => admitPod(plugin, requestFor("pods", { object: pod(spec) })).spec;
const volumesOf = (spec: Pod["spec"]) => spec?.volumes?.map(({ name }) => name);
const mountsOf = (spec: Pod["spec"]) =>
  [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ volumeMounts = [] }) => {
    return volumeMounts.map(({ name, mountPath }) => `${name} at ${mountPath}`);
  });

describe("a pod's service account", () => {
  test("is the default one unless it names another, under both names of the field", () => {
    expect(admitted({})).toMatchObject({ serviceAccountName: "default", serviceAccount: "default" });
    expect(admitted({ serviceAccountName: "puller" })).toMatchObject({ serviceAccount: "puller" });
  });

  test("must exist", () => {
    const object = pod({ serviceAccountName: "nobody" });
    expect(refusalOf(plugin, requestFor("pods", { object })).message).toBe(
      'pods "p" is forbidden: error looking up service account a/nobody: serviceaccount "nobody" not found',
    );
    expect(refusalOf(plugin, requestFor("pods", { namespace: "b", object: pod() })).message).toContain(
      'error looking up service account b/default: serviceaccount "default" not found',
    );
  });

  test("is not looked at when a pod is updated", () => {
    const object = pod({ serviceAccountName: "nobody" });
    expect(admit(plugin, requestFor("pods", { operation: "UPDATE", object, current: object }))).toBe(object);
  });

  test("lends its pull secrets to pods that have none", () => {
    expect(admitted({ serviceAccountName: "puller" })).toMatchObject({ imagePullSecrets: [{ name: "registry" }] });
    const own = { serviceAccountName: "puller", imagePullSecrets: [{ name: "mine" }] };
    expect(admitted(own)).toMatchObject({ imagePullSecrets: [{ name: "mine" }] });
    expect(admitted({})).not.toHaveProperty("imagePullSecrets");
  });
});

describe("the token volume", () => {
  test("is projected as upstream's and mounted in every container", () => {
    const spec = admitted({ initContainers: [{ name: "i" }] });
    expect(spec?.volumes).toEqual([
      {
        name: "kube-api-access-x7k2p",
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
            { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
            {
              downwardAPI: {
                items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
              },
            },
          ],
        },
      },
    ]);
    const mount = { name: "kube-api-access-x7k2p", readOnly: true, mountPath: TOKEN_PATH };
    expect(spec?.containers[0]?.volumeMounts).toEqual([mount]);
    expect(spec?.initContainers?.[0]?.volumeMounts).toEqual([mount]);
  });

  test.each([
    ["the pod says no", { automountServiceAccountToken: false }, []],
    ["the account says no", { serviceAccountName: "quiet" }, []],
    [
      "the account says no and the pod yes",
      { serviceAccountName: "quiet", automountServiceAccountToken: true },
      ["kube-api-access-x7k2p"],
    ],
  ])("depends on both: %s", (_when, spec, volumes) => {
    expect(volumesOf(admitted(spec)) ?? []).toEqual(volumes);
  });

  test("leaves alone what a container mounts there itself", () => {
    const mine = { name: "mine", mountPath: TOKEN_PATH };
    const volumes = [{ name: "mine", emptyDir: {} }];
    const all = admitted({ volumes, containers: [{ name: "c", volumeMounts: [mine] }] });
    expect(volumesOf(all)).toEqual(["mine"]);
    const some = admitted({ volumes, containers: [{ name: "c", volumeMounts: [mine] }, { name: "d" }] });
    expect(volumesOf(some)).toEqual(["mine", "kube-api-access-x7k2p"]);
    expect(mountsOf(some)).toEqual([[`mine at ${TOKEN_PATH}`], [`kube-api-access-x7k2p at ${TOKEN_PATH}`]]);
  });

  test("is not added twice to a pod that was read and is created anew", () => {
    const again = admitted({ volumes: [{ name: "kube-api-access-abcde", projected: { sources: [] } }] });
    expect(volumesOf(again)).toEqual(["kube-api-access-abcde"]);
    expect(mountsOf(again)).toEqual([[`kube-api-access-abcde at ${TOKEN_PATH}`]]);
  });
});

describe("a mirror pod", () => {
  test("is left as it is", () => {
    const object = pod({}, { annotations: MIRROR });
    expect(admit(plugin, requestFor("pods", { object }))).toBe(object);
  });

  test.each([
    [{ serviceAccountName: "default" }, "a mirror pod may not reference service accounts"],
    [{ volumes: [{ name: "v", secret: { secretName: "s" } }] }, "a mirror pod may not reference secrets"],
    [{ imagePullSecrets: [{ name: "s" }] }, "a mirror pod may not reference secrets"],
    [
      { containers: [{ name: "c", envFrom: [{ secretRef: { name: "s" } }] }] },
      "a mirror pod may not reference secrets",
    ],
    [
      { volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }] },
      "a mirror pod may not use ServiceAccountToken volume projections",
    ],
  ])("may reference nothing: %j", (spec, detail) => {
    const error = refusalOf(plugin, requestFor("pods", { object: pod(spec, { annotations: MIRROR }) }));
    expect(error.message).toBe(`pods "p" is forbidden: ${detail}`);
  });
});

describe("an account that enforces its mountable secrets", () => {
  const ref = (name: string) => ({ name: "V", valueFrom: { secretKeyRef: { name, key: "k" } } });
  const rule = "is not allowed because service account strict does not reference that";

  test.each([
    [
      { volumes: [{ name: "v", secret: { secretName: "other" } }] },
      `volume with secret.secretName="other" ${rule} secret`,
    ],
    [
      { containers: [{ name: "c", env: [ref("other")] }] },
      `container c with envVar V referencing secret.secretName="other" ${rule} secret`,
    ],
    [
      { initContainers: [{ name: "i", envFrom: [{ secretRef: { name: "other" } }] }] },
      `init container i with envFrom referencing secret.secretName="other" ${rule} secret`,
    ],
    [{ imagePullSecrets: [{ name: "other" }] }, `imagePullSecrets[0].name="other" ${rule} imagePullSecret`],
  ])("refuses others: %j", (spec, detail) => {
    const object = pod({ serviceAccountName: "strict", ...spec });
    expect(refusalOf(plugin, requestFor("pods", { object })).message).toBe(`pods "p" is forbidden: ${detail}`);
  });

  test("takes its own", () => {
    const spec = { volumes: [{ name: "v", secret: { secretName: "mine" } }], imagePullSecrets: [{ name: "registry" }] };
    const containers = [{ name: "c", env: [ref("mine")] }];
    expect(() => admitted({ serviceAccountName: "strict", containers, ...spec })).not.toThrow();
  });

  test("CVE-2024-3177: looks at what every kind of container takes its environment from", () => {
    const envFrom = [{ secretRef: { name: "other" } }];
    for (const field of ["containers", "initContainers"]) {
      const object = pod({ serviceAccountName: "strict", [field]: [{ name: "c", envFrom }] });
      expect(refusalOf(plugin, requestFor("pods", { object })).message).toContain("c with envFrom referencing");
    }
    const object = pod({ serviceAccountName: "strict", ephemeralContainers: [{ name: "e", envFrom }] });
    const request = requestFor("pods/ephemeralcontainers", { operation: "UPDATE", object, current: object });
    expect(refusalOf(plugin, request).message).toContain("ephemeral container e with envFrom referencing");
  });

  test("CVE-2023-2728: looks at ephemeral containers when they are added", () => {
    const spec = { serviceAccountName: "strict", ephemeralContainers: [{ name: "e", env: [ref("other")] }] };
    const object = pod(spec);
    const request = requestFor("pods/ephemeralcontainers", { operation: "UPDATE", object, current: object });
    expect(refusalOf(plugin, request).message).toContain("ephemeral container e with envVar V");
  });
});

test("what was handed in is not changed", () => {
  const object = pod({ initContainers: [{ name: "i" }] });
  const before = structuredClone(object);
  admit(plugin, requestFor("pods", { object }));
  expect(object).toEqual(before);
  expect(untyped(admitPod(plugin, requestFor("pods", { object })))).not.toBe(object);
});
