import { CONTAINER_NAME_LABEL, POD_UID_LABEL } from "../../../api/well-known.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { RuntimeService } from "../../../cri/port.ts";

/** Finds the pod's running container of that name, as the runtime reports it at this moment. */
export async function findRunningContainer(
  runtime: Pick<RuntimeService, "listContainers">,
  { podUid, containerName }: { readonly podUid: string; readonly containerName: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const filter = {
    state: { state: cri.ContainerState.CONTAINER_RUNNING },
    labelSelector: { [POD_UID_LABEL]: podUid, [CONTAINER_NAME_LABEL]: containerName },
  };
  const { containers } = await runtime.listContainers(cri.ListContainersRequest.fromPartial({ filter }), { signal });
  return newestOf(containers)?.id;
}

/** Finds the pod's sandbox that is ready, as the runtime reports it at this moment. */
export async function findReadySandbox(
  runtime: Pick<RuntimeService, "listPodSandbox">,
  podUid: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const filter = {
    state: { state: cri.PodSandboxState.SANDBOX_READY },
    labelSelector: { [POD_UID_LABEL]: podUid },
  };
  const { items } = await runtime.listPodSandbox(cri.ListPodSandboxRequest.fromPartial({ filter }), { signal });
  return newestOf(items)?.id;
}

/** There is only one, except for the moments before the runtime has seen the end of the earlier one. */
function newestOf<Item extends { readonly createdAt: bigint }>(items: readonly Item[]): Item | undefined {
  let newest: Item | undefined;
  for (const item of items) if (newest === undefined || item.createdAt > newest.createdAt) newest = item;
  return newest;
}
