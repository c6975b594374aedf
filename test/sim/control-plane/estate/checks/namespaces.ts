import type { LedgerCheck } from "../../checks/check.ts";
import type { ControlPlaneWorld } from "../../world.ts";
import { ANNEXES } from "../namespaces.ts";

const CONTENT = ["configmaps", "secrets", "serviceaccounts"] as const;

/** A namespace goes when nothing is left in it, and gets nothing new meanwhile. */
export function createNamespaceCheck({ ledger, fail }: ControlPlaneWorld): LedgerCheck {
  return {
    changed({ type, resource, object: { metadata } }) {
      const { name = "", namespace = "" } = metadata;
      if (resource === "namespaces" && type === "DELETED") {
        const left = CONTENT.flatMap((plural) => ledger.list(plural)).filter((other) => {
          return other.metadata.namespace === name;
        });
        if (left.length > 0) fail("a namespace goes empty", `${name} has ${left[0]?.metadata.name}`);
      }
      const isContent = CONTENT.some((plural) => plural === resource);
      if (!isContent || type !== "ADDED" || !ANNEXES.some((annex) => annex === namespace)) return;
      const home = ledger.get("namespaces", namespace, "");
      if (home === undefined) fail("a namespace goes empty", `${name} was made in ${namespace}, which is gone`);
      else if (home.metadata.deletionTimestamp !== undefined) {
        fail("a namespace that goes gets nothing new", `${name} was made in ${namespace}`);
      }
    },
  };
}
