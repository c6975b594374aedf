import type { PodStatus } from "../../src/api/gen/types.ts";
import { isTerminalPhase, podFullName, podUid } from "../../src/api/pods.ts";
import { parseTime, SECOND } from "../../src/base/clock.ts";
import { NO_FAULTS } from "./faults.ts";
import { CRITICAL_PERIOD_MS, type MachineShutdown, SHUTDOWN_PERIOD_MS } from "./machine-shutdown.ts";
import type { World } from "./world.ts";

/** The last statuses and events have this long, and a call of the runtime may be in its way. */
const MORE_MS = 10_000;
const LOOK_PERIOD_MS = 100;
/** An agent that could not do it at once tries again after 30 s at most. */
const HOLD_WAIT_MS = 40_000;

/**
 * It is held up until the pods have ended or their time is over, and no longer; what has ended is told. The runtime may
 * fail meanwhile.
 */
export async function shutDown(world: World, shutdown: MachineShutdown): Promise<void> {
  const { clock, faults, host, trace } = world;
  if (!(await becomesHeld(world, 1, HOLD_WAIT_MS))) return world.fail("a shutdown is held up", "by nobody");
  const { dice } = shutdown;
  if (dice.chance(0.5)) {
    faults.storm({ ...NO_FAULTS, rpcError: dice.between(0, 0.3), rpcDelay: dice.between(0, 0.3) });
  }
  shutdown.begin();
  faults.count("shutdown of the machine");
  trace.note("the machine is about to go down");
  const begunAt = clock.monotonic();
  host.logind.announce(true);
  const mayGo = await becomesHeld(world, 0, SHUTDOWN_PERIOD_MS + CRITICAL_PERIOD_MS + MORE_MS);
  const elapsed = clock.monotonic() - begunAt;
  if (!mayGo) world.fail("the machine may go when its pods' time is over", `held after ${elapsed} ms`);
  checkEnds(world, elapsed);
  faults.storm(NO_FAULTS);
}

async function becomesHeld(world: World, held: number, limitMs: number): Promise<boolean> {
  const { clock, host } = world;
  const limit = clock.monotonic() + limitMs;
  while (host.logind.held !== held && clock.monotonic() < limit && world.failure === undefined) {
    await world.passUntil(clock.monotonic() + LOOK_PERIOD_MS);
  }
  return host.logind.held === held || world.failure !== undefined;
}

function checkEnds({ clock, cri, cluster, node, wanted, fail }: World, elapsed: number): void {
  const running = cri.runningContainers().map(({ config }) => config.metadata?.name);
  if (running.length > 0 && elapsed < SHUTDOWN_PERIOD_MS) {
    fail("the machine waits for its pods", `${running.join(", ")} still ran after ${elapsed} ms`);
  }
  const { memory } = node;
  const untold = (memory?.statuses.list() ?? []).filter(({ pod, status }) => {
    return memory?.workers.states().get(podUid(pod))?.phase === "finished" && !isTerminalPhase(status.phase);
  });
  const unheard = (cluster?.pods.bound() ?? []).filter((pod) => {
    const isOver = memory?.workers.states().get(podUid(pod))?.phase === "finished";
    return isOver && wanted.pod(podUid(pod)) !== undefined && !isTerminalPhase(pod.status?.phase);
  });
  // A pod that took all of the time was not waited for any longer.
  const limitAt = clock.now() - elapsed + SHUTDOWN_PERIOD_MS;
  const late = new Set(
    (memory?.statuses.list() ?? [])
      .filter(({ status }) => endOf(status) >= limitAt - SECOND)
      .map(({ pod }) => podUid(pod)),
  );
  const names = [...untold.map(({ pod }) => pod), ...unheard].filter((pod) => !late.has(podUid(pod))).map(podFullName);
  if (names.length > 0) fail("what ended by a shutdown is told before the machine goes", names.join(", "));
}

/** When the last container ended, in milliseconds since the epoch, less than a second too early; 0 where none did. */
function endOf({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): number {
  const ends = [...initContainerStatuses, ...containerStatuses].map(
    ({ state }) => parseTime(state?.terminated?.finishedAt ?? "") ?? 0,
  );
  return Math.max(0, ...ends);
}
