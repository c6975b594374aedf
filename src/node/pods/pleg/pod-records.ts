import type { PodReference } from "../../../api/pods.ts";
import type { PodItems, RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";
import { createGoneIds } from "./gone-ids.ts";
import { diffRuntimePods, type PodLifecycleEvent } from "./lifecycle-events.ts";

/** What the runtime's lists and the readings of single pods have shown. */
interface PodRecords {
  /** A reading that began as the `begun`th succeeded: the events that lead from what was known to what it showed. */
  read(pod: PodReference, begun: number, shown: RuntimePod | undefined): PodLifecycleEvent[];
  /** A reading failed: the next relist reads the pod again, whatever the lists say. */
  readFailed(pod: PodReference, begun: number): void;
  /**
   * The lists of everything: the pods that have to be read, since they differ from what is known or could not be read, with
   * what the lists show of them, which may be nothing.
   */
  list(pods: readonly RuntimePod[]): ListedPod[];
  /** Whose container or sandbox it is; `gone` when it was seen to be gone, undefined when it is not known. */
  find(id: string, uid: string | undefined): RuntimePod | "gone" | undefined;
  /** By UID. A pod that was listed and could not be read is among them: it is not gone. */
  pods(): ReadonlyMap<string, RuntimePod>;
}

/** A pod, and all that there was of it when the lists were read. */
interface ListedPod {
  readonly pod: PodReference;
  readonly items: PodItems;
  /** Its last reading failed, whoever made it. */
  readonly isUnread: boolean;
}

interface FailedReading extends PodReference {
  /** The order in which the newest of the failed readings began. */
  readonly begun: number;
}

export function createPodRecords(): PodRecords {
  const records = new Map<string, RuntimePod>();
  /** Pods whose last reading failed. */
  const unread = new Map<string, FailedReading>();
  const gone = createGoneIds();
  const listed = new Map<string, RuntimePod>();

  return {
    read({ uid }, begun, shown) {
      // A slow reading that began before the failed one is older than what somebody may be waiting for.
      if ((unread.get(uid)?.begun ?? 0) < begun) unread.delete(uid);
      const events = diffRuntimePods(records.get(uid), shown);
      for (const { type, id } of events) if (type === "ContainerRemoved") gone.add(id);
      if (shown === undefined) records.delete(uid);
      else records.set(uid, shown);
      return events;
    },
    readFailed({ uid, name, namespace }, begun) {
      unread.set(uid, { uid, name, namespace, begun: Math.max(begun, unread.get(uid)?.begun ?? 0) });
    },
    list(pods) {
      listed.clear();
      for (const pod of pods) listed.set(pod.uid, pod);
      // A pod that no list shows is read, too, when its reading failed: somebody waits to hear that it is not there.
      const changed = new Map<string, PodReference>(unread);
      for (const [uid, pod] of [...records, ...listed]) {
        if (diffRuntimePods(records.get(uid), listed.get(uid)).length > 0) changed.set(uid, pod);
      }
      return [...changed.values()].map((pod) => {
        return { pod, items: itemsOf(listed.get(pod.uid)), isUnread: unread.has(pod.uid) };
      });
    },
    find(id, uid) {
      if (gone.has(id)) return "gone";
      return uid === undefined ? findOwner(records, id) : records.get(uid);
    },
    pods: () => new Map([...listed].filter(([uid]) => unread.has(uid)).concat([...records])),
  };
}

function itemsOf(pod: RuntimePod | undefined): PodItems {
  return {
    sandboxes: (pod?.sandboxes ?? []).map(({ id }) => ({ id })),
    containers: (pod?.containers ?? []).map(({ id, sandboxId }) => ({ id, sandboxId })),
  };
}

function findOwner(records: ReadonlyMap<string, RuntimePod>, id: string): RuntimePod | undefined {
  const hasId = (item: { id: string }) => item.id === id;
  return [...records.values()].find(({ containers, sandboxes }) => containers.some(hasId) || sandboxes.some(hasId));
}
