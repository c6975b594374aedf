import { ContainerState, PodSandboxState } from "../../src/cri/gen/cri-v1.ts";
import type { NodeUnderTest } from "./node-under-test.ts";

/** A container that runs, as the runtime knows it; equal before and after whatever must leave it alone. */
interface RunningContainer {
  id: string;
  pod: string;
  uid: string;
  name: string;
  attempt: number;
  pid: number;
  startedAt: bigint;
}

/** Every running container, by pod and name. */
export async function readRunningContainers({ cri }: NodeUnderTest): Promise<RunningContainer[]> {
  const { containers } = await cri.runtime.listContainers({ filter: undefined });
  const running = containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
  const read = running.map(async ({ id, labels, metadata }): Promise<RunningContainer> => {
    const { status, info } = await cri.runtime.containerStatus({ containerId: id, verbose: true });
    return {
      id,
      pod: labels["io.kubernetes.pod.name"] ?? "",
      uid: labels["io.kubernetes.pod.uid"] ?? "",
      name: metadata?.name ?? "",
      attempt: metadata?.attempt ?? 0,
      pid: readPid(info["info"]),
      startedAt: status?.startedAt ?? 0n,
    };
  });
  return (await Promise.all(read)).toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Sandboxes of the pod, the runtime's own ids. */
export async function readReadySandboxes({ cri }: NodeUnderTest, uid?: string): Promise<string[]> {
  const { items } = await cri.runtime.listPodSandbox({ filter: undefined });
  const ready = items.filter(({ state }) => state === PodSandboxState.SANDBOX_READY);
  return ready.filter(({ metadata }) => uid === undefined || metadata?.uid === uid).map(({ id }) => id);
}

/** What runs twice and must not: UIDs with two ready sandboxes, and names of which two containers run in a pod. */
export async function findDoubles(node: NodeUnderTest): Promise<string[]> {
  const { items } = await node.cri.runtime.listPodSandbox({ filter: undefined });
  const ready = items.filter(({ state }) => state === PodSandboxState.SANDBOX_READY);
  const names = [
    ...ready.map(({ metadata }) => metadata?.uid ?? ""),
    ...(await readRunningContainers(node)).map(keyOf),
  ];
  return names.filter((name, index) => names.indexOf(name) !== index);
}

function keyOf({ pod, uid, name }: RunningContainer): string {
  return `${pod} ${uid} ${name}`;
}

/** From the JSON that containerd gives as verbose info. */
function readPid(info = "{}"): number {
  const { pid }: { pid?: number } = JSON.parse(info);
  return pid ?? 0;
}
