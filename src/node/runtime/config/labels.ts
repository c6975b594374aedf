import type { Container, Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import {
  CONTAINER_HASH_ANNOTATION,
  CONTAINER_NAME_LABEL,
  CONTAINER_PORTS_ANNOTATION,
  CONTAINER_PRESTOP_HANDLER_ANNOTATION,
  CONTAINER_RESTART_COUNT_ANNOTATION,
  CONTAINER_TERMINATION_MESSAGE_PATH_ANNOTATION,
  CONTAINER_TERMINATION_MESSAGE_POLICY_ANNOTATION,
  POD_DELETION_GRACE_PERIOD_ANNOTATION,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_TERMINATION_GRACE_PERIOD_ANNOTATION,
  POD_UID_LABEL,
} from "../../../api/well-known.ts";
import { computeContainerHash } from "./container-hash.ts";
import { encodeGoJson } from "./go-json.ts";

/** Returns the pod's own labels and those that identify the sandbox's pod; the latter win. */
export function buildPodLabels(pod: Pod): Record<string, string> {
  return { ...pod.metadata?.labels, ...identityLabels(pod) };
}

/** Returns only the labels that identify the container and its pod. The pod's own labels are on the sandbox. */
export function buildContainerLabels(pod: Pod, container: Container): Record<string, string> {
  return { ...identityLabels(pod), [CONTAINER_NAME_LABEL]: container.name };
}

function identityLabels(pod: Pod): Record<string, string> {
  const { name, namespace, uid } = podReference(pod);
  return { [POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace, [POD_UID_LABEL]: uid };
}

/** Returns what a restarted node agent must know of the container without its pod's manifest. */
export function buildContainerAnnotations(
  pod: Pod,
  container: Container,
  restartCount: number,
): Record<string, string> {
  const { terminationGracePeriodSeconds } = pod.spec ?? {};
  const { deletionGracePeriodSeconds } = pod.metadata ?? {};
  const preStop = container.lifecycle?.preStop;
  const ports = container.ports ?? [];
  return {
    [CONTAINER_HASH_ANNOTATION]: computeContainerHash(container),
    [CONTAINER_RESTART_COUNT_ANNOTATION]: `${restartCount}`,
    [CONTAINER_TERMINATION_MESSAGE_PATH_ANNOTATION]: container.terminationMessagePath ?? "",
    [CONTAINER_TERMINATION_MESSAGE_POLICY_ANNOTATION]: container.terminationMessagePolicy ?? "",
    ...entry(POD_DELETION_GRACE_PERIOD_ANNOTATION, deletionGracePeriodSeconds?.toString()),
    ...entry(POD_TERMINATION_GRACE_PERIOD_ANNOTATION, terminationGracePeriodSeconds?.toString()),
    ...entry(CONTAINER_PRESTOP_HANDLER_ANNOTATION, preStop && encodeGoJson("LifecycleHandler", preStop)),
    ...entry(
      CONTAINER_PORTS_ANNOTATION,
      ports.length > 0 ? `[${ports.map((port) => encodeGoJson("ContainerPort", port)).join(",")}]` : undefined,
    ),
  };
}

function entry(name: string, value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { [name]: value };
}
