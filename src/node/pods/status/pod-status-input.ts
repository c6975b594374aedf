import type { Container, Pod, PodCondition, PodStatus, ResourceStatus } from "../../../api/gen/types.ts";
import type { PodResourceInfo } from "../../resources/records/pod-resource-info.ts";
import type { PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";

/** Everything that a pod's status is computed from. */
export interface PodStatusInput {
  pod: Pod;
  runtime: PodRuntimeStatus;
  /** The status that was published last. Without it the API server's (`pod.status`) stands in. */
  previous?: PodStatus | undefined;
  /** Why containers that should run do not, by their names. Ignored for containers that run or are done. */
  waiting: ReadonlyMap<string, WaitingReason>;
  /** The node's addresses, primary first, at most one of each family; empty while they are not known. */
  hostIps: readonly string[];
  /** The pod has a sandbox that `runtime` does not show yet, in which its containers may start. Default false. */
  sandboxIsReady?: boolean | undefined;
  /** Milliseconds since the epoch. */
  now: number;
  /** The name of the runtime, as container ids carry it: `containerd` in `containerd://4f…`. */
  runtimeName: string;
  /** The worker's phase. From `terminating` on nothing restarts; `terminated`: nothing of the pod runs any more. */
  workerPhase: "syncing" | "terminating" | "terminated";
  /** The pod's runtime handler can make read-only what is mounted beneath a mount. Default false. */
  supportsRecursiveReadOnly?: boolean | undefined;
  /** The health of the devices that a container has, by the container's name. Default: none has any. */
  resourceHealth?: ((container: Container) => ResourceStatus[]) | undefined;
  /** The probes' verdict on a running container, by its id in the runtime. Default: it has started and is ready. */
  readiness?: ((container: Container, containerId: string) => ContainerReadiness) | undefined;
  /** What the pod and its containers have got of their resources. Default: what they were granted. */
  actuatedResources?: PodResourceInfo | undefined;
  /** How far a resize of the pod is: PodResizePending, PodResizeInProgress. Default: there is none. */
  resizeConditions?: readonly PodCondition[] | undefined;
  /** For a pod that was rejected, evicted or ran past its deadline. A phase that is already terminal stays. */
  override?: PodStatusOverride | undefined;
}

/** `ImagePullBackOff`, `ErrImagePull`, `CrashLoopBackOff`, `CreateContainerError`, `RunContainerError`, … */
export interface WaitingReason {
  reason: string;
  message: string;
}

interface ContainerReadiness {
  /** The startup probe has succeeded, or there is none. */
  started: boolean;
  /** The readiness probe succeeds, or there is none. */
  ready: boolean;
}

interface PodStatusOverride {
  phase?: "Failed" | "Succeeded";
  reason: string;
  message: string;
  /** The message of the condition DisruptionTarget, where the node ends the pod for its own sake. */
  disruption?: string;
}
