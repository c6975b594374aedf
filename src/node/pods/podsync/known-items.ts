import type { PodItems, PodRuntimeStatus, SandboxRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";

/**
 * What there is of a pod in the runtime, where that is known without asking the runtime's lists: the node agent made all
 * of it in this process, and the runtime answered each of its calls. What somebody else makes in a pod is seen by the
 * relist, whose lists differ then from what the pod's last reading has shown.
 */
interface KnownItems {
  /** After a change that went well: what there is of the pod now, or undefined where only the lists tell. */
  afterStart(before: PodRuntimeStatus, made: PodItems): PodItems | undefined;
  /** Something went wrong: the runtime may have done, or may do later, what it did not answer for. */
  doubt(uid: string): void;
  /**
   * After a stop that went well, which makes nothing: what there is of the pod, with its sandboxes as they are then; undefined
   * where only the lists tell.
   */
  afterStop(before: PodRuntimeStatus): PodItems | undefined;
  forget(uid: string): void;
}

export function createKnownItems(): KnownItems {
  /** False: a call for the pod was not answered once, so that its lists are asked from then on. */
  const isKnown = new Map<string, boolean>();
  const itemsOf = ({ sandboxes, containers }: PodRuntimeStatus): PodItems => ({
    sandboxes: sandboxes.map(({ id }) => ({ id })),
    containers: containers.map(({ id, sandboxId }) => ({ id, sandboxId })),
  });
  return {
    afterStart(before, made) {
      const { sandboxes, containers } = itemsOf(before);
      // Nobody knows what a former process had asked for a pod that was there before.
      if (!isKnown.has(before.uid)) isKnown.set(before.uid, sandboxes.length + containers.length === 0);
      if (isKnown.get(before.uid) !== true) return undefined;
      return {
        sandboxes: [...sandboxes, ...made.sandboxes],
        containers: [...containers, ...made.containers],
      };
    },
    doubt: (uid) => isKnown.set(uid, false),
    afterStop(before) {
      if (isKnown.get(before.uid) !== true) return undefined;
      // The runtime answers once nothing runs in the sandbox any more, and its network is gone.
      const stopped = (status: SandboxRuntimeStatus) => ({ ...status, state: "notready" as const, ips: [] });
      return {
        ...itemsOf(before),
        sandboxes: before.sandboxes.map((status) => ({ id: status.id, status: stopped(status) })),
      };
    },
    forget: (uid) => isKnown.delete(uid),
  };
}
