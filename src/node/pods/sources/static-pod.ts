import { createHash } from "node:crypto";
import type { Pod, Toleration } from "../../../api/gen/types.ts";
import { CONFIG_HASH_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";

/** Where a static pod was read. */
export interface StaticPodOrigin {
  source: "file" | "http";
  /** The file's path or the URL. */
  location: string;
  nodeName: string;
}

/**
 * Gives a static pod the fields that kubelet gives it before it is defaulted and validated like any other
 * (`applyDefaults`, pkg/kubelet/config/common.go): a name of its own on each node, a UID, a namespace, this node. A
 * status in the manifest is dropped, because the node itself determines the status.
 */
export function makeStaticPod(pod: Pod, origin: StaticPodOrigin): Pod {
  const uid = pod.metadata?.uid || computeStaticPodUid(pod, origin);
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name: `${pod.metadata?.name ?? ""}-${origin.nodeName.toLowerCase()}`,
      namespace: pod.metadata?.namespace || "default",
      uid,
      annotations: {
        ...pod.metadata?.annotations,
        [CONFIG_HASH_ANNOTATION]: uid,
        [CONFIG_SOURCE_ANNOTATION]: origin.source,
      },
    },
    spec: {
      ...pod.spec,
      containers: pod.spec?.containers ?? [],
      nodeName: origin.nodeName,
      tolerations: tolerateNoExecute(pod.spec?.tolerations ?? []),
    },
    status: { phase: "Pending" },
  };
}

/** Gives a static pod another UID, so that it is another pod. */
export function withStaticPodUid(pod: Pod, uid: string): Pod {
  const annotations = { ...pod.metadata?.annotations, [CONFIG_HASH_ANNOTATION]: uid };
  return { ...pod, metadata: { ...pod.metadata, uid, annotations } };
}

/**
 * The identity of a manifest: the same after a restart and for any formatting of the same pod, another for another
 * file, URL, node or content. Made before defaulting, so that a new version of the defaults does not replace every pod.
 */
function computeStaticPodUid(pod: Pod, { source, location, nodeName }: StaticPodOrigin): string {
  const { status: _, ...identity } = pod;
  const hash = createHash("md5");
  hash.update(source === "file" ? `host:${nodeName}file:${location}` : `url:${location}`);
  hash.update(canonicalJson(identity));
  return hash.digest("hex");
}

/** JSON with the names of every object in order. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Lets a static pod tolerate all of the node's taints; replaces the same toleration where it has a time limit. */
function tolerateNoExecute(tolerations: readonly Toleration[]): Toleration[] {
  const toleration = { operator: "Exists", effect: "NoExecute" };
  const place = tolerations.findIndex(({ key, operator, value, effect }) => {
    return !key && !value && operator === toleration.operator && effect === toleration.effect;
  });
  return place < 0 ? [...tolerations, toleration] : tolerations.with(place, toleration);
}
