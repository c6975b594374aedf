import { describe, expect, it } from "vitest";
import type { Pod, Toleration } from "../../../api/gen/types.ts";
import { makeStaticPod, type StaticPodOrigin } from "./static-pod.ts";

const ORIGIN: StaticPodOrigin = { source: "file", location: "/manifests/web.yaml", nodeName: "Node-1.Example" };

function makePod(metadata: Pod["metadata"] = {}, spec: Partial<Pod["spec"]> = {}): Pod {
  return {
    metadata: { name: "web", ...metadata },
    spec: { containers: [{ name: "main", image: "busybox" }], ...spec },
  };
}

const uidOf = (pod: Pod, origin: Partial<StaticPodOrigin> = {}) =>
  makeStaticPod(pod, { ...ORIGIN, ...origin }).metadata?.uid;

describe("static pods", () => {
  it("get what kubelet gives them", () => {
    const pod = makeStaticPod(makePod({ annotations: { mine: "kept" } }), ORIGIN);
    const uid = pod.metadata?.uid ?? "";
    expect(uid).toMatch(/^[0-9a-f]{32}$/);
    expect(pod).toEqual({
      metadata: {
        name: "web-node-1.example",
        namespace: "default",
        uid,
        annotations: { mine: "kept", "kubernetes.io/config.hash": uid, "kubernetes.io/config.source": "file" },
      },
      spec: {
        containers: [{ name: "main", image: "busybox" }],
        nodeName: "Node-1.Example",
        tolerations: [{ operator: "Exists", effect: "NoExecute" }],
      },
      status: { phase: "Pending" },
    });
  });

  it("keep the UID and namespace of their manifest", () => {
    const pod = makeStaticPod(makePod({ uid: "1234", namespace: "kube-system" }), ORIGIN);
    expect(pod.metadata).toMatchObject({ uid: "1234", namespace: "kube-system" });
    expect(pod.metadata?.annotations?.["kubernetes.io/config.hash"]).toBe("1234");
  });

  it("have a UID that does not depend on the order of fields, nor on a status", () => {
    const pod = makePod({ labels: { a: "1", b: "2" } });
    const { metadata, spec } = makePod({ labels: { b: "2", a: "1" } });
    expect(uidOf({ status: { phase: "Running" }, ...(spec && { spec }), ...(metadata && { metadata }) })).toBe(
      uidOf(pod),
    );
    // Another value here would replace every static pod of every node at the next update.
    expect(uidOf(makePod())).toBe("1b8011cd92594f819c2d935179eb0415");
  });

  it.each<[string, Pod, Partial<StaticPodOrigin>]>([
    ["content", makePod({ labels: { a: "1" } }), {}],
    ["file", makePod(), { location: "/manifests/other.yaml" }],
    ["node", makePod(), { nodeName: "node-2" }],
    ["source", makePod(), { source: "http" }],
    ["order of a list", makePod({}, { hostAliases: [{ ip: "2" }, { ip: "1" }] }), {}],
  ])("have another UID for another %s", (_what, pod, origin) => {
    const other = _what === "order of a list" ? makePod({}, { hostAliases: [{ ip: "1" }, { ip: "2" }] }) : makePod();
    expect(uidOf(pod, origin)).not.toBe(uidOf(other));
  });

  const noExecute = { operator: "Exists", effect: "NoExecute" };
  it.each<[string, Toleration[], Toleration[]]>([
    ["beside others", [{ key: "a", operator: "Exists" }], [{ key: "a", operator: "Exists" }, noExecute]],
    ["once", [noExecute], [noExecute]],
    ["without a time limit", [{ ...noExecute, tolerationSeconds: 5 }, { key: "a" }], [noExecute, { key: "a" }]],
    ["beside one of a key", [{ ...noExecute, key: "a" }], [{ ...noExecute, key: "a" }, noExecute]],
  ])("tolerate NoExecute %s", (_what, tolerations, expected) => {
    expect(makeStaticPod(makePod({}, { tolerations }), ORIGIN).spec?.tolerations).toEqual(expected);
  });
});
