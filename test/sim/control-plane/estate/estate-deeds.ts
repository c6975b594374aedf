import { typed } from "../../../../src/api/object.ts";
import { attempt, type Deed, doDeed, patch } from "../deeds.ts";
import { NAMESPACE } from "../ledger.ts";
import type { Happening } from "../schedule.ts";
import { NODE_NAMES } from "../workloads.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { Estate } from "./estate.ts";
import { ESTATE_KINDS, TAINT_KEY, TARGET_MILLICORES } from "./estate-kinds.ts";
import { foundFamily, leaveFamily } from "./families.ts";
import { makeTokenSchedule } from "./join-tokens.ts";
import { closeAnnex, fillAnnex } from "./namespaces.ts";
import { USAGE_MODES } from "./usage.ts";

type EstateDeed = (world: ControlPlaneWorld, estate: Estate) => Promise<void> | void;

const ordinary =
  (deed: Deed): EstateDeed =>
  async (world, { dice }) => {
    await doDeed({ world, dice, kinds: ESTATE_KINDS }, deed);
  };

const DEEDS: ReadonlyArray<readonly [name: string, deed: EstateDeed]> = [
  ["create", ordinary("create")],
  ["create", ordinary("create")],
  ["create", ordinary("create")],
  ["change", ordinary("change")],
  ["change", ordinary("change")],
  ["scale", ordinary("scale")],
  ["delete", ordinary("delete")],
  ["evict", ordinary("evict")],
  ["found a family", foundFamily],
  ["found a family", foundFamily],
  ["leave a family", leaveFamily],
  ["leave a family", leaveFamily],
  ["fill a namespace", fillAnnex],
  ["close a namespace", closeAnnex],
  ["taint a node", taint],
  ["another load", changeLoad],
  ["another load", changeLoad],
  ["tell otherwise", tellOtherwise],
  ["spoil", spoil],
  ["trouble with directories", troubleDirectories],
];

const APPS = ["web", "cart", "bare", "queue", "old"] as const;

export function makeEstateSchedule(estate: Estate, endsAt: number): readonly Happening[] {
  const { dice } = estate;
  const happening = (at: number, [name, deed]: (typeof DEEDS)[number]): Happening => ({
    at,
    name: `estate: ${name}`,
    happen: (world) => void deed(world, estate),
  });
  const create = ["create", ordinary("create")] as const;
  const firsts = Array.from({ length: dice.whole(2, 8) }, () => happening(0, create));
  const deeds = Array.from({ length: dice.whole(5, 50) }, () => {
    return happening(Math.round(dice.between(0, endsAt)), dice.pickAny(DEEDS) ?? create);
  });
  return [...firsts, ...deeds, ...makeTokenSchedule(estate.tokenDice, endsAt)];
}

async function taint(world: ControlPlaneWorld, { dice }: Estate): Promise<void> {
  const name = dice.pick(NODE_NAMES);
  const node = world.ledger.get("nodes", name, "");
  const { taints = [] } = (node && typed("Node", node).spec) ?? {};
  const isTainted = taints.some(({ key }) => key === TAINT_KEY);
  world.disturbances.all();
  await setTaints(world, name, isTainted ? [] : [{ key: TAINT_KEY, effect: "NoExecute" }]);
}

/** A cordoned node stays so: its other taint is put back by the controller of nodes. */
export async function setTaints(world: ControlPlaneWorld, name: string, taints: readonly object[]): Promise<boolean> {
  return await patch(world, `/api/v1/nodes/${name}`, { spec: { taints: taints.length === 0 ? null : taints } });
}

function changeLoad(_world: ControlPlaneWorld, { dice, usage }: Estate): void {
  usage.setLoad(dice.pick(APPS), dice.whole(0, 8) * TARGET_MILLICORES);
}

function tellOtherwise({ trace }: ControlPlaneWorld, { dice, usage }: Estate): void {
  const mode = dice.pick(USAGE_MODES);
  trace.note(`nodes: what they tell is ${mode}`);
  usage.tell(mode);
}

/** Somebody deletes or overwrites what every namespace has. */
async function spoil(world: ControlPlaneWorld, { dice }: Estate): Promise<void> {
  const path = `/api/v1/namespaces/${NAMESPACE}`;
  const victim = dice.pick(["configmaps/kube-root-ca.crt", "serviceaccounts/default"]);
  if (dice.chance(0.4)) {
    await patch(world, `${path}/configmaps/kube-root-ca.crt`, { data: { "ca.crt": "forged", more: "text" } });
    return;
  }
  await attempt(world, `deletes ${victim}`, async () => {
    await world.server.ask({ method: "DELETE", path: `${path}/${victim}` });
  });
}

function troubleDirectories({ clock }: ControlPlaneWorld, { dice, directories }: Estate): void {
  directories.storm(dice.between(0.2, 1));
  clock.setTimer(dice.between(1_000, 60_000), () => directories.storm(0));
}
