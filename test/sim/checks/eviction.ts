import type { Pod } from "../../../src/api/gen/types.ts";
import { isRecord } from "../../../src/api/object.ts";
import { podFullName, podUid } from "../../../src/api/pods.ts";
import type { StorageGrowth } from "../local-storage/storage-growth.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/**
 * A pod that uses more of the disk than it may is evicted once, in upstream's words, and stays so; nobody else is. A node
 * agent that is killed before the API has heard of it may evict the pod again: it knows nothing of the first time.
 */
export function createEvictionCheck(world: World, growth: StorageGrowth): Check {
  /** By the process that is up. */
  const evicting = new Set<string>();
  /** What the API has heard, by UID. */
  const verdicts = new Map<string, string>();

  const begin = (uid: string, message: string) => {
    const fail = (invariant: string, why: string) => world.fail(invariant, `${short(uid)}: ${message}: ${why}`);
    if (evicting.has(uid)) fail("a pod is evicted once", "it is being evicted already");
    if (verdicts.has(uid)) fail("a pod is evicted once", `the API has heard that it was: ${verdicts.get(uid)}`);
    if (!growth.explains(uid, message)) fail("only what grows past its limit is evicted", "it has not grown so");
    evicting.add(uid);
    growth.evicted.add(uid);
    growth.evicting(world.node.crash);
  };

  const heard = (pod: Pod) => {
    const uid = podUid(pod);
    const before = verdicts.get(uid);
    const { reason, message = "", phase } = pod.status ?? {};
    const is = reason === "Evicted" && !isForTheNode(message) ? message : undefined;
    if (before === is) return;
    const name = `${podFullName(pod)} ${short(uid)}`;
    if (before !== undefined) {
      world.fail("a pod that was evicted stays so", `${name}: ${before}, then ${phase} ${reason}: ${message}`);
    } else if (!growth.evicted.has(uid) || phase !== "Failed" || !growth.explains(uid, message)) {
      world.fail("an eviction is told as what it is", `${name}: ${phase}: ${message}`);
    }
    if (is !== undefined) verdicts.set(uid, is);
  };

  return {
    started: () => evicting.clear(),
    logged(line) {
      const eviction = readEviction(line);
      if (eviction !== undefined && !isForTheNode(eviction.message)) begin(eviction.uid, eviction.message);
    },
    stored({ type, pod }) {
      if (type !== "DELETED") heard(pod);
    },
  };
}

/** It was short of something: another check's matter. */
function isForTheNode(message: string): boolean {
  return message.startsWith("The node was low on resource: ") || message.startsWith("Pod was rejected: The node had ");
}

function readEviction(line: string): { uid: string; message: string } | undefined {
  const fields = /^info: Evicting pod (\{.*\})$/.exec(line)?.[1];
  if (fields === undefined) return undefined;
  const value: unknown = JSON.parse(fields);
  return isRecord(value) ? { uid: String(value["uid"]), message: String(value["message"]) } : undefined;
}
