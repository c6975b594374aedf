import { typed } from "../../../../src/api/object.ts";
import { podUid } from "../../../../src/api/pods.ts";
import { completionIndexOf, isTracked } from "../../../../src/control-plane/workloads/job/job-pods.ts";
import { controllerOf, isActive, isStanding, ownerOf, podsOf } from "../pods-of.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { LedgerCheck } from "./check.ts";

const RESOURCE = "jobs.batch";

/** What the pods of a job came to, by what its nodes said. */
interface Outcome {
  readonly succeeded: Set<string>;
  /** Those of them that nobody had told to end: a job that replaces such a pod at once counts it as failed. */
  readonly lasting: Set<string>;
  readonly indexes: Set<number>;
  mostParallel: number;
}

/** No index of a job runs twice at a time or once more after it is done, and what its pods did is counted once. */
export function createJobCheck({ ledger, fail }: ControlPlaneWorld): LedgerCheck {
  const outcomes = new Map<string, Outcome>();
  const outcomeOf = (uid: string) => {
    const outcome = outcomes.get(uid) ?? {
      succeeded: new Set(),
      lasting: new Set(),
      indexes: new Set(),
      mostParallel: 0,
    };
    outcomes.set(uid, outcome);
    return outcome;
  };

  const checkNewPod = (pod: ReturnType<typeof podsOf>[number]) => {
    const owner = ownerOf(ledger, pod, RESOURCE, "Job");
    if (!isStanding(owner)) return;
    const job = typed("Job", owner);
    const { lasting, indexes, mostParallel } = outcomeOf(job.metadata.uid ?? "");
    const active = podsOf(ledger, job).filter(isActive);
    const index = completionIndexOf(pod);
    const name = `job ${job.metadata.name}`;
    const { completions = 0 } = job.spec ?? {};
    if (active.length > mostParallel) fail("a job keeps its parallelism", `${name} has ${active.length} pods`);
    if (index === undefined) {
      const sum = lasting.size + active.length;
      if (sum > completions) fail("a job runs no pod too many", `${name}: ${sum} succeeded or run of ${completions}`);
      return;
    }
    if (indexes.has(index)) fail("an index that is done is not run again", `${name}, index ${index}`);
    const twins = active.filter((other) => podUid(other) !== podUid(pod) && completionIndexOf(other) === index);
    if (twins.length > 0) fail("an index runs once at a time", `${name}, index ${index}: ${twins[0]?.metadata.name}`);
  };

  return {
    changed({ type, resource, object }) {
      if (resource === RESOURCE) {
        const { metadata, spec, status } = typed("Job", object);
        const outcome = outcomeOf(metadata.uid ?? "");
        outcome.mostParallel = Math.max(outcome.mostParallel, spec?.parallelism ?? 1);
        const counted = status?.succeeded ?? 0;
        const most = spec?.completionMode === "Indexed" ? outcome.indexes.size : outcome.succeeded.size;
        if (counted > most) fail("a success is counted once", `job ${metadata.name}: ${counted} of ${most}`);
      }
      if (resource !== "pods" || controllerOf(object)?.kind !== "Job") return;
      const pod = typed("Pod", object);
      if (type === "ADDED") checkNewPod(pod);
      // What the job has let go before its end, as it is suspended, does not count.
      if (pod.status?.phase !== "Succeeded" || !isTracked(pod)) return;
      const outcome = outcomeOf(controllerOf(object)?.uid ?? "");
      outcome.succeeded.add(podUid(pod));
      if (pod.metadata?.deletionTimestamp === undefined) outcome.lasting.add(podUid(pod));
      const index = completionIndexOf(pod);
      if (index !== undefined) outcome.indexes.add(index);
    },
  };
}
