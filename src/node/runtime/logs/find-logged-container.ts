import type { ContainerStatus, PodStatus } from "../../../api/gen/types.ts";

/** The container whose log is asked for, by its id in the pod's status (`containerd://…`), or why there is none. */
type LoggedContainer =
  | { readonly kind: "found"; readonly containerId: string }
  | { readonly kind: "none"; readonly message: string };

/**
 * Finds which run of a container a log is asked for: the previous one (`previous`), else the one that runs or ended
 * last. The words are upstream's (pkg/kubelet/kubelet_pods.go, validateContainerLogStatus).
 */
export function findLoggedContainer(
  status: PodStatus | undefined,
  { pod, container, previous }: { readonly pod: string; readonly container: string; readonly previous: boolean },
): LoggedContainer {
  const which = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod)}`;
  const found = findStatus(status, container);
  if (found === undefined) return none(`${which} is not available`);
  const last = found.lastState?.terminated;
  if (previous) return last?.containerID ? use(last.containerID) : none(`previous terminated ${which} not found`);
  const { running, terminated, waiting } = found.state ?? {};
  if (running !== undefined) return use(found.containerID ?? "");
  if (terminated !== undefined || last !== undefined) {
    // A container whose next run never began is terminated without an id.
    const containerId = terminated?.containerID || last?.containerID;
    return containerId ? use(containerId) : none(`${which} is terminated`);
  }
  return none(`${which} is waiting to start${waiting === undefined ? " - no logs yet" : `: ${reasonOf(waiting)}`}`);
}

function findStatus(status: PodStatus | undefined, name: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  return all.find((one) => one.name === name);
}

function reasonOf({ reason = "" }: { reason?: string }): string {
  if (reason === "ErrImagePull") return "image can't be pulled";
  if (reason === "ImagePullBackOff") return "trying and failing to pull image";
  return reason;
}

const use = (containerId: string): LoggedContainer => ({ kind: "found", containerId });
const none = (message: string): LoggedContainer => ({ kind: "none", message });
