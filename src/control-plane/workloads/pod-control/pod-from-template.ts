import type { PodTemplateSpec } from "../../../api/gen/types.ts";
import type { KubeObject, ObjectOf } from "../../../api/object.ts";
import { controllerRefTo } from "./controller-ref.ts";

/** The longest name of an object. */
const MAX_NAME = 253;

/**
 * A new pod of the template that the owner controls (`GetPodFromTemplate`). Its name is generated from the owner's.
 * A caller that gives it a name of its own removes `generateName`.
 */
export function podFromTemplate({ metadata = {}, spec }: PodTemplateSpec, owner: KubeObject): ObjectOf<"Pod"> {
  const { labels, annotations, finalizers } = metadata;
  const { name = "", namespace = "" } = owner.metadata;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace,
      generateName: name.length < MAX_NAME ? `${name}-` : name,
      ...(labels && { labels: { ...labels } }),
      ...(annotations && { annotations: { ...annotations } }),
      ...(finalizers && { finalizers: [...finalizers] }),
      ownerReferences: [controllerRefTo(owner)],
    },
    ...(spec && { spec: structuredClone(spec) }),
  };
}
