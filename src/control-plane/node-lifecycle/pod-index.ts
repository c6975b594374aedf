import { typed } from "../../api/object.ts";
import type { ResourceEvent } from "../ports/resources.ts";

/** Which pods are on which node, kept by the feed. Pods are known as `namespace/name`. */
export interface PodIndex {
  apply(event: ResourceEvent): void;
  podsOn(node: string): readonly string[];
}

/** Without pods. */
export function createPodIndex(): PodIndex {
  const nodeOf = new Map<string, string>();
  const podsOn = new Map<string, Set<string>>();
  const take = (key: string) => {
    const node = nodeOf.get(key) ?? "";
    nodeOf.delete(key);
    const pods = podsOn.get(node);
    pods?.delete(key);
    if (pods?.size === 0) podsOn.delete(node);
  };
  return {
    apply({ type, object }) {
      const { nodeName = "" } = typed("Pod", object).spec ?? {};
      const key = podKeyOf(object.metadata);
      if (nodeOf.get(key) === nodeName && type !== "DELETED") return;
      take(key);
      if (type === "DELETED" || nodeName === "") return;
      nodeOf.set(key, nodeName);
      podsOn.set(nodeName, (podsOn.get(nodeName) ?? new Set()).add(key));
    },
    podsOn: (node) => [...(podsOn.get(node) ?? [])],
  };
}

/** `namespace/name`. */
export function podKeyOf({ namespace = "", name = "" }: { namespace?: string; name?: string }): string {
  return `${namespace}/${name}`;
}

/** The way back from `podKeyOf`. */
export function podNameOf(key: string): { resource: "pods"; namespace: string; name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { resource: "pods", namespace, name };
}
