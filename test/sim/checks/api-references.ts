import type { Pod } from "../../../src/api/gen/types.ts";
import { podUid } from "../../../src/api/pods.ts";
import type { FakeContainer } from "../../../src/cri/fake/fake-state.ts";
import { referencesOf, type ShownReference } from "../api/api-objects.ts";
import type { Cluster } from "../api/create-cluster.ts";
import { readShown } from "../api/read-shown.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/** No container starts before it has what its pod names: the words of secrets and config maps, every volume, a token. */
export function createApiReferencesCheck(world: World, cluster: Cluster): Check {
  const check = (pod: Pod, container: Readonly<FakeContainer>) => {
    const fail = (message: string) => {
      const name = `${pod.metadata?.name}/${container.config.metadata?.name}`;
      world.fail("no container starts before what it refers to is there", `${name}: ${message}`);
    };
    for (const reference of referencesOf(pod)) {
      const shown = findShown(world, { pod, container, reference });
      const isTrue = shown !== undefined && world.user?.words(reference.kind, reference.name).has(shown);
      const mayLack = reference.isOptional && shown === undefined;
      if (!isTrue && !mayLack) fail(`it is shown ${shown ?? "nothing"} of ${reference.kind} ${reference.name}`);
    }
    for (const { name, mountPath } of mountsOf(pod, container)) {
      const isThere = container.config.mounts.some(({ containerPath }) => containerPath === mountPath);
      if (!isThere) fail(`its volume ${name} is not mounted`);
    }
    for (const { name, projected } of pod.spec?.volumes ?? []) {
      if (!projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)) continue;
      const path = `/var/lib/kubelet/pods/${podUid(pod)}/volumes/kubernetes.io~projected/${name}/token`;
      if (world.host.files.text(path) === undefined) fail("its token is not there");
    }
  };
  return {
    occurred({ what, podUid: uid, id }) {
      if (what !== "container-started") return;
      const pod = cluster.pods.pod(uid);
      const container = world.cri.containers().find((candidate) => candidate.id === id);
      if (pod !== undefined && container !== undefined) check(pod, container);
    },
  };
}

interface Showing {
  pod: Pod;
  container: Readonly<FakeContainer>;
  reference: ShownReference;
}

function findShown(world: World, { pod, container, reference: { at } }: Showing): string | undefined {
  if ("volume" in at) return readShown(world.host.files, podUid(pod), at);
  const value = container.config.envs.find(({ key }) => key === at.variable)?.value;
  return value && Buffer.from(value).toString();
}

function mountsOf({ spec }: Pod, { config }: Readonly<FakeContainer>) {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return all.find(({ name }) => name === config.metadata?.name)?.volumeMounts ?? [];
}
