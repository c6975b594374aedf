import type { Pod } from "../../../../api/gen/types.ts";
import type { KubeResource } from "../../../../api/kube-resource.ts";
import { AbortedError } from "../../../../base/abort.ts";
import { type KubeClient, type KubeList, KubeUnreachableError, type ListOptions } from "../../../../kube/port.ts";

/** An API server of pods, as far as a reflector needs it. */
export interface PodServer {
  readonly client: Pick<KubeClient, "list" | "watch">;
  /** Every list that was asked for. */
  readonly lists: ListOptions[];
  isAway: boolean;
  put(pod: object): void;
  /** What was stored with this name is right from now on, under the same revision, and nobody is told. */
  mend(pod: Pod): void;
  /** `last`: what a deletion by force writes on the pod as it goes. */
  remove(name: string, last?: Pod["metadata"]): void;
  /** Breaks the watch. */
  disconnect(): void;
}

type Tell = (type: "ADDED" | "MODIFIED" | "DELETED", pod: Pod) => void;

export function createPodServer(): PodServer {
  const pods = new Map<string, Pod>();
  const lists: ListOptions[] = [];
  const watchers = new Set<{ tell: Tell; fail: (error: Error) => void }>();
  let revision = 0;
  const server: PodServer = {
    client: {
      list: async <T>(resource: KubeResource<T>, options: ListOptions = {}): Promise<KubeList<T>> => {
        lists.push(options);
        await Promise.resolve();
        if (server.isAway) throw new KubeUnreachableError("unreachable", "connect ECONNREFUSED");
        return { items: [...pods.values()].map((pod) => resource.read(pod)), resourceVersion: String(revision) };
      },
      watch: async (resource, { signal }, onEvent) => {
        let leave = () => undefined;
        const ended = new Promise<never>((_resolve, reject) => {
          const tell: Tell = (type, pod) =>
            onEvent({ type, object: resource.read(pod), resourceVersion: String(revision) });
          const fail = (error: Error) => {
            watchers.delete(watcher);
            reject(error);
          };
          const watcher = { tell, fail };
          leave = () => void fail(new AbortedError());
          watchers.add(watcher);
          if (server.isAway) fail(new KubeUnreachableError("unreachable", "connect ECONNREFUSED"));
        });
        signal?.addEventListener("abort", leave);
        await ended.finally(() => signal?.removeEventListener("abort", leave));
      },
    },
    lists,
    isAway: false,
    mend(pod) {
      const name = pod.metadata?.name ?? "";
      const resourceVersion = pods.get(name)?.metadata?.resourceVersion ?? "";
      pods.set(name, { ...pod, metadata: { ...pod.metadata, resourceVersion } });
    },
    put(given) {
      // The source is to find out whether it is a pod.
      const pod: Pod = Object(given);
      const name = pod.metadata?.name ?? "";
      const type = pods.has(name) ? "MODIFIED" : "ADDED";
      const stored = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(++revision) } };
      pods.set(name, stored);
      for (const { tell } of watchers) tell(type, stored);
    },
    remove(name, last) {
      const pod = pods.get(name);
      if (pod === undefined) return;
      revision++;
      pods.delete(name);
      for (const { tell } of watchers) tell("DELETED", { ...pod, metadata: { ...pod.metadata, ...last } });
    },
    disconnect() {
      for (const { fail } of [...watchers]) fail(new KubeUnreachableError("unreachable", "read ECONNRESET"));
    },
  };
  return server;
}
