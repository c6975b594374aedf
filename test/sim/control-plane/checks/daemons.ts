import { typed } from "../../../../src/api/object.ts";
import { isTerminalPhase, podUid } from "../../../../src/api/pods.ts";
import { isStanding, ownerOf, podsOf, type StoredPod } from "../pods-of.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { LedgerCheck } from "./check.ts";

const RESOURCE = "daemonsets.apps";

/** The node that a daemon's pod is for, bound to it or not yet. */
export function targetOf({ spec }: StoredPod): string | undefined {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const named = terms.flatMap(({ matchFields = [] }) => matchFields.flatMap(({ values = [] }) => values));
  return spec?.nodeName ?? named[0];
}

/** A node gets no second pod of a daemon set, but of another template where the set surges. */
export function createDaemonCheck({ ledger, fail }: ControlPlaneWorld): LedgerCheck {
  return {
    changed({ type, resource, object }) {
      if (resource !== "pods" || type !== "ADDED") return;
      const owner = ownerOf(ledger, object, RESOURCE, "DaemonSet");
      if (!isStanding(owner)) return;
      const pod = typed("Pod", object);
      const isSurging = typed("DaemonSet", owner).spec?.updateStrategy?.rollingUpdate?.maxSurge !== 0;
      const others = podsOf(ledger, owner).filter(
        (other) =>
          podUid(other) !== podUid(pod) && targetOf(other) === targetOf(pod) && !isTerminalPhase(other.status?.phase),
      );
      const hashOf = ({ metadata }: StoredPod) => metadata.labels?.["controller-revision-hash"];
      const twins = isSurging
        ? others.filter((other) => hashOf(other) === hashOf(pod) && other.metadata.deletionTimestamp === undefined)
        : others;
      if (twins.length === 0) return;
      const text = `${targetOf(pod)} has ${twins[0]?.metadata.name} and got ${pod.metadata.name}`;
      fail("a node has one pod of a daemon set", text);
    },
  };
}
