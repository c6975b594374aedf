import { createHmac } from "node:crypto";
import { typed } from "../../../../src/api/object.ts";
import { formatTime } from "../../../../src/base/clock.ts";
import type { Dice } from "../../dice.ts";
import { attempt, patch } from "../deeds.ts";
import type { Happening } from "../schedule.ts";
import type { ControlPlaneWorld } from "../world.ts";

const SECRETS = "/api/v1/namespaces/kube-system/secrets";
const INFO = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
const IDS = ["aaaaaa", "bbbbbb", "cccccc"] as const;
const LONGEST_LIFE_MS = 60_000;

/** Tokens for machines that join come and go, expire, and somebody forges what they signed. */
export function makeTokenSchedule(dice: Dice, endsAt: number): readonly Happening[] {
  const deeds = [
    ["makes a token", makeToken],
    ["makes a token", makeToken],
    ["drops a token", dropToken],
    ["forges cluster-info", forgeInfo],
  ] as const;
  return Array.from({ length: dice.whole(0, 12) }, () => {
    const [name, deed] = dice.pick(deeds);
    const at = Math.round(dice.between(0, endsAt));
    return { at, name: `estate: ${name}`, happen: (world: ControlPlaneWorld) => void deed(world, dice) };
  });
}

async function makeToken(world: ControlPlaneWorld, dice: Dice): Promise<void> {
  const id = dice.pick(IDS);
  const expiration = formatTime(world.clock.now() + dice.between(0, LONGEST_LIFE_MS));
  const stringData = {
    "token-id": id,
    "token-secret": `${dice.whole(1, 9)}`.padStart(16, "0"),
    "usage-bootstrap-signing": dice.chance(0.8) ? "true" : "false",
    ...(dice.chance(0.5) && { expiration }),
  };
  const metadata = { name: `bootstrap-token-${id}`, namespace: "kube-system" };
  const body = { apiVersion: "v1", kind: "Secret", metadata, type: "bootstrap.kubernetes.io/token", stringData };
  await attempt(world, `makes token ${id}`, async () => {
    await world.server.ask({ method: "POST", path: SECRETS, body });
  });
}

async function dropToken(world: ControlPlaneWorld, dice: Dice): Promise<void> {
  const id = dice.pick(IDS);
  await attempt(world, `drops token ${id}`, async () => {
    await world.server.ask({ method: "DELETE", path: `${SECRETS}/bootstrap-token-${id}` });
  });
}

async function forgeInfo(world: ControlPlaneWorld, dice: Dice): Promise<void> {
  const data = dice.pick<object>([
    { kubeconfig: `of ${dice.whole(1, 9)}` },
    { "jws-kubeconfig-aaaaaa": "forged" },
    { "jws-kubeconfig-bbbbbb": null },
    { "jws-kubeconfig-nobody": "forged" },
  ]);
  await patch(world, INFO, { data });
}

/** `cluster-info` is signed by each token that is there and says so, and by nothing else; none is there beyond its time. */
export function findRestlessTokens({ ledger, clock }: ControlPlaneWorld): string[] {
  const map = ledger.get("configmaps", "cluster-info", "kube-public");
  if (map === undefined) return ["there is no cluster-info"];
  const { kubeconfig = "", ...rest } = typed("ConfigMap", map).data ?? {};
  const secrets = ledger.list("secrets").filter(({ metadata }) => metadata.namespace === "kube-system");
  const tokens = secrets.map((secret) => {
    const { data = {} } = typed("Secret", secret);
    return (field: string) => Buffer.from(data[field] ?? "", "base64").toString();
  });
  const late = tokens.filter((text) => text("expiration") !== "" && Date.parse(text("expiration")) <= clock.now());
  const signers = tokens.filter((text) => text("usage-bootstrap-signing") === "true");
  const wanted = signers.map((text) => `jws-kubeconfig-${text("token-id")}=${signatureOf(kubeconfig, text)}`);
  const found = Object.entries(rest).map(([key, value]) => `${key}=${value}`);
  const isSigned = found.toSorted().join() === wanted.toSorted().join();
  return [
    ...late.map((text) => `token ${text("token-id")} has expired and is there`),
    ...(isSigned ? [] : [`cluster-info has ${found.join()} for ${wanted.join()}`]),
  ];
}

function signatureOf(content: string, text: (field: string) => string): string {
  const encode = (value: string) => Buffer.from(value).toString("base64url");
  const header = encode(JSON.stringify({ alg: "HS256", kid: text("token-id") }));
  const mac = createHmac("sha256", text("token-secret")).update(`${header}.${encode(content)}`);
  return `${header}..${mac.digest("base64url")}`;
}
