import { MINUTE } from "../../src/base/clock.ts";
import { NO_API_FAULTS } from "./api/api-faults.ts";
import { NO_WRONG_ANSWERS } from "./api/wrong-answers.ts";
import { createWorld } from "./create-world.ts";
import { NO_FAULTS } from "./faults.ts";
import { findUnsettled } from "./find-unsettled.ts";
import { makeSchedule } from "./schedule.ts";
import { shutDown } from "./shut-down.ts";
import type { Failure, World } from "./world.ts";

/** Which program is simulated. */
export type SuiteName = "node" | "control plane";

/** What one seed came to. */
export interface RunResult {
  seed: number;
  suite: SuiteName;
  failure: Failure | undefined;
  /** The newest lines of the trace. */
  trace: readonly string[];
  traceHash: string;
  virtualMs: number;
  steps: number;
  faults: ReadonlyArray<readonly [kind: string, count: number]>;
}

/** The largest back-off and ten minutes. */
const CONVERGENCE_LIMIT_MS = 15 * MINUTE;
/** Longer than a watch takes to be begun anew: everybody lists what was kept from them. */
const EXPIRY_MS = 40_000;
const LOOK_PERIOD_MS = 1_000;
/** Settled is what stays so for two relists. */
const STAYS_MS = 65_000;

/** Runs the whole node agent through one seed's chaos, lets it recover, and stops it. */
export async function runSeed(seed: number, onLine?: (line: string) => void): Promise<RunResult> {
  const world = await createWorld(seed, { onLine });
  const { clock, trace } = world;
  await world.node.start();
  await runChaos(world);
  if (world.failure === undefined && world.shutdown !== undefined) await shutDown(world, world.shutdown);
  await stop(world);
  await world.cluster?.stop();
  return {
    seed,
    suite: "node",
    failure: world.failure,
    trace: trace.recent,
    traceHash: trace.hash(),
    virtualMs: clock.monotonic(),
    steps: world.steps,
    faults: [...world.faults.counts],
  };
}

/** Makes and runs one schedule from now on, mends what is broken and waits until everything is as it should be. */
export async function runChaos(world: World): Promise<void> {
  const begin = world.clock.monotonic();
  const schedule = makeSchedule({
    own: world.dice,
    api: world.cluster?.dice,
    storage: world.cluster?.storage?.dice,
    growth: world.growth?.dice,
    places: world.places?.dice,
    shortage: world.shortage?.dice,
    probed: world.probed?.dice,
    lying: world.cluster?.wrong?.dice,
  });
  for (const event of schedule.events) {
    await world.passUntil(begin + event.at);
    if (world.failure !== undefined) break;
    world.trace.note(`event: ${event.name}`);
    await event.happen(world);
  }
  await world.passUntil(begin + schedule.endsAt);
  if (world.failure === undefined) await heal(world);
  await settle(world);
}

async function heal(world: World): Promise<void> {
  const { cri, cluster, user, growth, probed, manifests, faults, trace } = world;
  trace.note("the chaos is over");
  faults.storm(NO_FAULTS);
  cri.start();
  cri.setNetworkReady(true);
  for (const kind of ["outage", "network"]) faults.mend(kind);
  for (const file of manifests.files()) if (manifests.isSpoilt(file)) manifests.write(file, manifests.written(file));
  growth?.end();
  probed?.end();
  cluster?.faults.storm(NO_API_FAULTS);
  cluster?.wrong?.storm(NO_WRONG_ANSWERS);
  cluster?.faults.mend();
  if (cluster?.wrong?.takeLost() === true) cluster.faults.expireOnce(EXPIRY_MS);
  await cluster?.storage?.heal();
  await user?.makeMissing();
  await world.node.start();
}

async function settle(world: World): Promise<void> {
  const { clock } = world;
  const limit = clock.monotonic() + CONVERGENCE_LIMIT_MS;
  let settledSince: number | undefined;
  while (world.failure === undefined) {
    await world.passUntil(clock.monotonic() + LOOK_PERIOD_MS);
    const unsettled = await findUnsettled(world);
    if (unsettled.length > 0) settledSince = undefined;
    else settledSince ??= clock.monotonic();
    if (settledSince !== undefined && clock.monotonic() - settledSince >= STAYS_MS) return;
    if (clock.monotonic() > limit) world.fail("everything converges", unsettled.join("; "));
  }
}

async function stop(world: World): Promise<void> {
  if (world.failure !== undefined) return;
  // That it leaves the containers running is the needless-stop check's to see: some end by themselves just then.
  await world.node.stop();
}
