import { expect, it } from "vitest";
import { readToldVolumes } from "./told-volumes.ts";

function createRig(load: () => Promise<void>) {
  const told: string[][] = [];
  const volumes = { load, volumesInUse: () => ["a", "b"], volumesAttached: () => undefined };
  return { told, deps: { volumes, reported: { telling: (names: readonly string[]) => void told.push([...names]) } } };
}

it("names the volumes in use, and notes that they are being told", async () => {
  const { told, deps } = createRig(async () => {});
  expect(await readToldVolumes(deps)).toEqual({ volumesInUse: ["a", "b"], volumesAttached: undefined });
  expect(told).toEqual([["a", "b"]]);
});

it("names none before it is known what is mounted", async () => {
  const { told, deps } = createRig(async () => await Promise.reject(new Error("EIO")));
  expect(await readToldVolumes(deps)).toBeUndefined();
  expect(await readToldVolumes({ ...deps, volumes: undefined })).toBeUndefined();
  expect(told).toEqual([]);
});
