import { isDeepStrictEqual } from "node:util";
import { typed } from "../../../../../src/api/object.ts";
import type { LedgerCheck } from "../../checks/check.ts";
import type { ControlPlaneWorld } from "../../world.ts";

const CLAIMS = "persistentvolumeclaims";
const SETS = "statefulsets.apps";

interface Policy {
  readonly deletes: boolean;
  readonly shrinks: boolean;
}

/** A claim of a stateful set ends only where the set's author allowed it since the set is there, and by its owners. */
export function createClaimCheck({ ledger, fail }: ControlPlaneWorld): LedgerCheck {
  const policies = new Map<string, Policy>();
  return {
    changed({ type, resource, object, previous }) {
      if (resource === SETS) {
        const { whenDeleted, whenScaled } =
          typed("StatefulSet", object).spec?.persistentVolumeClaimRetentionPolicy ?? {};
        const before = policies.get(object.metadata.name ?? "");
        policies.set(object.metadata.name ?? "", {
          deletes: whenDeleted === "Delete" || before?.deletes === true,
          shrinks: whenScaled === "Delete" || before?.shrinks === true,
        });
      }
      if (resource !== CLAIMS) return;
      const { metadata } = object;
      const owners = metadata.ownerReferences ?? [];
      const policy = policies.get(metadata.labels?.["app"] ?? "");
      const isNewlyOwned = !isDeepStrictEqual(owners, previous?.metadata.ownerReferences ?? []);
      for (const { kind } of isNewlyOwned ? owners : []) {
        const isAllowed = kind === "StatefulSet" ? policy?.deletes : policy?.shrinks;
        if (isAllowed !== true) fail("a claim that is to be kept has no owner", `${metadata.name} got a ${kind}`);
      }
      const isEnding = type === "DELETED" || metadata.deletionTimestamp !== undefined;
      if (!isEnding || previous === undefined || previous.metadata.deletionTimestamp !== undefined) return;
      const claims = previous.metadata.ownerReferences ?? [];
      const standing = claims.filter(({ kind, name, uid }) => {
        const owner = ledger.get(kind === "Pod" ? "pods" : SETS, name);
        return owner?.metadata.uid === uid && owner.metadata.deletionTimestamp === undefined;
      });
      if (claims.length > 0 && standing.length === 0) return;
      fail("a claim ends with its owners only", `${metadata.name}, of ${JSON.stringify(claims)}`);
    },
  };
}
