import type { Container, Pod, PodStatus } from "../../../api/gen/types.ts";
import type { PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";

/** Everything that a pod's status is computed from. */
export interface PodStatusInput {
  pod: Pod;
  runtime: PodRuntimeStatus;
  /** What was published last. Without it what the API server stored (`pod.status`) stands in. */
  previous?: PodStatus | undefined;
  /** Why a container that should run does not, by its name. Ignored for containers that run or are done. */
  waiting: ReadonlyMap<string, WaitingReason>;
  /** Of the node, primary first, at most one of each family; empty while they are not known. */
  hostIps: readonly string[];
  /** Milliseconds since the epoch. */
  now: number;
  /** The name of the runtime, as container ids carry it: `containerd` in `containerd://4f…`. */
  runtimeName: string;
  /** How far the pod's worker is. From `terminating` on nothing restarts; `terminated`: nothing of the pod runs any more. */
  workerPhase: "syncing" | "terminating" | "terminated";
  /** The pod's runtime handler can make read-only what is mounted beneath a mount. Default false. */
  supportsRecursiveReadOnly?: boolean | undefined;
  /** What the probes say of a running container, with its id in the runtime. Default: it has started and is ready. */
  readiness?: ((container: Container, containerId: string) => ContainerReadiness) | undefined;
  /** For a pod that was rejected, evicted or ran past its deadline. A phase that is already terminal stays. */
  override?: PodStatusOverride | undefined;
}

/** `ImagePullBackOff`, `ErrImagePull`, `CrashLoopBackOff`, `CreateContainerError`, `RunContainerError`, … */
export interface WaitingReason {
  reason: string;
  message: string;
}

interface ContainerReadiness {
  /** Its startup probe has succeeded, or it has none. */
  started: boolean;
  /** Its readiness probe succeeds, or it has none. */
  ready: boolean;
}

interface PodStatusOverride {
  phase?: "Failed" | "Succeeded";
  reason: string;
  message: string;
  /** The node ends the pod for its own sake: what the condition DisruptionTarget says. */
  disruption?: string;
}
