import { formatTime, MINUTE } from "../../../src/base/clock.ts";
import type { RunResult } from "../run.ts";
import { createControlPlaneWorld } from "./create-world.ts";
import { patch } from "./deeds.ts";
import { makeEstateSchedule } from "./estate/estate-deeds.ts";
import { healEstate } from "./estate/heal-estate.ts";
import { addressOf } from "./estate/usage.ts";
import { findUnrest } from "./find-unrest.ts";
import { NAMESPACE } from "./ledger.ts";
import { endStorm, type Happening, makeControlPlaneSchedule } from "./schedule.ts";
import { webhookConfiguration } from "./webhook.ts";
import { NODE_NAMES, nodeOf, nodeStatusOf } from "./workloads.ts";
import type { ControlPlaneWorld } from "./world.ts";

/** The largest back-off of a job, and ten minutes. */
const CONVERGENCE_LIMIT_MS = 20 * MINUTE;
const LOOK_PERIOD_MS = 1_000;
/** Settled is what stays so, and about which nobody writes any more. */
const STAYS_MS = 30_000;

/** Runs the whole control plane with its workloads through one seed's chaos, and lets it recover. */
export async function runControlPlaneSeed(seed: number, onLine?: (line: string) => void): Promise<RunResult> {
  const world = createControlPlaneWorld(seed, onLine);
  await begin(world);
  const plain = makeControlPlaneSchedule(world.dice);
  const { estate } = world;
  const events =
    estate === undefined ? plain.events : mergeSchedules(plain.events, makeEstateSchedule(estate, plain.endsAt));
  const start = world.clock.monotonic();
  for (const { at, name, happen } of events) {
    await world.passUntil(start + at);
    if (world.failure !== undefined) break;
    world.trace.note(`event: ${name}`);
    await happen(world);
  }
  await world.passUntil(start + plain.endsAt);
  if (world.failure === undefined) await heal(world);
  await settle(world);
  if (world.failure === undefined) await world.server.stop();
  else world.server.crash("after the failure");
  return {
    seed,
    suite: "control plane",
    failure: world.failure,
    trace: world.trace.recent,
    traceHash: world.trace.hash(),
    virtualMs: world.clock.monotonic(),
    steps: world.steps,
    faults: [...world.counts],
  };
}

const mergeSchedules = (...all: ReadonlyArray<readonly Happening[]>) => all.flat().toSorted((a, b) => a.at - b.at);

async function begin({ server, clock, estate }: ControlPlaneWorld): Promise<void> {
  await server.start();
  await server.ask({
    method: "POST",
    path: "/api/v1/namespaces",
    body: { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
  });
  const contentType = "application/merge-patch+json";
  for (const name of NODE_NAMES) {
    await server.ask({ method: "POST", path: "/api/v1/nodes", body: nodeOf(name) });
    const status = nodeStatusOf(formatTime(clock.now()), estate && addressOf(name));
    await server.ask({ method: "PATCH", path: `/api/v1/nodes/${name}/status`, body: { status }, contentType });
  }
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  await server.ask({ method: "POST", path, body: webhookConfiguration(estate !== undefined) });
  await clock.advance(1_000);
}

/** Nothing fails any more, and users ask for nothing that cannot be. */
async function heal(world: ControlPlaneWorld): Promise<void> {
  const { server, ledger, clock, trace } = world;
  trace.note("the chaos is over");
  endStorm(world);
  void server.start();
  const limit = clock.monotonic() + MINUTE;
  while (!server.isUp && clock.monotonic() < limit) await world.passUntil(clock.monotonic() + LOOK_PERIOD_MS);
  if (!server.isUp) return world.fail("a control plane starts", "it was not ready within a minute");
  const wishes: Array<readonly [path: string, body: object]> = [
    ...NODE_NAMES.map((name) => [`/api/v1/nodes/${name}`, { spec: { unschedulable: null } }] as const),
    ...ledger.list("resourcequotas").map(({ metadata }) => [quotaPath(metadata.name), PLENTY] as const),
    ...suspended(world, "deployments.apps", "/apis/apps/v1", { paused: false }),
    ...suspended(world, "jobs.batch", "/apis/batch/v1", { suspend: false }),
    ...suspended(world, "cronjobs.batch", "/apis/batch/v1", { suspend: true }),
  ];
  for (const [path, body] of wishes) await insist(world, () => patch(world, path, body));
  const { estate } = world;
  if (estate !== undefined) await insist(world, () => healEstate(world, estate));
}

const PLENTY = { spec: { hard: { pods: "1000" } } };
const quotaPath = (name = "") => `/api/v1/namespaces/${NAMESPACE}/resourcequotas/${name}`;

function suspended({ ledger }: ControlPlaneWorld, resource: string, root: string, spec: object) {
  const [plural] = resource.split(".");
  return ledger
    .list(resource)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => [`${root}/namespaces/${NAMESPACE}/${plural}/${metadata.name}`, { spec }] as const);
}

/**
 * Does it until it is done: the answer may need the time of the clock, and the process may die once more of what was
 * planned for it. What is refused again and again shows in the end.
 */
async function insist(world: ControlPlaneWorld, work: () => Promise<boolean>): Promise<void> {
  const limit = world.clock.monotonic() + MINUTE;
  let isDone = false;
  while (!isDone && world.clock.monotonic() < limit) {
    let isOver = false;
    const attempt = work().then((success) => {
      isDone = success;
      isOver = true;
    });
    while (!isOver && world.failure === undefined) await world.passUntil(world.clock.monotonic() + 10);
    if (world.failure !== undefined) return;
    await attempt;
    if (!isDone) await world.passUntil(world.clock.monotonic() + LOOK_PERIOD_MS);
  }
}

async function settle(world: ControlPlaneWorld): Promise<void> {
  const { clock, ledger } = world;
  const limit = clock.monotonic() + CONVERGENCE_LIMIT_MS;
  let calm: { since: number; writes: number } | undefined;
  while (world.failure === undefined) {
    await world.passUntil(clock.monotonic() + LOOK_PERIOD_MS);
    const unrest = findUnrest(world);
    const isCalm = unrest.length === 0 && (calm === undefined || calm.writes === ledger.writes);
    calm = isCalm ? (calm ?? { since: clock.monotonic(), writes: ledger.writes }) : undefined;
    if (calm !== undefined && clock.monotonic() - calm.since >= STAYS_MS) return;
    const why = unrest.length === 0 ? "something is written again and again" : unrest.join("; ");
    if (clock.monotonic() > limit) world.fail("everything converges", why);
  }
}
