import { Readable } from "node:stream";
import { typed } from "../../../../src/api/object.ts";
import { isPodReady, podUid } from "../../../../src/api/pods.ts";
import { sleep } from "../../../../src/base/abort.ts";
import { type Clock, formatTime, MINUTE } from "../../../../src/base/clock.ts";
import { CodedError } from "../../../../src/base/errors.ts";
import type { CallWeb } from "../../../../src/host/web-call.ts";
import type { Dice } from "../../dice.ts";
import type { Ledger } from "../ledger.ts";
import { isActive, type StoredPod } from "../pods-of.ts";
import { NODE_NAMES } from "../workloads.ts";
import { TARGET_MILLICORES } from "./estate-kinds.ts";

/** How nodes tell what their pods use. */
export const USAGE_MODES = ["true", "true", "silent", "garbled", "slow", "lacking", "late", "absurd"] as const;
type UsageMode = (typeof USAGE_MODES)[number];

/** What the pods on the nodes use, and what the nodes tell of it. */
export interface Usage {
  readonly call: CallWeb;
  /** All pods of the app together need so many thousandths of a processor. */
  load(app: string): number;
  setLoad(app: string, millicores: number): void;
  tell(mode: UsageMode): void;
  /** Nobody has been told anything since then, by the clock; undefined while nodes tell. */
  readonly silentSince: number | undefined;
}

/** The address of a node, for the API server. */
export function addressOf(name: string): string {
  const names: readonly string[] = NODE_NAMES;
  return `192.0.2.${10 + names.indexOf(name)}`;
}

const SLOW_MS = 12_000;
const LATE_MS = 30 * MINUTE;

export function createUsage({ clock, dice, ledger }: { clock: Clock; dice: Dice; ledger: Ledger }): Usage {
  const loads = new Map<string, number>();
  let mode: UsageMode = "true";
  let silentSince: number | undefined;
  const load = (app: string) => loads.get(app) ?? TARGET_MILLICORES;
  const podsOfApp = (app: string) => {
    return ledger
      .list("pods")
      .map((pod) => typed("Pod", pod))
      .filter((pod) => pod.metadata.labels?.["app"] === app);
  };

  const told = (pod: StoredPod) => {
    const app = pod.metadata.labels?.["app"] ?? "";
    const serving = podsOfApp(app).filter((other) => isActive(other) && isPodReady(other)).length;
    const share = Math.round((load(app) * 1e6) / Math.max(1, serving));
    const usageNanoCores = mode === "absurd" ? dice.pick([0, Number.MAX_SAFE_INTEGER, 1e15, -5]) : share;
    const time = formatTime(clock.now() - (mode === "late" ? LATE_MS : 0));
    const { name = "", namespace = "" } = pod.metadata;
    const memory = { time, workingSetBytes: 1e6 };
    return {
      podRef: { name, namespace, uid: podUid(pod) },
      containers: [{ name: "main", cpu: { time, usageNanoCores }, memory }],
    };
  };
  const summaryOf = (node: string) => {
    const running = ledger
      .list("pods")
      .map((pod) => typed("Pod", pod))
      .filter(({ spec, status }) => spec?.nodeName === node && status?.phase === "Running");
    const pods = running.filter(() => mode !== "lacking" || dice.chance(0.5)).map(told);
    return JSON.stringify({ node: { nodeName: node }, pods });
  };

  return {
    async call({ host }, signal) {
      if (mode === "silent") throw new CodedError("call-failed", "connection refused, by the simulator");
      if (mode === "slow") await sleep(clock, dice.between(1_000, SLOW_MS), signal);
      const node = NODE_NAMES.find((name) => addressOf(name) === host) ?? "";
      const text = mode === "garbled" ? "<html>" : summaryOf(node);
      return { status: 200, headers: {}, body: Readable.from([Buffer.from(text)]) };
    },
    load,
    setLoad: (app, millicores) => void loads.set(app, millicores),
    tell(next) {
      mode = next;
      const isSilent = mode === "silent" || mode === "garbled";
      silentSince = isSilent ? (silentSince ?? clock.monotonic()) : undefined;
    },
    get silentSince() {
      return silentSince;
    },
  };
}
