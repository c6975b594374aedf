import type { PodReference } from "../../../api/pods.ts";
import type { RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";
import type { PodState } from "../workers/pod-state.ts";

/**
 * The pods that the runtime holds and no worker knows: they are left from before a restart, or of unknown origin. It
 * must not be called before every source was read, because until then a pod without a worker may still be wanted.
 */
export function planHousekeeping(input: {
  runtimePods: ReadonlyMap<string, RuntimePod>;
  states: ReadonlyMap<string, PodState>;
}): RuntimePod[] {
  return [...input.runtimePods.values()].filter((pod) => !input.states.has(pod.uid));
}

/**
 * Other pods of the same full name that the runtime holds and no worker knows: their manifests changed while the node
 * agent was down. They must be gone before the pod starts, because two pods of one name never run side by side. No
 * source can want them any more, since the new pod has their name.
 */
export function planReplacements(input: {
  pod: PodReference;
  runtimePods: ReadonlyMap<string, RuntimePod>;
  states: ReadonlyMap<string, PodState>;
}): RuntimePod[] {
  const { uid, name, namespace } = input.pod;
  return planHousekeeping(input).filter((pod) => pod.uid !== uid && pod.name === name && pod.namespace === namespace);
}
