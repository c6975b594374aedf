import type { RuntimePod } from "../runtime/pod-runtime-status.ts";
import type { PodState } from "../workers/pod-state.ts";

/**
 * The pods that the runtime holds and no worker knows: left from before a restart, or made by nobody. Only to be asked
 * once every source has spoken, because until then a pod without a worker may still be wanted.
 */
export function planHousekeeping(input: {
  runtimePods: ReadonlyMap<string, RuntimePod>;
  states: ReadonlyMap<string, PodState>;
}): RuntimePod[] {
  return [...input.runtimePods.values()].filter((pod) => !input.states.has(pod.uid));
}
