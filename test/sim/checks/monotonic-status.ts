import { podUid } from "../../../src/api/pods.ts";
import type { PublishedStatus } from "../node.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/**
 * Restart counts and terminal phases never go back within one life of a UID, which ends when the runtime holds nothing
 * of it any more. A node agent that starts must know as much as the runtime does.
 */
export function createMonotonicStatusCheck(world: World): Check {
  const counts = new Map<string, number>();
  const phases = new Map<string, string>();
  const attempts = new Map<string, number>();

  const forget = (uid: string) => {
    phases.delete(uid);
    for (const map of [counts, attempts]) {
      for (const key of map.keys()) if (key.startsWith(`${uid}/`)) map.delete(key);
    }
  };

  const checkCounts = ({ pod, status }: PublishedStatus) => {
    for (const { name, restartCount } of [
      ...(status.initContainerStatuses ?? []),
      ...(status.containerStatuses ?? []),
    ]) {
      const key = `${podUid(pod)}/${name}`;
      const before = counts.get(key) ?? 0;
      counts.set(key, restartCount);
      if (restartCount >= before) continue;
      world.fail("restart counts never go back", `${pod.metadata?.name}/${name}: ${before}, then ${restartCount}`);
    }
  };

  return {
    started() {
      // What was published is lost with the process; what the runtime holds is not.
      counts.clear();
      attempts.clear();
      const held = new Set<string | undefined>();
      const uids = new Map(world.cri.sandboxes().map(({ id, config }) => [id, config.metadata?.uid]));
      for (const { sandboxId, config } of world.cri.containers()) {
        const key = `${uids.get(sandboxId)}/${config.metadata?.name}`;
        counts.set(key, Math.max(counts.get(key) ?? 0, config.metadata?.attempt ?? 0));
        attempts.set(key, counts.get(key) ?? 0);
        held.add(uids.get(sandboxId));
      }
      // A pod that was being removed may have lost so much that it gets another phase.
      for (const uid of phases.keys()) if (!held.has(uid) || world.interference.pods.has(uid)) phases.delete(uid);
    },
    occurred({ what, podUid: uid, podName, containerName, attempt }) {
      if (what === "container-created") {
        const key = `${uid}/${containerName}`;
        const before = attempts.get(key);
        if (before !== undefined && attempt <= before) {
          world.fail("restart counts never go back", `${podName}/${containerName}: attempt ${attempt} after ${before}`);
        }
        attempts.set(key, attempt);
      }
      if (what !== "sandbox-removed") return;
      const isLeft = world.cri.sandboxes().some(({ config }) => config.metadata?.uid === uid);
      if (!isLeft) forget(uid);
    },
    published(published) {
      const { pod, status } = published;
      const uid = podUid(pod);
      // Between two lives: the last word on the one, or the first on the other.
      if (!world.cri.sandboxes().some(({ config }) => config.metadata?.uid === uid)) return;
      checkCounts(published);
      const before = phases.get(uid);
      if (before !== undefined && before !== status.phase) {
        world.fail("terminal phases never go back", `pod ${short(uid)}: ${before}, then ${status.phase}`);
      }
      if (status.phase === "Succeeded" || status.phase === "Failed") phases.set(uid, status.phase);
    },
  };
}
