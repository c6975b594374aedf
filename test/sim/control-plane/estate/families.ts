import type { KubeObject } from "../../../../src/api/object.ts";
import { attempt } from "../deeds.ts";
import { NAMESPACE } from "../ledger.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { Estate } from "./estate.ts";

/** Config maps that own each other, for the garbage collector. */
export const FAMILY_LABEL = "family";

const PATH = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const POLICIES = ["Foreground", "Foreground", "Background", "Orphan"] as const;
const MOST_MEMBERS = 7;

/** Makes some config maps, each owned by up to two of those before it. */
export async function foundFamily(world: ControlPlaneWorld, { dice }: Estate): Promise<void> {
  const family = `f${dice.whole(1, 1_000_000)}`;
  const members: KubeObject[] = [];
  const count = dice.whole(2, MOST_MEMBERS);
  while (members.length < count) {
    const owners = [...new Set([dice.pickAny(members), dice.chance(0.3) ? dice.pickAny(members) : undefined])];
    const ownerReferences = owners.flatMap((owner) =>
      owner === undefined ? [] : [referenceTo(owner, dice.chance(0.7))],
    );
    const name = `${family}-${members.length}`;
    const metadata = { name, namespace: NAMESPACE, labels: { [FAMILY_LABEL]: family }, ownerReferences };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata };
    let made: KubeObject | undefined;
    const isMade = await attempt(world, `makes ${name}`, async () => {
      made = await world.server.ask({ method: "POST", path: PATH, body });
    });
    if (!isMade || made === undefined) return;
    members.push(made);
  }
}

function referenceTo({ metadata }: KubeObject, blockOwnerDeletion: boolean) {
  return { apiVersion: "v1", kind: "ConfigMap", name: metadata.name, uid: metadata.uid, blockOwnerDeletion };
}

/** Deletes a config map of some family, and says what is to become of those that it owns. */
export async function leaveFamily(world: ControlPlaneWorld, { dice }: Estate): Promise<void> {
  const all = world.ledger.list("configmaps").filter(({ metadata }) => {
    return metadata.labels?.[FAMILY_LABEL] !== undefined && metadata.deletionTimestamp === undefined;
  });
  const parents = all.filter(({ metadata }) => all.some((other) => isOwnedBy(other, metadata.uid)));
  const member = dice.pickAny(dice.chance(0.8) ? parents : all);
  if (member === undefined) return;
  const { name, uid = "" } = member.metadata;
  const propagationPolicy = dice.pick(POLICIES);
  world.given.add(uid);
  await attempt(world, `deletes ${name}, ${propagationPolicy}`, async () => {
    const body = { propagationPolicy, preconditions: { uid } };
    await world.server.ask({ method: "DELETE", path: `${PATH}/${name}`, body });
  });
}

function isOwnedBy({ metadata }: KubeObject, uid: string | undefined): boolean {
  return (metadata.ownerReferences ?? []).some((reference) => reference.uid === uid);
}
