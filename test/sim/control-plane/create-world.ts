import { isRecord } from "../../../src/api/object.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { createFakeClock } from "../../../src/host/fake/fake-clock.ts";
import { createDice } from "../dice.ts";
import { createTrace } from "../trace.ts";
import type { Failure } from "../world.ts";
import { createChecks } from "./checks/create-checks.ts";
import { createDisk } from "./disk.ts";
import { createDisturbances } from "./disturbances.ts";
import { createEstate } from "./estate/estate.ts";
import { createKubelets } from "./kubelets.ts";
import { createLedger, type Entry } from "./ledger.ts";
import { SEEDS_WITHOUT_ESTATE } from "./seeds.ts";
import { createServer } from "./server.ts";
import { createWebhook } from "./webhook.ts";
import type { ControlPlaneWorld } from "./world.ts";

const MAX_STEPS = 400_000;
/** Processes of one seed, each with random numbers of its own. */
const MOST_LIVES = 1_000;

export function createControlPlaneWorld(seed: number, onLine?: (line: string) => void): ControlPlaneWorld {
  const stream = (number: number) => createDice(createSeededRandom(seed * 8 + number));
  const clock = createFakeClock();
  const trace = createTrace(clock, onLine);
  const counts = new Map<string, number>();
  const count = (kind: string) => void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  let failure: Failure | undefined;
  let steps = 0;
  const fail = (invariant: string, message: string) => {
    if (failure === undefined) trace.note(`FAILED: ${invariant}: ${message}`);
    failure ??= { invariant, message };
  };
  const ledger = createLedger();
  const disturbances = createDisturbances(clock);
  const disk = createDisk({ clock, dice: stream(1), ledger, count });
  const webhook = createWebhook({ clock, dice: stream(2), count });
  const delays = stream(3);
  const hasEstate = !SEEDS_WITHOUT_ESTATE.some(([without]) => without === seed);
  const estateDice = { dice: stream(6), tokenDice: stream(7) };
  const estate = hasEstate ? createEstate({ clock, ...estateDice, ledger, count, fail }) : undefined;
  const restartDelayMs = () => delays.between(0, 5_000);
  const shared = { clock, trace, count, fail };
  const server = createServer({ ...shared, disk, webhook, restartDelayMs, estate, seed: seed * MOST_LIVES });
  const world: ControlPlaneWorld = {
    ...{ ...shared, ledger, disk, webhook, server, disturbances, counts },
    dice: stream(4),
    kubelets: createKubelets({ clock, dice: stream(5), ledger, server, trace }),
    evictions: new Set(),
    given: new Set(),
    estate,
    get failure() {
      return failure;
    },
    async passUntil(at) {
      while (failure === undefined) {
        const left = Math.max(0, at - clock.monotonic());
        const next = clock.untilNextTimer();
        await clock.advance(Math.min(left, next ?? left));
        steps++;
        if (steps > MAX_STEPS) fail("a run ends", `it took more than ${steps - 1} steps`);
        if (left === 0) return;
      }
    },
    get steps() {
      return steps;
    },
  };
  const checks = createChecks(world);
  ledger.follow((entry) => {
    trace.note(`disk: ${describeEntry(entry)}`);
    for (const check of checks) check.changed(entry);
  });
  return world;
}

/** What changed, and of pods, sets and jobs how they are now. */
function describeEntry({ type, resource, object }: Entry): string {
  const { metadata, status, spec } = object;
  const ending = metadata.deletionTimestamp === undefined ? "" : ", ending";
  const words = [type, resource, `${metadata.name}${ending}`];
  if (!TOLD.includes(resource) || type === "DELETED") return words.join(" ");
  const { replicas } = isRecord(spec) ? spec : {};
  const phase = isRecord(status) ? (status["phase"] ?? JSON.stringify(status)) : "";
  return [...words, ...(replicas === undefined ? [] : [`of ${String(replicas)}`]), String(phase)].join(" ");
}

const TOLD: readonly string[] = ["pods", "jobs.batch", "replicasets.apps", "statefulsets.apps"];
