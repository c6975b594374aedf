import { PODS } from "../../../src/api/kube-resource.ts";
import type { ApiClient } from "../../contract/api/client.ts";
import type { WatchEvent, WatchStream } from "../../contract/api/watch-stream.ts";

export const PODS_PATH = "/api/v1/namespaces/default/pods";

/** What a watcher saw of pods that were ready, and were to stay as they are. */
export interface PodWatch {
  events: number;
  /** Sentences about restarts and about pods that were not ready for a while. */
  readonly flips: string[];
  stop(): Promise<void>;
}

/** Watches all pods from now on. Each must stay ready, with the container that it has. */
export async function watchPods(api: ApiClient): Promise<PodWatch> {
  const { items, resourceVersion } = await api.list(PODS_PATH);
  const containers = new Map(items.map((item) => [item.metadata.name, containerOf(PODS.read(item))?.containerID]));
  let revision = resourceVersion;
  let stream: WatchStream | undefined;
  let isStopped = false;

  const note = ({ type, object }: WatchEvent) => {
    const pod = PODS.read(object);
    const name = pod.metadata?.name;
    revision = pod.metadata?.resourceVersion ?? revision;
    watch.events++;
    if (type !== "MODIFIED") watch.flips.push(`${name} was ${type}`);
    const ready = pod.status?.conditions?.find((condition) => condition.type === "Ready");
    if (ready?.status !== "True") watch.flips.push(`${name} was not ready: ${JSON.stringify(ready)}`);
    const container = containerOf(pod);
    if (container?.restartCount !== 0 || container.containerID !== containers.get(name)) {
      watch.flips.push(`${name} has another container: ${JSON.stringify(container)}`);
    }
  };
  const follow = async () => {
    while (!isStopped) {
      stream = await api.watch(PODS_PATH, { resourceVersion: revision });
      try {
        for (;;) note(await stream.next());
      } catch (error) {
        // Pods to which nothing happens have no events: the watch begins again where it was.
        if (!isStopped && !String(error).includes("no event came")) throw error;
      }
    }
  };
  const watch: PodWatch = {
    events: 0,
    flips: [],
    async stop() {
      isStopped = true;
      stream?.close();
      await following;
    },
  };
  const following = follow();
  following.catch(() => undefined);
  return watch;
}

const containerOf = (pod: ReturnType<typeof PODS.read>) => pod.status?.containerStatuses?.[0];
