import { typed } from "../../../../../src/api/object.ts";
import { parseTime } from "../../../../../src/base/clock.ts";
import type { LedgerCheck } from "../../checks/check.ts";
import type { ControlPlaneWorld } from "../../world.ts";

/** A write may take so long to come to the disk. */
const SLOWEST_WRITE_MS = 10_000;

/** A job that nobody deletes stays until its time after its end is over. */
export function createFinishedJobCheck(world: ControlPlaneWorld): LedgerCheck {
  const { clock, disturbances, given, fail } = world;
  return {
    changed({ type, resource, object, previous }) {
      if (resource !== "jobs.batch" || previous === undefined) return;
      const { metadata, spec, status } = typed("Job", previous);
      const isEnding = type === "DELETED" || object.metadata.deletionTimestamp !== undefined;
      if (!isEnding || metadata.deletionTimestamp !== undefined || spec?.ttlSecondsAfterFinished === undefined) return;
      const wasSet = clock.monotonic() - disturbances.allAt < SLOWEST_WRITE_MS;
      if (given.has(metadata.uid ?? "") || wasSet) return;
      const end = status?.conditions?.find(({ type: said }) => said === "Complete" || said === "Failed");
      const until =
        (parseTime(end?.lastTransitionTime) ?? Number.POSITIVE_INFINITY) + spec.ttlSecondsAfterFinished * 1000;
      if (clock.now() >= until) return;
      fail("a finished job stays its time", `${metadata.name} went ${until - clock.now()} ms early`);
    },
  };
}
