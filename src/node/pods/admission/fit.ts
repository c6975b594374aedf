import type { Node, Pod } from "../../../api/gen/types.ts";
import { isCriticalPod, isStaticPod, podFullName, podUid } from "../../../api/pods.ts";
import type { Departures } from "./departures.ts";
import type { FreshNode } from "./fresh-node.ts";
import type { PodRejection } from "./pod-rejection.ts";
import { findUnmetPredicates, type MissingResource, rejectForeignSystem, rejectGroupsPolicy } from "./predicates.ts";

/** Undefined admits the pod; `undecided`: the pod is asked about again when more is known. */
export type FitVerdict = PodRejection | "undecided" | RoomWanted | undefined;

/** The resources that less critical pods would have to give back for a critical pod to fit; never empty. */
export interface RoomWanted {
  readonly missing: readonly MissingResource[];
}

/** The room that is being made for critical pods. */
export interface RoomInMaking {
  /** The pods that room is made for; no other pod gets it. */
  claimants(): readonly Pod[];
  /** A critical pod waits for the end of this pod. */
  isAwaited(uid: string): boolean;
  /** The pod had its time to end and has not ended: critical pods wait for it no longer. */
  isOverdue(uid: string): boolean;
  /** The pod is to be asked about again when the room is made. */
  queue(uid: string): void;
}

interface FitDeps {
  /** The node object as it was last seen. */
  node(): Node;
  /** Pods that were admitted and have not ended. */
  admittedPods(): readonly Pod[];
  supportsSupplementalGroupsPolicy(): boolean;
  /** Undefined where nothing but the node agent changes the node object. */
  readonly freshNode: Pick<FreshNode, "ask" | "take"> | undefined;
  readonly room: RoomInMaking;
  readonly departures: Pick<Departures, "isLeaving" | "queue">;
}

/** Whether the node has what the pod wants of it. */
export function createFit(deps: FitDeps): (pod: Pod) => FitVerdict {
  const { freshNode, room, departures } = deps;

  const judgeCritical = (unmet: ReturnType<typeof findUnmetPredicates>): PodRejection | RoomWanted => {
    // A lack of resources is no reason to refuse a critical pod, but no pod ends for one that cannot run for another
    // reason.
    const other = unmet.find(({ missing }) => missing === undefined);
    if (other !== undefined) return rejectionOf(other);
    return { missing: unmet.flatMap(({ missing }) => missing ?? []) };
  };

  return (pod) => {
    // A node agent before this one admitted the pod. Labels and taints do not end a running pod, and a restart must
    // not.
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
    if (freshNode !== undefined && fresh === undefined && unmet.every(({ isOfNodeObject }) => isOfNodeObject)) {
      freshNode.ask(uid);
      return "undecided";
    }
    if (isCritical) return judgeCritical(unmet);
    const fitsWithout = (isGoing: (uid: string) => boolean) => {
      const staying = others.filter((other) => !isGoing(podUid(other)));
      return staying.length < others.length && findUnmetPredicates({ pod, node, others: staying }).length === 0;
    };
    // Upstream would not have looked at the pod before the room was made.
    if (fitsWithout(room.isAwaited)) room.queue(uid);
    // Upstream lets the pod in beside those; the scheduler does not see them, and would have it refused again and again.
    else if (fitsWithout((other) => room.isAwaited(other) || departures.isLeaving(other))) departures.queue(uid);
    else return rejectionOf(first);
    return "undecided";
  };
}

function rejectionOf({ reason, message }: PodRejection): PodRejection {
  return { reason, message };
}

/** True for the static pod whose place the other one takes: it is gone, with its ports, before the other starts. */
function isPredecessor(other: Pod, pod: Pod): boolean {
  return isStaticPod(pod) && isStaticPod(other) && podFullName(other) === podFullName(pod);
}
