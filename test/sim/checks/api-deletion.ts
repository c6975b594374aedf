import type { Pod } from "../../../src/api/gen/types.ts";
import { podUid } from "../../../src/api/pods.ts";
import type { FakeOccurrence } from "../../../src/cri/fake/fake-state.ts";
import { mirroredHash } from "../../../src/node/pods/mirror-pods/make-mirror-pod.ts";
import type { PodVersion } from "../api/api-pods.ts";
import type { Cluster } from "../api/create-cluster.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/** The node agent lets the API forget a pod only when it was told to, and when nothing of the pod is left here. */
export function createApiDeletionCheck(world: World, cluster: Cluster): Check {
  const checkMirror = createMirrorCheck(world);
  return {
    occurred: checkMirror.occurred,
    stored: checkMirror.stored,
    asked({ verb, plural, namespace, name, uid }) {
      if (verb !== "delete" || plural !== "pods") return;
      checkMirror.deleted(cluster.pods.mirrors().find((mirror) => podUid(mirror) === uid));
      const pod = cluster.pods
        .bound()
        .find(({ metadata }) => metadata?.namespace === namespace && metadata.name === name);
      // Another pod of the name: the server refuses.
      if (pod === undefined || (uid !== undefined && uid !== podUid(pod))) return;
      const fail = (message: string) => {
        world.fail("the API forgets a pod when nothing is left of it", `${name} ${short(podUid(pod))}: ${message}`);
      };
      if (pod.metadata?.deletionTimestamp === undefined) fail("nobody wants it deleted");
      const sandboxes = world.cri.sandboxes().filter(({ config }) => config.metadata?.uid === podUid(pod));
      const running = world.cri
        .runningContainers()
        .find(({ sandboxId }) => sandboxes.some(({ id }) => id === sandboxId));
      if (running !== undefined) fail(`${running.config.metadata?.name} runs`);
      if (sandboxes.some(({ state }) => state === "ready")) fail("its sandbox is ready");
      void world.host.files.stat(`/var/lib/kubelet/pods/${podUid(pod)}`).then((status) => {
        if (status !== undefined) fail("its directory is there");
      });
    },
  };
}

/** A mirror that shows what it should stays, above all when the node agent is started anew. */
function createMirrorCheck(world: World) {
  const made = new Map<string, number>();
  /** When the last of a pod's sandboxes went, by its UID: what comes after is another life. */
  const ended = new Map<string, number>();
  return {
    occurred({ what, podUid: uid }: FakeOccurrence) {
      if (what !== "sandbox-removed") return;
      const isLeft = world.cri.sandboxes().some(({ config }) => config.metadata?.uid === uid);
      if (!isLeft) ended.set(uid, world.clock.monotonic());
    },
    stored({ type, pod }: PodVersion) {
      if (type === "ADDED") made.set(podUid(pod), world.clock.monotonic());
    },
    deleted(mirror: Pod | undefined) {
      if (mirror === undefined || mirror.metadata?.deletionTimestamp !== undefined) return;
      // A shutdown of the machine ended that life, and no status leads back from there.
      if (mirror.status?.reason === "Terminated") return;
      const uid = mirroredHash(mirror) ?? "";
      const madeAt = made.get(podUid(mirror)) ?? 0;
      const wasWanted = (world.manifests.wantedSince(uid) ?? Number.POSITIVE_INFINITY) < madeAt;
      const isCertain = world.manifests.uncertainAt(uid) < madeAt;
      if (!wasWanted || !isCertain || (ended.get(uid) ?? 0) > madeAt) return;
      world.fail("a mirror of what is wanted is not deleted", `${mirror.metadata?.name} ${short(podUid(mirror))}`);
    },
  };
}
