import { expect, it } from "vitest";
import { joinSharedVolumes, readToldVolumes } from "./told-volumes.ts";

function createRig(load: () => Promise<void>) {
  const told: string[][] = [];
  const listeners: Array<() => void> = [];
  const drivers = {
    load,
    volumesInUse: () => ["b", "c"],
    volumesAttached: () => undefined,
    subscribe: (listener: () => void) => void listeners.push(listener),
  };
  const plugins = [drivers, { ...drivers, volumesInUse: () => ["a"] }];
  const reported = { telling: (names: readonly string[]) => void told.push([...names]) };
  return { told, listeners, plugins, deps: { volumes: joinSharedVolumes(plugins), reported } };
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
  const { deps, plugins } = createRig(async () => {});
  const attached = (name: string) => () => [{ name, devicePath: "" }];
  const volumes = plugins.map((plugin, index) => ({ ...plugin, volumesAttached: attached(`v${index}`) }));
  expect(await readToldVolumes({ ...deps, volumes: joinSharedVolumes(volumes) })).toMatchObject({
    volumesAttached: [
      { name: "v0", devicePath: "" },
      { name: "v1", devicePath: "" },
    ],
  });
});

it("says when any of them may have changed", () => {
  const { deps, listeners } = createRig(async () => {});
  let calls = 0;
  deps.volumes.subscribe(() => {
    calls++;
  });
  for (const listener of listeners) listener();
  expect(calls).toBe(2);
});
