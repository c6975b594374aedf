/** Names that Kubernetes fixes: annotations of pods, and the labels and annotations a kubelet gives sandboxes and containers. */

/** The source of a pod: `file`, `http` or `api`. The node sets it on each pod that it takes in. */
export const CONFIG_SOURCE_ANNOTATION = "kubernetes.io/config.source";
/** The identity of a static pod's manifest; its mirror pod carries the same value. */
export const CONFIG_HASH_ANNOTATION = "kubernetes.io/config.hash";
/** The time when the node first saw the pod, RFC 3339 with nanoseconds. */
export const CONFIG_SEEN_ANNOTATION = "kubernetes.io/config.seen";
/** Marks the API server's read-only copy of a static pod; the value is the static pod's config hash. */
export const CONFIG_MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

/** These labels stand on sandboxes and containers and name their pod. Other tools (crictl, log shippers) read them. */
export const POD_NAME_LABEL = "io.kubernetes.pod.name";
export const POD_NAMESPACE_LABEL = "io.kubernetes.pod.namespace";
export const POD_UID_LABEL = "io.kubernetes.pod.uid";
export const CONTAINER_NAME_LABEL = "io.kubernetes.container.name";

/**
 * These annotations stand on containers. They hold what a restarted kubelet must know of a container without its pod's
 * manifest.
 */
export const CONTAINER_HASH_ANNOTATION = "io.kubernetes.container.hash";
export const CONTAINER_RESTART_COUNT_ANNOTATION = "io.kubernetes.container.restartCount";
export const CONTAINER_TERMINATION_MESSAGE_PATH_ANNOTATION = "io.kubernetes.container.terminationMessagePath";
export const CONTAINER_TERMINATION_MESSAGE_POLICY_ANNOTATION = "io.kubernetes.container.terminationMessagePolicy";
/** The preStop handler as JSON. */
export const CONTAINER_PRESTOP_HANDLER_ANNOTATION = "io.kubernetes.container.preStopHandler";
/** The container's ports as JSON; runtimes and log shippers read it. */
export const CONTAINER_PORTS_ANNOTATION = "io.kubernetes.container.ports";
/** Seconds, decimal. */
export const POD_DELETION_GRACE_PERIOD_ANNOTATION = "io.kubernetes.pod.deletionGracePeriod";
/** Seconds, decimal. */
export const POD_TERMINATION_GRACE_PERIOD_ANNOTATION = "io.kubernetes.pod.terminationGracePeriod";
/**
 * Before `appArmorProfile` existed (1.30), one annotation for each container named its profile; static pods may still
 * use it.
 */
export const APPARMOR_ANNOTATION_PREFIX = "container.apparmor.security.beta.kubernetes.io/";
