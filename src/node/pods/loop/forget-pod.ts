/** Keeps something of a pod until it is told that the pod is gone. */
interface PodKeeper {
  forget(uid: string): void;
}

/** Makes all keepers forget a pod, in their order. A keeper is undefined where the node has none, as without a cluster. */
export function createPodForgetter(keepers: readonly (PodKeeper | undefined)[]): (uid: string) => void {
  return (uid) => {
    for (const keeper of keepers) keeper?.forget(uid);
  };
}
