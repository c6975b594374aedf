import type { Pod } from "../../../api/gen/types.ts";
import { type KubeResource, UNCHECKED_PODS } from "../../../api/kube-resource.ts";
import { podUid } from "../../../api/pods.ts";
import { childController, isAbort } from "../../../base/abort.ts";
import type { Clock, Timer } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Random } from "../../../base/random.ts";
import { createReflector } from "../../../kube/create-reflector.ts";
import type { KubeClient } from "../../../kube/port.ts";
import type { Reflector, ReflectorChange } from "../../../kube/reflector.ts";
import type { PodSourceLoop, SnapshotListener } from "./source-snapshot.ts";
import { createUsablePods } from "./usable-pods.ts";

interface ApiSourceDeps {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly emit: SnapshotListener;
  /**
   * Resolves when the node's own object is known, because admission compares pods with it: an earlier pod would be
   * refused for labels that the node has (upstream waits for the same, pkg/kubelet/config/apiserver.go).
   */
  nodeReady(signal: AbortSignal): Promise<void>;
}

/** The node whose pods are read. */
interface ApiSourceOptions {
  readonly nodeName: string;
}

/**
 * The pods that the API server has bound to this node. The first snapshot comes with the first list, also when it is
 * empty; changes that come together give one. While the server is away the pods that it gave last stay wanted.
 */
export function createApiSource(deps: ApiSourceDeps, { nodeName }: ApiSourceOptions): PodSourceLoop {
  const { clock, emit } = deps;
  const usable = createUsablePods(deps.log, nodeName);
  let timer: Timer | undefined;
  let lastSeen = new Map<string, Pod>();

  const reflector: Reflector<Pod> = createReflector(deps, {
    resource: podsOf(nodeName),
    fieldSelector: `spec.nodeName=${nodeName}`,
    onChange(changes) {
      for (const change of changes)
        if (wasSeenToEnd(change) && usable.isUsable(change.object)) lastSeen.set(podUid(change.object), change.object);
      scheduleSnapshot();
    },
  });
  /** A connection hands over several events in one turn of the event loop: they make one snapshot. */
  const scheduleSnapshot = () => {
    timer ??= clock.setTimer(0, () => {
      timer = undefined;
      const gone = lastSeen;
      lastSeen = new Map();
      emit({ source: "api", pods: usable.select(reflector.list()), ...(gone.size > 0 && { lastSeen: gone }) });
    });
  };

  return {
    async run(signal) {
      const { controller, release } = childController(signal);
      const first = reflector.synced(controller.signal).then(scheduleSnapshot, () => undefined);
      try {
        await deps.nodeReady(signal);
        await reflector.run(signal);
      } catch (error) {
        if (!isAbort(error)) throw error;
      } finally {
        controller.abort();
        release();
        await first;
        timer?.cancel();
        timer = undefined;
      }
    },
  };
}

/** Of pods of other nodes, which no server should send here, nothing is kept but where they are. */
function podsOf(nodeName: string): KubeResource<Pod> {
  return {
    ...UNCHECKED_PODS,
    read(value) {
      const pod = UNCHECKED_PODS.read(value);
      const { nodeName: boundTo } = pod.spec ?? {};
      if (typeof boundTo !== "string" || boundTo === nodeName) return pod;
      const { name = "", namespace = "", uid = "", resourceVersion = "" } = pod.metadata ?? {};
      const spec = { nodeName: boundTo.slice(0, MAX_SHOWN_LENGTH), containers: [] };
      return { metadata: { name, namespace, uid, resourceVersion }, spec };
    },
  };
}

const MAX_SHOWN_LENGTH = 253;

/** True for a deletion that came as an event, and not as an absence from a list. */
function wasSeenToEnd({ type, object, previous }: ReflectorChange<Pod>): boolean {
  return type === "DELETED" && object !== previous;
}
