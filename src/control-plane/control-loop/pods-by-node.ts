import { type KubeObject, typed } from "../../api/object.ts";
import { splitNamespacedKey } from "./namespaced-key.ts";
import { createObjectIndex, type ObjectIndex } from "./object-index.ts";

/** An index of pods by the name of their node. */
export function createPodsByNode(): ObjectIndex {
  return createObjectIndex(nodeNamesOf);
}

/** The name of the node that the pod is bound to; empty for a pod without a node. */
export function nodeNamesOf(pod: KubeObject): readonly string[] {
  const { nodeName = "" } = typed("Pod", pod).spec ?? {};
  return nodeName === "" ? [] : [nodeName];
}

/** The pod that an index or a queue knows by this key, for a reader or a writer. */
export function podNameOf(key: string): { resource: "pods"; namespace: string; name: string } {
  return { resource: "pods", ...splitNamespacedKey(key) };
}
