import type { Pod } from "../../../src/api/gen/types.ts";
import type { FakeOccurrence } from "../../../src/cri/fake/fake-state.ts";
import { behaviourOf, containersOf, hasRemoteImage, restartsAfterExit } from "../pod-script.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";
import { readText } from "./read-text.ts";

const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;
const RESET_MS = 600_000;
/** The runtime's times are whole milliseconds to the node agent. */
const TOLERANCE_MS = 1;
/** How late a restart may be: 100 ms, and where RPCs take time what a sibling's start takes. */
const PROMPT_MS = 100;
const PROMPT_WITH_LATENCY_MS = 600;
/** Without events an end is seen by a relist. */
const RELIST_MS = 1_000;
/** After a start or a fault, until the stream of events stands and everything was read. */
const WARM_UP_MS = 5_000;

interface Entry {
  delayMs: number;
  attemptedAt: number;
}

interface Due {
  at: number;
  uid: string;
  name: string;
  containerName: string;
  sandboxId: string;
  endedAt: number;
}

/** A container that ends by itself is not restarted before its back-off is over, and, where nothing is broken, right then. */
export function createBackOffCheck(world: World): Check {
  const entries = new Map<string, Entry>();
  const dues = new Map<string, Due>();
  const stopped = new Set<string>();
  /** When they ended, by a clock that does not jump. */
  const ends = new Map<string, number>();
  const promptMs = world.options.hasLatency ? PROMPT_WITH_LATENCY_MS : PROMPT_MS;
  const keyOf = ({ podUid, containerName }: FakeOccurrence) => `${podUid}/${containerName}`;
  const startsOver = (entry: Entry, endedAt: number) => endedAt - entry.attemptedAt > RESET_MS;

  const findLastEnded = ({ podUid, containerName, id }: FakeOccurrence) => {
    const own = new Set(
      world.cri
        .sandboxes()
        .filter(({ config }) => config.metadata?.uid === podUid)
        .map((s) => s.id),
    );
    return world.cri
      .containers()
      .findLast(
        (container) =>
          own.has(container.sandboxId) &&
          container.config.metadata?.name === containerName &&
          container.state === "exited" &&
          container.id !== id,
      );
  };

  /** Another image has another back-off, which begins when the agent sees it; so has what a probe has ended. */
  const isChanged = (uid: string) =>
    world.user?.disturbed.has(uid) === true || world.probed?.disturbed.has(uid) === true;

  const created = (occurrence: FakeOccurrence) => {
    if (isChanged(occurrence.podUid)) return;
    const key = keyOf(occurrence);
    dues.delete(key);
    const last = findLastEnded(occurrence);
    if (last === undefined) return;
    const now = world.clock.now();
    const entry = entries.get(key);
    const endedAt = ends.get(last.id) ?? 0;
    const fresh = entry === undefined || startsOver(entry, last.finishedAt);
    const due = fresh ? last.finishedAt : last.finishedAt + entry.delayMs;
    const isKnown = world.interference.clockJumpedAt < endedAt;
    if (now + TOLERANCE_MS < due && isKnown && !stopped.has(last.id)) {
      const early = `${Math.round(due - now)} ms before its back-off of ${entry?.delayMs} ms is over`;
      world.fail("back-off is honoured", `${occurrence.podName}/${occurrence.containerName} is restarted ${early}`);
    }
    const delayMs = fresh ? FIRST_MS : Math.min(entry.delayMs * 2, LONGEST_MS);
    entries.set(key, { delayMs, attemptedAt: now });
  };

  const exited = (occurrence: FakeOccurrence) => {
    const pod = world.wanted.pod(occurrence.podUid);
    if (pod === undefined || stopped.has(occurrence.id) || !isUnhindered(pod) || isChanged(occurrence.podUid)) return;
    if (!restartsAfterExit(pod, occurrence.containerName, occurrence.exitCode)) return;
    const now = world.clock.monotonic();
    const entry = entries.get(keyOf(occurrence));
    const calmSince = world.faults.calmSince();
    // An attempt that a fault ended left no trace here, but counted.
    if (calmSince > (world.node.startedAt ?? 0)) return;
    if (now - calmSince < WARM_UP_MS) return;
    const delayMs = entry === undefined || startsOver(entry, occurrence.at) ? 0 : entry.delayMs;
    const seenMs = world.options.hasEvents ? 0 : RELIST_MS;
    dues.set(keyOf(occurrence), {
      at: now + Math.max(delayMs, seenMs),
      uid: occurrence.podUid,
      name: occurrence.podName,
      containerName: occurrence.containerName,
      sandboxId: occurrence.sandboxId,
      endedAt: now,
    });
  };

  /** With its last sandbox the pod is gone; who comes back under its UID begins anew. */
  const forget = (uid: string) => {
    if (world.cri.sandboxes().some(({ config }) => config.metadata?.uid === uid)) return;
    for (const key of entries.keys()) if (key.startsWith(`${uid}/`)) entries.delete(key);
  };

  const checkDue = (key: string, due: Due) => {
    const now = world.clock.monotonic();
    const isVoid =
      world.faults.calmSince() >= due.endedAt ||
      isChanged(due.uid) ||
      world.node.memory?.workers.states().get(due.uid)?.phase !== "syncing" ||
      world.wanted.wantedSince(due.uid) === undefined ||
      world.cri.sandboxes().find(({ id }) => id === due.sandboxId)?.state !== "ready";
    if (isVoid) dues.delete(key);
    else if (now > due.at + promptMs) {
      const late = `${Math.round(now - due.at)} ms after its back-off is over`;
      world.fail("a back-off ends when it is over", `${due.name}/${due.containerName} still waits ${late}`);
    }
  };

  return {
    started() {
      entries.clear();
      dues.clear();
    },
    called(rpc, request) {
      if (rpc === "stopContainer") stopped.add(readText(request, "containerId"));
      if (rpc !== "stopPodSandbox") return;
      const sandboxId = readText(request, "podSandboxId");
      for (const container of world.cri.containers()) if (container.sandboxId === sandboxId) stopped.add(container.id);
    },
    occurred(occurrence) {
      if (occurrence.what === "container-created") created(occurrence);
      if (occurrence.what === "container-exited") {
        ends.set(occurrence.id, world.clock.monotonic());
        exited(occurrence);
      }
      if (occurrence.what === "sandbox-removed") forget(occurrence.podUid);
    },
    stepped() {
      for (const [key, due] of dues) checkDue(key, due);
    },
  };
}

/** No pull keeps its worker busy, and no container that cannot start makes it pause. */
function isUnhindered(pod: Pod): boolean {
  return !hasRemoteImage(pod) && containersOf(pod).every((container) => behaviourOf(container).kind !== "cannot-start");
}
