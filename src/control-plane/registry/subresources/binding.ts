import { conflictError, forbiddenError, invalidError } from "../../../api/api-error.ts";
import { isRecord, type KubeObject, typed } from "../../../api/object.ts";
import { required, unsupported } from "../../../api/validation/problems.ts";

const PODS = { group: "", resource: "pods" };

/** The pod on the node that the Binding names. Throws Conflict when it is on one already, Invalid for a bad target. */
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
    throw conflictError(PODS, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if ((spec?.nodeName ?? "") !== "") {
    throw conflictError(PODS, name, `pod ${name} is already assigned to node "${spec?.nodeName ?? ""}"`);
  }
  if ((spec?.schedulingGates ?? []).length > 0) {
    throw forbiddenError(PODS, name, `pod ${name} has non-empty .spec.schedulingGates`);
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

/** Whoever waits for the pod to be scheduled looks at this condition. */
function withScheduled(status: unknown, now: string): Record<string, unknown> {
  const before = isRecord(status) ? status : {};
  const conditions: readonly unknown[] = Array.isArray(before["conditions"]) ? before["conditions"] : [];
  const others = conditions.filter((condition) => !isRecord(condition) || condition["type"] !== "PodScheduled");
  const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
  return { ...before, conditions: [...others, scheduled] };
}
