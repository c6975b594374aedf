import type { Pod } from "../../../src/api/gen/types.ts";
import { isRecord } from "../../../src/api/object.ts";
import { computeQosClass } from "../../../src/api/qos.ts";
import { SECOND } from "../../../src/base/clock.ts";
import type { MemoryShortage } from "../memory/memory-shortage.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/** From a look at the node to what follows from it: the statistics of a storm are waited for. */
const DECISION_MS = 15 * SECOND;
/** The default of `evictionPressureTransitionPeriod`. */
const TRANSITION_MS = 300 * SECOND;
const LOW = "The node was low on resource: memory. ";
const CONDITION = "The node had condition: [MemoryPressure]. ";

/**
 * Who ends because the node has too little memory: somebody only then, never a static pod, and the one that uses most. A
 * process that has ended somebody lets nobody of best effort in until the condition is over, and refuses nobody else.
 */
export function createMemoryPressureCheck(world: World, shortage: MemoryShortage): Check {
  /** The pods that had a worker when the process that is up evicted one. */
  let known = new Set<string>();
  let pressedUntil = Number.NEGATIVE_INFINITY;
  let wasShortAt = Number.NEGATIVE_INFINITY;

  const isStatic = (uid: string) => world.manifests.pod(uid) !== undefined;

  const evicting = (uid: string) => {
    const now = world.clock.monotonic();
    world.faults.count("evicted for memory");
    for (const each of world.node.memory?.workers.states().keys() ?? []) known.add(each);
    shortage.evicted.add(uid);
    pressedUntil = now + TRANSITION_MS - DECISION_MS;
    if (isStatic(uid)) world.fail("no static pod is evicted", short(uid));
    if (!shortage.wasShort(DECISION_MS)) world.fail("nobody is evicted while there is enough memory", short(uid));
    const states = world.node.memory?.workers.states() ?? new Map();
    const greater = [...states.keys()].find((other) => {
      return other !== uid && !isStatic(other) && shortage.usedBy(other) > 2 * shortage.usedBy(uid) && isStill(other);
    });
    if (greater !== undefined && !hasUnmeasured()) {
      const used = `${shortage.usedBy(uid)} bytes, and ${short(greater)} ${shortage.usedBy(greater)}`;
      world.fail("who uses most memory is evicted", `${short(uid)} uses ${used}`);
    }
  };
  const isStill = (uid: string) => world.node.memory?.workers.states().get(uid)?.phase === "syncing";
  /** A storm may have kept the node agent from measuring a pod. */
  const hasUnmeasured = () => world.faults.calmSince() > world.clock.monotonic() - DECISION_MS;

  const refused = (uid: string, message: string) => {
    world.faults.count("refused for pressure");
    shortage.refused.add(uid);
    const pod = world.wanted.pod(uid);
    const isAllowed = !isStatic(uid) && message === CONDITION && (pod === undefined || isBestEffort(pod));
    const isPressed = world.clock.monotonic() - wasShortAt <= TRANSITION_MS + DECISION_MS;
    if (!isAllowed || !isPressed)
      world.fail("only best effort is refused, and under pressure only", `${short(uid)}: ${message}`);
  };

  return {
    started() {
      known = new Set();
      pressedUntil = Number.NEGATIVE_INFINITY;
    },
    occurred: shortage.occurred,
    logged(line) {
      const eviction = readFields(/^info: Evicting pod (\{.*\})$/, line);
      if (String(eviction?.["message"]).startsWith(LOW)) evicting(String(eviction?.["uid"]));
      const refusal = readFields(/^warn: Pod is refused (\{.*\})$/, line);
      const pod = refusal?.["pod"];
      if (refusal?.["reason"] === "Evicted" && isRecord(pod)) refused(String(pod["uid"]), String(refusal["message"]));
    },
    stepped() {
      const now = world.clock.monotonic();
      if (shortage.wasShort(0)) wasShortAt = now;
      for (const [uid, { phase }] of world.node.memory?.workers.states() ?? []) {
        if (known.has(uid)) continue;
        known.add(uid);
        const pod = world.cluster?.pods.pod(uid);
        if (pod === undefined || phase !== "syncing" || now >= pressedUntil || !isBestEffort(pod)) continue;
        // It runs since before this process.
        if (shortage.usedBy(uid) > 0) continue;
        world.fail("nobody of best effort is let in under pressure", short(uid));
      }
    },
  };
}

function isBestEffort(pod: Pod): boolean {
  return computeQosClass(pod) === "BestEffort";
}

function readFields(words: RegExp, line: string): Readonly<Record<string, unknown>> | undefined {
  const text = words.exec(line)?.[1];
  const fields: unknown = text === undefined ? undefined : JSON.parse(text);
  return isRecord(fields) ? fields : undefined;
}
