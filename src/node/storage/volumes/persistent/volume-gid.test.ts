import { describe, expect, it } from "vitest";
import { createFakeHost } from "../../../../host/fake/create-fake-host.ts";
import { podWith } from "../__fixtures__/volume-rig.ts";
import { createPodVolumes } from "../pod-volumes.ts";
import type { VolumePlugin } from "../volume-plugin.ts";
import { boundClaim, boundVolume } from "./__fixtures__/claims.ts";
import { volumeGroupOf, volumeGroups } from "./volume-gid.ts";

function claimed(gid: string | undefined) {
  const claim = boundClaim("data", "pv-1");
  const volume = boundVolume("pv-1", claim, {});
  const annotations = gid === undefined ? {} : { "pv.beta.kubernetes.io/gid": gid };
  const persistentVolume = { ...volume, metadata: { ...volume.metadata, annotations } };
  return { kind: "persistent", persistentVolume, claim, readOnly: false } as const;
}

describe("the group of a persistent volume", () => {
  it.each([
    { gid: "1234", group: 1234n },
    { gid: "+7", group: 7n },
    { gid: "0", group: 0n },
    { gid: "2147483647", group: 2_147_483_647n },
    { gid: "2147483648", group: undefined },
    { gid: "-1", group: undefined },
    { gid: "", group: undefined },
    { gid: "1e3", group: undefined },
    { gid: "staff", group: undefined },
    { gid: undefined, group: undefined },
  ])("is $group where the annotation says $gid", ({ gid, group }) => {
    expect(volumeGroupOf(claimed(gid)).group).toBe(group);
  });

  it("is none for a volume of the pod itself", () => {
    expect(volumeGroupOf({ kind: "pod", volume: { name: "a", emptyDir: {} } })).toEqual({});
  });

  it("comes with the volume, and each group once", async () => {
    const { files, mounts } = createFakeHost();
    const plugin: VolumePlugin = {
      name: "any",
      supports: () => true,
      async setUp({ volumeName }) {
        const volume = { kind: "files", hostPath: `/${volumeName}`, readOnly: false, relabel: false } as const;
        return { volume, finished: Promise.resolve() };
      },
    };
    const gids: Record<string, string> = { a: "2000", b: "1000", c: "2000", d: "none" };
    const claims = { resolve: async (_pod: unknown, { name }: { name: string }) => claimed(gids[name]) };
    const subPaths = { cleanUp: async () => undefined };
    const deps = { files, mounts, plugins: [plugin], claims, subPaths };
    const ofClaims = Object.keys(gids).map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
    const pod = podWith([...ofClaims, { name: "own", emptyDir: {} }]);
    const { volumes } = await createPodVolumes(deps, { rootDirectory: "/kubelet" }).setUp(pod);
    expect(volumeGroups(volumes)).toEqual([1000n, 2000n]);
    expect(volumes.get("own")).not.toHaveProperty("group");
  });
});
