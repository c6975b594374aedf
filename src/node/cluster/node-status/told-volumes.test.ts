import { expect, it } from "vitest";
import { readToldVolumes } from "./told-volumes.ts";

function createRig(load: () => Promise<void>) {
  const told: string[][] = [];
  const drivers = { load, volumesInUse: () => ["b", "c"], volumesAttached: () => undefined };
  const disks = { ...drivers, volumesInUse: () => ["a"] };
  return {
    told,
    deps: {
      volumes: [drivers, disks],
      reported: { telling: (names: readonly string[]) => void told.push([...names]) },
    },
  };
}

it("names the volumes in use, and notes that they are being told", async () => {
  const { told, deps } = createRig(async () => {});
  expect(await readToldVolumes(deps)).toEqual({ volumesInUse: ["a", "b", "c"], volumesAttached: undefined });
  expect(told).toEqual([["a", "b", "c"]]);
});

it("names none before it is known what is mounted", async () => {
  const { told, deps } = createRig(async () => await Promise.reject(new Error("EIO")));
  expect(await readToldVolumes(deps)).toBeUndefined();
  expect(told).toEqual([]);
});

it("names what is attached where the node keeps the account itself", async () => {
  const { deps } = createRig(async () => {});
  const attached = (name: string) => () => [{ name, devicePath: "" }];
  const volumes = deps.volumes.map((plugin, index) => ({ ...plugin, volumesAttached: attached(`v${index}`) }));
  expect(await readToldVolumes({ ...deps, volumes })).toMatchObject({
    volumesAttached: [
      { name: "v0", devicePath: "" },
      { name: "v1", devicePath: "" },
    ],
  });
});
