import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import { NODE, staticPod } from "./__fixtures__/mirror-rig.ts";
import { findForbiddenReference, makeMirrorPod } from "./make-mirror-pod.ts";
import { type MirrorView, planMirrorPods } from "./plan-mirror-pods.ts";

const OWNER = { nodeName: NODE, nodeUid: "node-uid" };

function mirrorOf(name: string, hash: string, more: Pod["metadata"] = {}): Pod {
  const mirror = makeMirrorPod(staticPod(name, hash), OWNER);
  return { ...mirror, metadata: { ...mirror.metadata, uid: `uid-of-${hash}`, ...more } };
}

function plan(view: Partial<MirrorView>): string[] {
  const actions = planMirrorPods({
    staticPods: [],
    mirrorPods: [],
    nodeUid: "node-uid",
    sourcesReady: true,
    isOutlived: () => false,
    isEnding: () => false,
    ...view,
  });
  return actions.map((action) =>
    action.kind === "create" ? `create ${podUid(action.staticPod)}` : `delete ${podUid(action.mirror)}`,
  );
}

const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const isEnding = (fullName: string) => fullName === "a_kube-system";
const [a1, a2] = [staticPod("a", "a1"), staticPod("a", "a2")];

describe("the plan", () => {
  it.each<[string, Partial<MirrorView>, string[]]>([
    ["creates what is missing", { staticPods: [a1] }, ["create a1"]],
    ["leaves what fits", { staticPods: [a1], mirrorPods: [mirrorOf("a", "a1")] }, []],
    [
      "replaces what is of another manifest",
      { staticPods: [a2], mirrorPods: [mirrorOf("a", "a1")] },
      ["delete uid-of-a1", "create a2"],
    ],
    [
      "replaces what somebody deletes",
      { staticPods: [a1], mirrorPods: [mirrorOf("a", "a1", deleted)] },
      ["delete uid-of-a1", "create a1"],
    ],
    ["deletes what has no static pod", { mirrorPods: [mirrorOf("a", "a1")] }, ["delete uid-of-a1"]],
    ["but not before all sources are ready", { mirrorPods: [mirrorOf("a", "a1")], sourcesReady: false }, []],
    ["nor while the static pod is being stopped", { mirrorPods: [mirrorOf("a", "a1")], isEnding }, []],
    [
      "leaves a mirror to a static pod that is stopped for a new one",
      { staticPods: [a2], mirrorPods: [mirrorOf("a", "a1")], isEnding },
      [],
    ],
    ["creates none of a static pod that is being stopped", { staticPods: [a1], isEnding }, []],
    ["waits for the node", { staticPods: [a1], nodeUid: undefined }, []],
    [
      "deletes what is outdated without waiting for the node",
      { staticPods: [a2], mirrorPods: [mirrorOf("a", "a1")], nodeUid: undefined },
      ["delete uid-of-a1"],
    ],
    [
      "needs no ready sources for static pods that are there",
      { staticPods: [a2], mirrorPods: [mirrorOf("a", "a1")], sourcesReady: false },
      ["delete uid-of-a1", "create a2"],
    ],
    [
      "tells namespaces apart",
      { staticPods: [a1], mirrorPods: [mirrorOf("a", "a1", { namespace: "default" })] },
      ["create a1", "delete uid-of-a1"],
    ],
    ["does not touch pods that are no mirrors", { mirrorPods: [a1] }, []],
    [
      "creates none that would refer to the API",
      { staticPods: [staticPod("a", "a1", { serviceAccountName: "s" })] },
      [],
    ],
  ])("%s", (_, view, actions) => {
    expect(plan(view)).toEqual(actions);
  });
});

describe("a mirror pod", () => {
  it("is the static pod, marked with its manifest's hash and owned by the node", () => {
    expect(makeMirrorPod(a1, OWNER)).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "a",
        namespace: "kube-system",
        labels: { app: "a" },
        annotations: {
          "kubernetes.io/config.hash": "a1",
          "kubernetes.io/config.mirror": "a1",
          "kubernetes.io/config.source": "file",
        },
        ownerReferences: [{ apiVersion: "v1", kind: "Node", name: NODE, uid: "node-uid", controller: true }],
      },
      spec: { containers: [{ name: "main", image: "i" }], nodeName: NODE },
    });
  });

  it.each<[string, Partial<PodSpec>, string]>([
    ["a service account", { serviceAccountName: "s" }, "a service account"],
    ["image pull secrets", { imagePullSecrets: [{ name: "s" }] }, "secrets"],
    ["resource claims", { resourceClaims: [{ name: "c" }] }, "resourceclaims"],
    ["a secret's keys", { initContainers: [{ name: "i", envFrom: [{ secretRef: { name: "s" } }] }] }, "secrets"],
    [
      "a config map's key",
      { containers: [{ name: "m", env: [{ name: "E", valueFrom: { configMapKeyRef: { key: "k", name: "c" } } }] }] },
      "configmaps",
    ],
    ["a secret volume", { volumes: [{ name: "v", secret: { secretName: "s" } }] }, "secrets"],
    [
      "a volume with a secret",
      { volumes: [{ name: "v", cephfs: { monitors: [], secretRef: { name: "s" } } }] },
      "secrets",
    ],
    ["a claim", { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] }, "persistentvolumeclaims"],
    [
      "a projected token",
      { volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "p" } }] } }] },
      "a service account",
    ],
    [
      "a projected trust bundle",
      {
        volumes: [{ name: "v", projected: { sources: [{ downwardAPI: {} }, { clusterTrustBundle: { path: "p" } }] } }],
      },
      "clustertrustbundles",
    ],
  ])("must not refer to %s", (_, spec, what) => {
    expect(findForbiddenReference({ spec: { containers: [], ...spec } })).toBe(what);
  });

  it("may refer to the host and to itself", () => {
    const volumes = [
      { name: "h", hostPath: { path: "/" } },
      { name: "e", emptyDir: {} },
      { name: "p", projected: { sources: [{ downwardAPI: {} }] } },
    ];
    expect(
      findForbiddenReference({ spec: { containers: [{ name: "m", env: [{ name: "E" }] }], volumes } }),
    ).toBeUndefined();
  });
});
