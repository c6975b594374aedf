import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import { childController, isAbort } from "../../../base/abort.ts";
import { type Clock, MINUTE, SECOND, type Timer } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Random } from "../../../base/random.ts";
import { createReflector } from "../../../kube/create-reflector.ts";
import type { KubeClient } from "../../../kube/port.ts";
import type { Reflector, ReflectorChange } from "../../../kube/reflector.ts";
import { createPodReader } from "./pod-reader.ts";
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
  const reader = createPodReader(nodeName);
  const usable = createUsablePods({ log: deps.log, reader }, nodeName);
  const doubts = createDoubts(clock);
  let timer: Timer | undefined;
  let lastSeen = new Map<string, Pod>();

  const reflector: Reflector<Pod> = createReflector(deps, {
    resource: reader.resource,
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
      const pods = reflector.list();
      doubts.review(pods.some((pod) => reader.misfitOf(pod) !== undefined));
      emit({ source: "api", pods: usable.select(pods), ...(gone.size > 0 && { lastSeen: gone }) });
    });
  };

  return {
    async run(signal) {
      const { controller, release } = childController(signal);
      const first = reflector.synced(controller.signal).then(scheduleSnapshot, () => undefined);
      try {
        await deps.nodeReady(signal);
        while (!signal.aborted) await doubts.untilDue(signal, async (inner) => await reflector.run(inner));
      } catch (error) {
        if (!isAbort(error)) throw error;
      } finally {
        controller.abort();
        release();
        await first;
        timer?.cancel();
        timer = undefined;
        doubts.review(false);
      }
    },
  };
}

/** What is malformed may have been mended since: nobody tells of it, so that it is listed anew after growing waits. */
interface Doubts {
  /** To be called with each snapshot. */
  review(hasMalformed: boolean): void;
  /** Runs until the signal fires, or until the pods are due to be listed anew. */
  untilDue(signal: AbortSignal, run: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

const FIRST_LIST_AGAIN_MS = 10 * SECOND;
const MAX_LIST_AGAIN_MS = 5 * MINUTE;

function createDoubts(clock: Clock): Doubts {
  let waitMs = FIRST_LIST_AGAIN_MS;
  let timer: Timer | undefined;
  let listAgain = (): void => undefined;
  const arm = () => {
    timer ??= clock.setTimer(waitMs, () => {
      timer = undefined;
      waitMs = Math.min(2 * waitMs, MAX_LIST_AGAIN_MS);
      listAgain();
      // A list that has the same malformed pods is no news.
      arm();
    });
  };
  return {
    review(hasMalformed) {
      if (hasMalformed) return arm();
      timer?.cancel();
      timer = undefined;
      waitMs = FIRST_LIST_AGAIN_MS;
    },
    async untilDue(signal, run) {
      const { controller, release } = childController(signal);
      listAgain = () => controller.abort();
      try {
        await run(controller.signal);
      } finally {
        listAgain = () => undefined;
        release();
      }
    },
  };
}

/** True for a deletion that came as an event, and not as an absence from a list. */
function wasSeenToEnd({ type, object, previous }: ReflectorChange<Pod>): boolean {
  return type === "DELETED" && object !== previous;
}
