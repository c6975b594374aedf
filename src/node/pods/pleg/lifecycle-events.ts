import type { ContainerState, RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";

/** A change of a container or sandbox in the runtime: the difference of two snapshots of its pod. */
export interface PodLifecycleEvent {
  uid: string;
  type: "ContainerStarted" | "ContainerDied" | "ContainerRemoved" | "ContainerChanged";
  /** The ID of the container, or of the sandbox, which is treated as a container. */
  id: string;
}

type ObservedState = ContainerState | "absent";

/**
 * The events that lead from one snapshot of a pod to the next, as upstream's `generateEvents`
 * (pkg/kubelet/pleg/generic.go) names them. Undefined stands for a pod that the runtime does not have.
 */
export function diffRuntimePods(before: RuntimePod | undefined, after: RuntimePod | undefined): PodLifecycleEvent[] {
  const uid = after?.uid ?? before?.uid ?? "";
  const old = statesOf(before);
  const current = statesOf(after);
  const ids = new Set([...old.keys(), ...current.keys()]);
  return [...ids].flatMap((id) =>
    eventTypes(old.get(id) ?? "absent", current.get(id) ?? "absent").map((type) => ({ uid, type, id })),
  );
}

function statesOf(pod: RuntimePod | undefined): Map<string, ContainerState> {
  const states = new Map<string, ContainerState>();
  for (const sandbox of pod?.sandboxes ?? []) states.set(sandbox.id, sandbox.state === "ready" ? "running" : "exited");
  for (const container of pod?.containers ?? []) states.set(container.id, container.state);
  return states;
}

function eventTypes(before: ObservedState, after: ObservedState): Array<PodLifecycleEvent["type"]> {
  if (before === after) return [];
  switch (after) {
    case "running":
      return ["ContainerStarted"];
    case "exited":
      return ["ContainerDied"];
    case "created":
    case "unknown":
      return ["ContainerChanged"];
    case "absent":
      return before === "exited" ? ["ContainerRemoved"] : ["ContainerDied", "ContainerRemoved"];
  }
}

/** The part of a status that the runtime's lists would have shown, so that both kinds of reading can be compared. */
export function snapshotOf(status: {
  uid: string;
  name: string;
  namespace: string;
  sandboxes: ReadonlyArray<RuntimePod["sandboxes"][number]>;
  containers: ReadonlyArray<{
    id: string;
    sandboxId: string;
    name: string;
    restartCount: number;
    state: ContainerState;
    createdAt: number;
  }>;
}): RuntimePod | undefined {
  if (status.sandboxes.length === 0 && status.containers.length === 0) return undefined;
  const { uid, name, namespace } = status;
  return {
    uid,
    name,
    namespace,
    sandboxes: status.sandboxes.map(({ id, attempt, state, createdAt }) => ({ id, attempt, state, createdAt })),
    containers: status.containers.map((container) => ({
      id: container.id,
      sandboxId: container.sandboxId,
      name: container.name,
      attempt: container.restartCount,
      state: container.state,
      createdAt: container.createdAt,
    })),
  };
}
