import { conflictError, invalidError } from "../../../api/api-error.ts";
import { isRecord, type KubeObject, typed } from "../../../api/object.ts";
import { required, unsupported } from "../../../api/validation/problems.ts";

/** The resource as upstream names it in a refusal. */
const BINDING = { group: "", resource: "pods/binding" };

/**
 * The pod, bound to the node that the Binding names. Throws Conflict when the pod cannot be bound, Invalid for a bad
 * target.
 */
export function boundPod(pod: KubeObject, binding: KubeObject, now: string): KubeObject {
  const { spec, metadata } = typed("Pod", pod);
  const name = metadata?.name ?? "";
  const target = isRecord(binding["target"]) ? binding["target"] : {};
  const node = target["name"];
  if (typeof node !== "string" || node === "") {
    throw invalidError({ group: "", kind: "Binding" }, name, [required("target.name")]);
  }
  const { kind = "" } = target;
  if (kind !== "" && kind !== "Node") {
    const problem = unsupported("target.kind", kind, ["Node", "<empty>"]);
    throw invalidError({ group: "", kind: "Binding" }, name, [problem]);
  }
  if (metadata?.deletionTimestamp !== undefined) {
    throw conflictError(BINDING, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if ((spec?.nodeName ?? "") !== "") {
    throw conflictError(BINDING, name, `pod ${name} is already assigned to node "${spec?.nodeName ?? ""}"`);
  }
  if ((spec?.schedulingGates ?? []).length > 0) {
    throw conflictError(BINDING, name, `pod ${name} has non-empty .spec.schedulingGates`);
  }
  const annotations = { ...metadata?.annotations, ...binding.metadata.annotations };
  const labels = { ...metadata?.labels, ...binding.metadata.labels };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(Object.keys(labels).length > 0 && { labels }),
    },
    spec: { ...spec, nodeName: node },
    status: withScheduled(pod["status"], now),
  };
}

/** The status with the condition PodScheduled, for which clients wait. The nomination to a node ends. */
function withScheduled(status: unknown, now: string): Record<string, unknown> {
  const { nominatedNodeName: _over, ...before } = isRecord(status) ? status : {};
  const conditions: readonly unknown[] = Array.isArray(before["conditions"]) ? before["conditions"] : [];
  const others = conditions.filter((condition) => !isRecord(condition) || condition["type"] !== "PodScheduled");
  const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
  return { ...before, conditions: [...others, scheduled] };
}
