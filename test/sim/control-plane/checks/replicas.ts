import { typed } from "../../../../src/api/object.ts";
import { isActive, isStanding, ownerOf, podsOf } from "../pods-of.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { LedgerCheck } from "./check.ts";

/** What has so many pods of one template. */
interface ReplicaKind {
  readonly resource: string;
  readonly kind: "ReplicaSet" | "ReplicationController";
}

/** A replica set makes no more pods than it was ever to have since it last had as many as it should. */
export function createReplicaCheck({ ledger, fail }: ControlPlaneWorld, own: ReplicaKind): LedgerCheck {
  const most = new Map<string, number>();
  return {
    changed({ type, resource, object }) {
      if (resource === own.resource) {
        const { metadata, spec, status } = typed(own.kind, object);
        const uid = metadata.uid ?? "";
        const wanted = spec?.replicas ?? 1;
        const isWhole = status?.observedGeneration === metadata.generation && status?.replicas === wanted;
        most.set(uid, isWhole ? wanted : Math.max(wanted, most.get(uid) ?? 0));
      }
      if (resource !== "pods" || type !== "ADDED") return;
      const owner = ownerOf(ledger, object, own.resource, own.kind);
      if (!isStanding(owner)) return;
      const count = podsOf(ledger, owner).filter(isActive).length;
      const limit = most.get(owner.metadata.uid ?? "") ?? 0;
      if (count > limit) {
        fail("what has replicas makes no pod too many", `${owner.metadata.name} has ${count} of at most ${limit}`);
      }
    },
  };
}
