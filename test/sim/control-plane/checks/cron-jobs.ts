import { typed } from "../../../../src/api/object.ts";
import { controllerOf, isStanding, ownerOf } from "../pods-of.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { LedgerCheck } from "./check.ts";

const SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/** A cron job makes no job twice for one time, and no second one beside another where it may not. */
export function createCronJobCheck({ ledger, fail }: ControlPlaneWorld): LedgerCheck {
  const started = new Set<string>();
  return {
    changed({ type, resource, object }) {
      if (resource !== "jobs.batch" || type !== "ADDED") return;
      const owner = ownerOf(ledger, object, "cronjobs.batch", "CronJob");
      if (!isStanding(owner)) return;
      const time = object.metadata.annotations?.[SCHEDULED] ?? "";
      const key = `${owner.metadata.uid} ${time}`;
      if (started.has(key)) fail("a cron job makes no job twice", `${owner.metadata.name} at ${time}`);
      started.add(key);
      if (typed("CronJob", owner).spec?.concurrencyPolicy === "Allow") return;
      const others = ledger.list("jobs.batch").filter((other) => {
        const { metadata, status } = typed("Job", other);
        const isOver = status?.conditions?.some(
          ({ type: said, status: value }) => value === "True" && (said === "Complete" || said === "Failed"),
        );
        const isOwn = controllerOf(other)?.uid === owner.metadata.uid && metadata.uid !== object.metadata.uid;
        return isOwn && isOver !== true && metadata.deletionTimestamp === undefined;
      });
      if (others.length === 0) return;
      fail("no two jobs run where they may not", `${object.metadata.name} beside ${others[0]?.metadata.name}`);
    },
  };
}
