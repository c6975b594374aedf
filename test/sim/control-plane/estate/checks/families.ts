import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../../../../../src/api/finalizers.ts";
import type { KubeObject } from "../../../../../src/api/object.ts";
import type { LedgerCheck } from "../../checks/check.ts";
import type { ControlPlaneWorld } from "../../world.ts";
import { FAMILY_LABEL } from "../families.ts";

const RESOURCE = "configmaps";

/**
 * The garbage collector deletes what no owner is left of, and nothing else: owners that wait for it do not count.
 * Who is deleted in the foreground goes after those that hold it up, and who leaves orphans behind goes after they have
 * forgotten it.
 */
export function createFamilyCheck({ ledger, given, fail }: ControlPlaneWorld): LedgerCheck {
  const dependentsOf = (uid: string | undefined) =>
    ledger.list(RESOURCE).filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  const isSolid = (uid: string) => {
    const owner = ledger.list(RESOURCE).find(({ metadata }) => metadata.uid === uid);
    return owner !== undefined && !isWaiting(owner);
  };
  return {
    changed({ type, resource, object, previous }) {
      const { metadata } = object;
      if (resource !== RESOURCE || metadata.labels?.[FAMILY_LABEL] === undefined || previous === undefined) return;
      const { deletionTimestamp, ownerReferences = [], finalizers = [] } = previous.metadata;
      const isEnding = type === "DELETED" || metadata.deletionTimestamp !== undefined;
      if (isEnding && deletionTimestamp === undefined && !given.has(metadata.uid ?? "")) {
        const solid = ownerReferences.filter(({ uid }) => isSolid(uid));
        if (ownerReferences.length === 0 || solid.length > 0) {
          fail(
            "nothing is collected that has an owner",
            `${metadata.name}, of ${solid.map(({ name }) => name).join()}`,
          );
        }
      }
      if (type !== "DELETED") return;
      const left = dependentsOf(metadata.uid);
      const [first] = left;
      if (finalizers.includes(ORPHAN_FINALIZER) && first !== undefined) {
        fail("orphans forget their owner before it goes", `${first.metadata.name} is owned by ${metadata.name}`);
      }
      const blocking = left.filter((dependent) => blocks(dependent, metadata.uid));
      if (finalizers.includes(FOREGROUND_FINALIZER) && blocking[0] !== undefined) {
        fail("dependents go first in the foreground", `${blocking[0].metadata.name} is left of ${metadata.name}`);
      }
    },
  };
}

function isWaiting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(FOREGROUND_FINALIZER);
}

function blocks({ metadata }: KubeObject, uid: string | undefined): boolean {
  return (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true);
}
