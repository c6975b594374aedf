import { attempt, patch } from "../deeds.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { Estate } from "./estate.ts";

/** Namespaces that come and go. */
export const ANNEXES = ["annex", "attic"] as const;

const HOLD = "simulator.example/hold";
const LONGEST_HOLD_MS = 60_000;

/** Makes a namespace, or fills the one that is there. */
export async function fillAnnex(world: ControlPlaneWorld, { dice }: Estate): Promise<void> {
  const annex = dice.pick(ANNEXES);
  const { server, ledger } = world;
  if (ledger.get("namespaces", annex, "") === undefined) {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: annex } };
    await attempt(world, `makes namespace ${annex}`, async () => {
      await server.ask({ method: "POST", path: "/api/v1/namespaces", body });
    });
  }
  for (const _one of Array.from({ length: dice.whole(1, 5) })) {
    const name = `thing-${dice.whole(1, 9)}`;
    const metadata = { name, namespace: annex, ...(dice.chance(0.3) && { finalizers: [HOLD] }) };
    const kind = dice.pick<string>(["ConfigMap", "Secret", "ServiceAccount"]);
    const plural = `${kind.toLowerCase()}s`;
    await attempt(world, `makes ${kind} ${annex}/${name}`, async () => {
      const body = { apiVersion: "v1", kind, metadata };
      await server.ask({ method: "POST", path: `/api/v1/namespaces/${annex}/${plural}`, body });
    });
  }
}

/** Deletes a namespace; whoever holds what is in it lets go a while later. */
export async function closeAnnex(world: ControlPlaneWorld, { dice }: Estate): Promise<void> {
  const annex = dice.pick(ANNEXES);
  await attempt(world, `deletes namespace ${annex}`, async () => {
    await world.server.ask({ method: "DELETE", path: `/api/v1/namespaces/${annex}` });
  });
  const release = async () => {
    await releaseHolds(world);
    if (world.ledger.get("namespaces", annex, "")?.metadata.deletionTimestamp !== undefined) releaseLater();
  };
  const releaseLater = () => world.clock.setTimer(dice.between(1, LONGEST_HOLD_MS), () => void release());
  releaseLater();
}

/** Everybody lets go of what they hold in namespaces that are going. */
export async function releaseHolds(world: ControlPlaneWorld): Promise<void> {
  for (const plural of ["configmaps", "secrets", "serviceaccounts"]) {
    for (const { metadata } of world.ledger.list(plural)) {
      if (metadata.finalizers?.includes(HOLD) !== true || metadata.deletionTimestamp === undefined) continue;
      const path = `/api/v1/namespaces/${metadata.namespace}/${plural}/${metadata.name}`;
      await patch(world, path, { metadata: { finalizers: null } });
    }
  }
}
