import type { Volume } from "../../../src/api/gen/types.ts";
import { podUid } from "../../../src/api/pods.ts";
import type { FakeContainer } from "../../../src/cri/fake/fake-state.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

const PODS = "/var/lib/kubelet/pods";

/** No container starts before its volumes are mounted, and nothing is unmounted while one uses it. */
export function createVolumesCheck(world: World): Check {
  const { host, cri } = world;
  const isMounted = (path: string) => host.mounts.mounted().some((mount) => mount.path === path);
  const nameOf = ({ config, id }: Readonly<FakeContainer>) => `${config.metadata?.name} ${short(id)}`;

  host.mounts.intercept(({ operation, path, phase }) => {
    // Nothing is mounted there any more: an unmount that is repeated does no harm.
    if (operation !== "unmount" || phase !== "before" || !isMounted(path)) return;
    const user = cri
      .runningContainers()
      .find(({ config }) => config.mounts.some(({ hostPath }) => hostPath === path || hostPath.startsWith(`${path}/`)));
    if (user !== undefined) world.fail("nothing is unmounted while it is used", `${path}, of ${nameOf(user)}`);
  });

  const findMissing = (container: Readonly<FakeContainer>, uid: string, volumes: readonly Volume[]) => {
    return container.config.mounts.flatMap(({ hostPath }) => {
      if (!hostPath.startsWith(`${PODS}/${uid}/`)) return [];
      if (hostPath.includes("/volume-subpaths/")) return isMounted(hostPath) ? [] : [hostPath];
      const volume = volumes.find(({ name }) => hostPath.includes(`/volumes/`) && hostPath.endsWith(`/${name}`));
      const isInMemory = volume?.emptyDir?.medium === "Memory" || volume?.secret !== undefined;
      return isInMemory && !isMounted(hostPath) ? [hostPath] : [];
    });
  };

  return {
    occurred({ what, podUid: uid, id }) {
      if (what !== "container-started") return;
      const container = cri.containers().find((candidate) => candidate.id === id);
      const pod = world.wanted.pod(uid);
      if (container === undefined || pod === undefined || podUid(pod) !== uid) return;
      const [missing] = findMissing(container, uid, pod.spec?.volumes ?? []);
      if (missing === undefined) return;
      world.fail("no container starts before its volumes are mounted", `${nameOf(container)}: ${missing}`);
    },
  };
}
