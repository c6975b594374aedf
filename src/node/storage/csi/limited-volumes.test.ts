import { expect, it } from "vitest";
import type { CsiDriver } from "../../../csi/port.ts";
import { volumeDirectories } from "../volumes/volume-directories.ts";
import type { VolumeRequest, VolumeSetUp } from "../volumes/volume-plugin.ts";
import { limitVolumes } from "./limited-volumes.ts";

const DRIVER = "disk.example";

/** A plugin that has what it is told, and takes as long as it is let. */
function createRig({
  maxVolumes,
  devices = [],
  name: driverName = DRIVER,
}: {
  maxVolumes: bigint | undefined;
  devices?: string[];
  name?: string;
}) {
  const waiting: Array<() => void> = [];
  const nodeInfo = { nodeId: "n", maxVolumes, topology: {} };
  const driver = { name: driverName, nodeInfo } satisfies Partial<CsiDriver>;
  const plugin = limitVolumes(
    {
      name: "kubernetes.io/csi",
      supports: () => true,
      load: async () => undefined,
      devices: () => devices.map((handle) => ({ driverName, handle })),
      async setUp({ source }): Promise<VolumeSetUp> {
        await new Promise<void>((resolve) => waiting.push(resolve));
        devices.push((source.kind === "persistent" && source.persistentVolume.spec?.csi?.volumeHandle) || "inline");
        const volume = { kind: "files", hostPath: "/x", readOnly: false, relabel: false } as const;
        return { volume, finished: Promise.resolve() };
      },
    },
    { get: (name) => (name === driverName ? { ...driver, node: NEVER_CALLED, capabilities: new Set() } : undefined) },
  );
  const requestOf = (handle: string, podUid: string): VolumeRequest => {
    const csi = { driver: DRIVER, volumeHandle: handle };
    return {
      pod: { metadata: { uid: podUid } },
      volumeName: "data",
      source: { kind: "persistent", persistentVolume: { spec: { csi } }, claim: {}, readOnly: false },
      directories: volumeDirectories("/kubelet", podUid),
      signal: new AbortController().signal,
    };
  };
  const setUp = (handle: string, podUid = "uid-1") => {
    return plugin.setUp(requestOf(handle, podUid)).then(
      () => "set up",
      (error: Error) => error.message,
    );
  };
  const admit = async (handles: readonly string[]) =>
    await plugin.admit?.(handles.map((handle) => requestOf(handle, "uid-1"))).then(
      () => "admitted",
      (error: Error) => error.message,
    );
  const admitSource = async (source: VolumeRequest["source"]) =>
    await plugin.admit?.([{ ...requestOf("", "uid-1"), pod: { metadata: { uid: "uid-1", name: "p" } }, source }]).then(
      () => "admitted",
      (error: Error) => error.message,
    );
  const letAllThrough = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { setUp, admit, admitSource, letAllThrough };
}

const fail = async () => await Promise.reject(new Error("not in this test"));
const NEVER_CALLED: CsiDriver["node"] = {
  pluginInfo: fail,
  info: fail,
  capabilities: fail,
  stage: fail,
  unstage: fail,
  publish: fail,
  unpublish: fail,
  expand: fail,
  stats: fail,
  close: () => undefined,
};
const REFUSAL = "node(s) exceed max volume count: CSI driver disk.example serves 2 volumes here";

it("lets in as many volumes at once as the driver serves", async () => {
  const { setUp, letAllThrough } = createRig({ maxVolumes: 2n });
  const ends = ["a", "b", "c"].map(async (handle, index) => await setUp(handle, `uid-${index}`));
  await letAllThrough();
  expect(await Promise.all(ends)).toEqual(["set up", "set up", REFUSAL]);
});

it.each<[string, string[], string[], string]>([
  ["all that a pod brings, at once", [], ["a", "b", "c"], REFUSAL],
  ["what is here with it", ["x"], ["a", "b"], REFUSAL],
  ["nothing that the pod has already", ["a", "b"], ["a", "b"], "admitted"],
  ["one volume that it names twice once", ["x"], ["a", "a"], "admitted"],
  ["as many as there is room for", [], ["a", "b"], "admitted"],
])("admission counts %s", async (_what, devices, handles, expected) => {
  const { admit } = createRig({ maxVolumes: 2n, devices });
  expect(await admit(handles)).toBe(expected);
});

it("counts what an earlier agent left, and never refuses what is here", async () => {
  const { setUp, letAllThrough } = createRig({ maxVolumes: 2n, devices: ["a", "b"] });
  const ends = ["c", "a", "b"].map(async (handle, index) => await setUp(handle, `uid-${index}`));
  await letAllThrough();
  expect(await Promise.all(ends)).toEqual([REFUSAL, "set up", "set up"]);
});

it("counts a cloud's volume that a pod names itself, and leaves the words to its set-up where no driver serves it", async () => {
  const { admitSource } = createRig({ maxVolumes: 1n, devices: ["a"], name: "disk.csi.azure.com" });
  const azureDisk = { diskName: "d", diskURI: "b" };
  expect(await admitSource({ kind: "pod", volume: { name: "v", azureDisk } })).toBe(
    REFUSAL.replace(DRIVER, "disk.csi.azure.com").replace("2 volumes", "1 volumes"),
  );
  const shared = { ...azureDisk, kind: "Shared" };
  expect(await admitSource({ kind: "pod", volume: { name: "v", azureDisk: shared } })).toBe("admitted");
});

it("counts a volume that two pods use once", async () => {
  const { setUp, letAllThrough } = createRig({ maxVolumes: 2n, devices: ["a"] });
  const ends = [setUp("b", "uid-1"), setUp("b", "uid-2")];
  await letAllThrough();
  expect(await Promise.all(ends)).toEqual(["set up", "set up"]);
});

it("knows no limit where the driver tells none", async () => {
  const { setUp, letAllThrough } = createRig({ maxVolumes: undefined, devices: ["a", "b", "c"] });
  const end = setUp("d");
  await letAllThrough();
  expect(await end).toBe("set up");
});
