import type { Node, Pod } from "../../../api/gen/types.ts";
import { isCriticalPod, isStaticPod, podFullName, podUid } from "../../../api/pods.ts";
import type { FreshNode } from "./fresh-node.ts";
import type { PodRejection } from "./pod-rejection.ts";
import { findUnmetPredicates, type MissingResource, rejectForeignSystem, rejectGroupsPolicy } from "./predicates.ts";

/** Undefined lets the pod in; `undecided`: it is asked about again when more is known. */
export type FitVerdict = PodRejection | "undecided" | RoomWanted | undefined;

/** A critical pod would fit if less critical ones gave back so much; never empty. */
export interface RoomWanted {
  readonly missing: readonly MissingResource[];
}

/** What is under way to make room for critical pods. */
export interface RoomInMaking {
  /** Whom it is made for: nobody else gets it. */
  claimants(): readonly Pod[];
  /** The pod's end is waited for. */
  isAwaited(uid: string): boolean;
  /** The pod had its time to end and has not: who is critical waits no longer for it. */
  isOverdue(uid: string): boolean;
  /** To be asked about again when the room is made. */
  queue(uid: string): void;
}

interface FitDeps {
  /** As it was last seen. */
  node(): Node;
  /** Pods that were let in and are not over. */
  admittedPods(): readonly Pod[];
  supportsSupplementalGroupsPolicy(): boolean;
  /** Undefined: nobody else changes the node. */
  readonly freshNode: Pick<FreshNode, "ask" | "take"> | undefined;
  readonly room: RoomInMaking;
}

/** Whether the node has what the pod wants of it. */
export function createFit(deps: FitDeps): (pod: Pod) => FitVerdict {
  const { freshNode, room } = deps;

  const judgeCritical = (unmet: ReturnType<typeof findUnmetPredicates>): PodRejection | RoomWanted => {
    // Lack of resources is no reason to refuse a critical pod; nobody ends for one that cannot run anyway.
    const other = unmet.find(({ missing }) => missing === undefined);
    if (other !== undefined) return rejectionOf(other);
    return { missing: unmet.flatMap(({ missing }) => missing ?? []) };
  };

  return (pod) => {
    // It was let in by an agent before this one; labels and taints do not end what runs, and neither shall a restart.
    if (pod.status?.phase === "Running") return undefined;
    const foreign = rejectForeignSystem(pod) ?? rejectGroupsPolicy(pod, deps.supportsSupplementalGroupsPolicy());
    if (foreign !== undefined) return foreign;
    const uid = podUid(pod);
    const isCritical = isCriticalPod(pod);
    const others = [...deps.admittedPods(), ...room.claimants()].filter(
      (other) => podUid(other) !== uid && !isPredecessor(other, pod) && !(isCritical && room.isOverdue(podUid(other))),
    );
    const fresh = freshNode?.take(uid);
    const node = fresh ?? deps.node();
    const unmet = findUnmetPredicates({ pod, node, others });
    const [first] = unmet;
    if (first === undefined) return undefined;
    if (freshNode !== undefined && fresh === undefined && unmet.every(({ isLabelMatter }) => isLabelMatter)) {
      freshNode.ask(uid);
      return "undecided";
    }
    if (isCritical) return judgeCritical(unmet);
    const staying = others.filter((other) => !room.isAwaited(podUid(other)));
    if (staying.length === others.length || findUnmetPredicates({ pod, node, others: staying }).length > 0) {
      return rejectionOf(first);
    }
    // Upstream would not have looked at it before the room was made.
    room.queue(uid);
    return "undecided";
  };
}

function rejectionOf({ reason, message }: PodRejection): PodRejection {
  return { reason, message };
}

/** The static pod that the other takes the place of: it is gone before the other starts, ports and all. */
function isPredecessor(other: Pod, pod: Pod): boolean {
  return isStaticPod(pod) && isStaticPod(other) && podFullName(other) === podFullName(pod);
}
