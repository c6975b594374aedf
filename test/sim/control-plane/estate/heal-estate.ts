import { patch } from "../deeds.ts";
import { NAMESPACE } from "../ledger.ts";
import { NODE_NAMES } from "../workloads.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { Estate } from "./estate.ts";
import { setTaints } from "./estate-deeds.ts";
import { releaseHolds } from "./namespaces.ts";

/** Nodes tell the truth, have no taints and a disk that works, nobody holds anything, and quotas have room; false where somebody has not heard. */
export async function healEstate(world: ControlPlaneWorld, { directories, usage }: Estate): Promise<boolean> {
  usage.tell("true");
  directories.storm(0);
  let isHealed = true;
  for (const name of NODE_NAMES) isHealed = (await setTaints(world, name, [])) && isHealed;
  await releaseHolds(world);
  for (const [name, hard] of PLENTY) {
    if (world.ledger.get("resourcequotas", name) === undefined) continue;
    const path = `/api/v1/namespaces/${NAMESPACE}/resourcequotas/${name}`;
    isHealed = (await patch(world, path, { spec: { hard } })) && isHealed;
  }
  return isHealed;
}

/** Where no range gives pods their requests, a quota of these refuses all. */
const PLENTY = [
  ["wide", { "requests.cpu": null, persistentvolumeclaims: "100", "requests.storage": "1Ti", configmaps: "1000" }],
  [
    "brief",
    { "count/jobs.batch": "1000", "count/replicasets.apps": "1000", replicationcontrollers: "9", services: "99" },
  ],
] as const;
