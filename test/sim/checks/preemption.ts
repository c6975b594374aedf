import { isRecord } from "../../../src/api/object.ts";
import type { Places } from "../places.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/**
 * On a node with few places a static pod gets one, at the expense of pods of the API if need be; a pod of the API loses
 * its own only where one is lacking, and nobody loses one that is as critical.
 */
export function createPreemptionCheck(world: World, places: Places): Check {
  const isStatic = (uid: string) => world.manifests.pod(uid) !== undefined;

  /** Pods of manifests for which no worker is there: those that may wait for a place. */
  const countWaiting = (states: ReadonlyMap<string, unknown>): number =>
    [...world.manifests.groupsWithKept().values()].filter((uids) => !uids.some((uid) => states.has(uid))).length;

  const preempted = (uid: string) => {
    world.faults.count("preempted");
    places.givenUp.add(uid);
    if (isStatic(uid)) world.fail("no static pod is preempted", short(uid));
    const states = world.node.memory?.workers.states();
    if (states === undefined) return;
    const staying = [...states.values()].filter(({ phase, subject }) => phase === "syncing" && subject.kind === "pod");
    const [free, waiting] = [places.count - staying.length, countWaiting(states)];
    if (waiting > free) return;
    world.fail("nobody is preempted in vain", `${short(uid)}: ${free} of ${places.count} places for ${waiting} pods`);
  };

  const refused = (uid: string, reason: string) => {
    if (reason === "OutOfpods") {
      world.faults.count("refused for want of a place");
      places.givenUp.add(uid);
      if (!isStatic(uid)) return;
    }
    if (reason === "OutOfpods" || reason === "UnexpectedAdmissionError") {
      world.fail("a static pod finds a place", `${short(uid)}: ${reason}`);
    }
  };

  return {
    logged(line) {
      const victim = readFields(/^info: Preempting pod to free up resources (\{.*\})$/, line);
      if (victim !== undefined) preempted(String(victim["uid"]));
      const refusal = readFields(/^warn: Pod is refused (\{.*\})$/, line);
      const pod = refusal?.["pod"];
      if (isRecord(pod)) refused(String(pod["uid"]), String(refusal?.["reason"]));
    },
  };
}

function readFields(words: RegExp, line: string): Readonly<Record<string, unknown>> | undefined {
  const text = words.exec(line)?.[1];
  const fields: unknown = text === undefined ? undefined : JSON.parse(text);
  return isRecord(fields) ? fields : undefined;
}
