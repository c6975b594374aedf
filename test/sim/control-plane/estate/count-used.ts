import { typed } from "../../../../src/api/object.ts";
import { isTerminalPhase } from "../../../../src/api/pods.ts";
import { parseQuantity } from "../../../../src/api/quantity.ts";
import { parseTime } from "../../../../src/base/clock.ts";
import { type Ledger, NAMESPACE } from "../ledger.ts";

/** What an object of each resource is measured by. */
export const MEASURED_RESOURCES: ReadonlyMap<string, readonly string[]> = new Map([
  ["pods", ["requests.cpu"]],
  ["persistentvolumeclaims", ["persistentvolumeclaims", "requests.storage"]],
  ["configmaps", ["configmaps"]],
  ["jobs.batch", ["count/jobs.batch"]],
  ["replicasets.apps", ["count/replicasets.apps"]],
  ["replicationcontrollers", ["replicationcontrollers"]],
  ["services", ["services"]],
]);

/** A quantity as a number of its unit. */
export function amountOf(text: string): number {
  return Number(parseQuantity(text)?.nanos ?? 0) / 1e9;
}

/** How much of it the namespace uses, by the objects on the disk. `now`: milliseconds since the epoch. */
export function countUsed(ledger: Ledger, name: string, now: number): number {
  const own = (resource: string) => ledger.list(resource).filter(({ metadata }) => metadata.namespace === NAMESPACE);
  switch (name) {
    case "requests.cpu": {
      const amounts = own("pods").map((object) => {
        const { metadata, spec, status } = typed("Pod", object);
        // A pod that should have ended by now does not count any more.
        const isOver = (parseTime(metadata.deletionTimestamp) ?? Number.POSITIVE_INFINITY) < now;
        if (isOver || isTerminalPhase(status?.phase)) return 0;
        return amountOf(spec?.containers[0]?.resources?.requests?.["cpu"] ?? "0");
      });
      return sum(amounts);
    }
    case "requests.storage":
      return sum(
        own("persistentvolumeclaims").map((claim) => {
          return amountOf(typed("PersistentVolumeClaim", claim).spec?.resources?.requests?.["storage"] ?? "0");
        }),
      );
    default:
      return own(name.replace("count/", "")).length;
  }
}

const sum = (amounts: readonly number[]) =>
  Math.round(amounts.reduce((total, amount) => total + amount, 0) * 1e6) / 1e6;
