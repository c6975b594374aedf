import type { Pod } from "../../../../api/gen/types.ts";
import { isStaticPod, podFullName, podUid } from "../../../../api/pods.ts";
import { makeMirrorPod } from "../../mirror-pods/make-mirror-pod.ts";

const OWNER = { nodeName: "node-1", nodeUid: "node-uid" };

/** A pod of a manifest whose hash is its UID. */
export function staticPod(uid: string, name = "web"): Pod {
  const annotations = { "kubernetes.io/config.hash": uid, "kubernetes.io/config.source": "file" };
  return { metadata: { uid, name, namespace: "default", annotations }, spec: { containers: [] } };
}

/** A pod of the API server. */
export function apiPod(uid: string): Pod {
  const annotations = { "kubernetes.io/config.source": "api" };
  return { metadata: { uid, name: uid, namespace: "default", annotations }, spec: { containers: [] } };
}

/** The mirror that the API server made of a static pod, under a UID of its own. */
export function mirrorOf(pod: Pod, uid: string, status: Pod["status"] = {}): Pod {
  const mirror = makeMirrorPod(pod, OWNER);
  const annotations = { ...mirror.metadata?.annotations, "kubernetes.io/config.source": "api" };
  return { ...mirror, metadata: { ...mirror.metadata, uid, annotations }, status };
}

/** What the sources want, as the test lists it. */
export function createDesired({ pods = [], mirrors = [] }: { pods?: readonly Pod[]; mirrors?: readonly Pod[] } = {}) {
  const wanted = { pods: [...pods], mirrors: [...mirrors] };
  const staticPodOf = (mirror: Pod) =>
    wanted.pods.find((pod) => isStaticPod(pod) && podFullName(pod) === podFullName(mirror));
  return {
    wanted,
    byUid: (uid: string) => wanted.pods.find((pod) => podUid(pod) === uid),
    pods: () => wanted.pods,
    mirrorPods: () => wanted.mirrors,
    mirrorPodOf: (pod: Pod) => wanted.mirrors.find((mirror) => podFullName(mirror) === podFullName(pod)),
    staticPodOf,
    allReady: () => true,
    resolveUid(uid: string) {
      const mirror = wanted.mirrors.find((each) => podUid(each) === uid);
      const pod = mirror && staticPodOf(mirror);
      return pod === undefined ? uid : podUid(pod);
    },
  };
}
