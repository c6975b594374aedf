import { podUid } from "../../../src/api/pods.ts";
import type { FakeContainer } from "../../../src/cri/fake/fake-state.ts";
import type { Cluster } from "../api/create-cluster.ts";
import type { Storage } from "../storage/create-storage.ts";
import { findPodVolume, podOfPath } from "../storage/pod-volume.ts";
import { claimsOf } from "../storage/storage-objects.ts";
import { handleOf } from "../storage/storage-plan.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/** A container finds in its mounts what its pod's claims stand for, and a volume for one pod is only one pod's. */
export function createClaimsCheck(world: World, storage: Storage, cluster: Cluster): Check {
  const checkContainer = (uid: string, container: Readonly<FakeContainer>) => {
    const pod = cluster.pods.pod(uid);
    if (pod === undefined) return;
    const name = container.config.metadata?.name;
    const all = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
    const mounts = all.find((candidate) => candidate.name === name)?.volumeMounts ?? [];
    for (const claim of claimsOf(storage.plan, pod)) {
      const wanted = mounts.find((mount) => mount.name === claim.name);
      const given = container.config.mounts.find(({ containerPath }) => containerPath === wanted?.mountPath);
      const problem = findPodVolume(world, { podUid: podUid(pod), claim, at: given?.hostPath, part: wanted?.subPath });
      const isClaimReadOnly = pod.spec?.volumes?.some(
        (volume) => volume.name === claim.name && volume.persistentVolumeClaim?.readOnly === true,
      );
      const isReadOnly = wanted?.readOnly === true || isClaimReadOnly === true;
      const what = `${pod.metadata?.name}/${name}: claim ${claim.name}`;
      if (problem !== undefined) world.fail("no container starts before its claims are there", `${what}: ${problem}`);
      if (isReadOnly && given?.readonly !== true) world.fail("what is to be read only cannot be written", what);
    }
  };

  const checkExclusive = () => {
    for (const claim of storage.plan.claims) {
      if (claim.accessMode !== "ReadWriteOncePod") continue;
      const paths = [...storage.driver.published.values()].filter(({ volumeId }) => volumeId === handleOf(claim.name));
      const users = new Set(paths.map(({ targetPath }) => podOfPath(targetPath)));
      if (users.size > 1) {
        world.fail("ReadWriteOncePod: one pod at a time", `${claim.name} in ${[...users].map(short).join(" and ")}`);
      }
    }
  };

  return {
    occurred({ what, podUid: uid, id }) {
      if (what !== "container-started") return;
      const container = world.cri.containers().find((candidate) => candidate.id === id);
      if (container !== undefined) checkContainer(uid, container);
    },
    stepped: checkExclusive,
  };
}
