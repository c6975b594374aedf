import type { Node, Pod } from "../../../src/api/gen/types.ts";
import { isRecord } from "../../../src/api/object.ts";
import { computeQosClass } from "../../../src/api/qos.ts";
import { SECOND } from "../../../src/base/clock.ts";
import type { NodeShortage } from "../shortage/node-shortage.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/** From a look at the node to what follows from it: the statistics of a storm are waited for. */
const DECISION_MS = 15 * SECOND;
/** The default of `evictionPressureTransitionPeriod`. */
const TRANSITION_MS = 300 * SECOND;
/** From a verdict to the node object: a report under way may be an answer late. */
const REPORT_MS = 60 * SECOND;

/**
 * Who ends because the node has too little of something: somebody only then, never a static pod, and the one that uses
 * most. A process that has ended somebody lets nobody in until the condition is over, of best effort only where it is
 * memory. The node's condition comes and goes with the shortage.
 */
export function createNodePressureCheck(world: World, shortage: NodeShortage): Check {
  const { name, words, condition } = shortage.resource;
  const low = `The node was low on resource: ${words}. `;
  const refusal = `The node had condition: [${condition}]. `;
  /** The pods that had a worker when the process that is up evicted one. */
  let known = new Set<string>();
  let pressedUntil = Number.NEGATIVE_INFINITY;
  let wasShortAt = Number.NEGATIVE_INFINITY;
  let startedAt = Number.NEGATIVE_INFINITY;
  /** By the process that is up. */
  let evictedAt = Number.POSITIVE_INFINITY;
  let shown: Node | undefined;

  const isStatic = (uid: string) => world.manifests.pod(uid) !== undefined;
  const mustWait = (pod: Pod) => name !== "memory" || isBestEffort(pod);

  const evicting = (uid: string) => {
    const now = world.clock.monotonic();
    world.faults.count(`evicted for ${name}`);
    for (const each of world.node.memory?.workers.states().keys() ?? []) known.add(each);
    shortage.evicted.add(uid);
    pressedUntil = now + TRANSITION_MS - DECISION_MS;
    evictedAt = now;
    if (isStatic(uid)) world.fail("no static pod is evicted", short(uid));
    if (!shortage.wasShort(DECISION_MS)) world.fail(`nobody is evicted while there is enough ${name}`, short(uid));
    const states = world.node.memory?.workers.states() ?? new Map();
    const greater = [...states.keys()].find((other) => {
      return other !== uid && !isStatic(other) && shortage.usedBy(other) > 2 * shortage.usedBy(uid) && isStill(other);
    });
    if (greater !== undefined && !hasUnmeasured()) {
      const used = `${shortage.usedBy(uid)}, and ${short(greater)} ${shortage.usedBy(greater)}`;
      world.fail(`who uses most ${name} is evicted`, `${short(uid)} uses ${used}`);
    }
  };
  const isStill = (uid: string) => world.node.memory?.workers.states().get(uid)?.phase === "syncing";
  /** A storm may have kept the node agent from measuring a pod. */
  const hasUnmeasured = () => world.faults.calmSince() > world.clock.monotonic() - DECISION_MS;

  const refused = (uid: string, message: string) => {
    world.faults.count("refused for pressure");
    shortage.refused.add(uid);
    const pod = world.wanted.pod(uid);
    const isAllowed = !isStatic(uid) && message === refusal && (pod === undefined || mustWait(pod));
    const isPressed = world.clock.monotonic() - wasShortAt <= TRANSITION_MS + DECISION_MS;
    if (!isAllowed || !isPressed)
      world.fail("nobody is refused but those who may be, and under pressure only", `${short(uid)}: ${message}`);
  };

  const reported = (isPressed: boolean) => {
    const now = world.clock.monotonic();
    const sinceShort = now - wasShortAt;
    world.faults.count(`${condition} ${isPressed ? "comes" : "goes"}`);
    if (isPressed && !shortage.wasShort(TRANSITION_MS + REPORT_MS)) {
      world.fail("no condition comes without a shortage", `${condition} ${sinceShort} ms after the last one`);
    }
    // A process that was just started knows nothing of what was before it.
    const isJustStarted = now - startedAt < TRANSITION_MS + REPORT_MS;
    if (!isPressed && sinceShort < TRANSITION_MS - REPORT_MS && !isJustStarted) {
      world.fail("a condition stays for its time", `${condition} goes ${sinceShort} ms after a shortage`);
    }
  };

  /** It has had the time, and nobody has kept it from it. */
  const mustSay = (now: number) => {
    const isHeard = world.node.memory !== undefined && world.faults.calmSince() <= now - REPORT_MS;
    return isHeard && now - evictedAt >= REPORT_MS && now - evictedAt < TRANSITION_MS - REPORT_MS;
  };

  return {
    started() {
      known = new Set();
      pressedUntil = Number.NEGATIVE_INFINITY;
      evictedAt = Number.POSITIVE_INFINITY;
      startedAt = world.clock.monotonic();
    },
    occurred: shortage.occurred,
    logged(line) {
      const eviction = readFields(/^info: Evicting pod (\{.*\})$/, line);
      if (String(eviction?.["message"]).startsWith(low)) evicting(String(eviction?.["uid"]));
      const fields = readFields(/^warn: Pod is refused (\{.*\})$/, line);
      const pod = fields?.["pod"];
      if (fields?.["reason"] === "Evicted" && isRecord(pod)) refused(String(pod["uid"]), String(fields["message"]));
    },
    nodeStored(node, previous) {
      shown = node;
      const is = hasCondition(node, condition);
      if (is !== (previous !== undefined && hasCondition(previous, condition))) reported(is);
    },
    stepped() {
      const now = world.clock.monotonic();
      if (shortage.wasShort(0)) wasShortAt = now;
      if (mustSay(now) && shown !== undefined && !hasCondition(shown, condition)) {
        world.fail("a node that ran short says so", `no ${condition} ${now - evictedAt} ms after an eviction`);
      }
      for (const [uid, { phase }] of world.node.memory?.workers.states() ?? []) {
        if (known.has(uid)) continue;
        known.add(uid);
        const pod = world.cluster?.pods.pod(uid);
        if (pod === undefined || phase !== "syncing" || now >= pressedUntil || !mustWait(pod)) continue;
        // It runs since before this process.
        if (shortage.usedBy(uid) > 0) continue;
        world.fail("nobody is let in under pressure that makes it worse", short(uid));
      }
    },
  };
}

function hasCondition({ status }: Node, type: string): boolean {
  return status?.conditions?.some((each) => each.type === type && each.status === "True") === true;
}

function isBestEffort(pod: Pod): boolean {
  return computeQosClass(pod) === "BestEffort";
}

function readFields(words: RegExp, line: string): Readonly<Record<string, unknown>> | undefined {
  const text = words.exec(line)?.[1];
  const fields: unknown = text === undefined ? undefined : JSON.parse(text);
  return isRecord(fields) ? fields : undefined;
}
