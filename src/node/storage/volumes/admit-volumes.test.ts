import { beforeEach, describe, expect, it } from "vitest";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { podWith } from "./__fixtures__/volume-rig.ts";
import { createPodVolumes, type PodVolumes } from "./pod-volumes.ts";
import { VolumeError, VolumeOperationError } from "./volume-error.ts";
import type { VolumePlugin } from "./volume-plugin.ts";

const WORDS = "node(s) exceed max volume count";
const POD = podWith([
  { name: "a", csi: { driver: "x" } },
  { name: "b", csi: { driver: "x" } },
  { name: "cache", emptyDir: {} },
]);

let volumes: PodVolumes;
let asked: string[][];
let setUps: string[];
let refuses: boolean;

beforeEach(() => {
  const { files, mounts } = createFakeHost();
  asked = [];
  setUps = [];
  refuses = false;
  const pluginOf = (name: string, supports: VolumePlugin["supports"]): VolumePlugin => ({
    name,
    supports,
    async setUp({ volumeName }) {
      setUps.push(volumeName);
      const volume = { kind: "files", hostPath: `/${volumeName}`, readOnly: false, relabel: false } as const;
      return { volume, finished: Promise.resolve() };
    },
  });
  const limited: VolumePlugin = {
    ...pluginOf("limited", (source) => source.kind === "pod" && source.volume.csi !== undefined),
    async admit(requests) {
      asked.push(requests.map(({ volumeName }) => volumeName));
      if (refuses) throw new VolumeOperationError(WORDS, { rejectionReason: "VolumeAttachmentLimitExceeded" });
    },
  };
  const plugins = [limited, pluginOf("other", () => true)];
  const subPaths = { cleanUp: async () => undefined };
  volumes = createPodVolumes({ files, mounts, plugins, claims: undefined, subPaths }, { rootDirectory: "/kubelet" });
});

describe("a plugin that has a say", () => {
  it("is asked about all volumes of the pod at once, at every sync", async () => {
    for (let round = 0; round < 2; round++) await (await volumes.setUp(POD)).finished;
    expect(asked).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
    expect(setUps.sort()).toEqual(["a", "a", "b", "b", "cache", "cache"]);
  });

  it("sets none of them up where it refuses, and says so once", async () => {
    refuses = true;
    const error: unknown = await volumes.setUp(POD).catch((thrown: unknown) => thrown);
    if (!(error instanceof VolumeError)) throw error;
    const reason = "VolumeAttachmentLimitExceeded";
    expect([error.message, error.rejection]).toEqual([WORDS, { reason, message: WORDS }]);
    expect(error.complaints).toEqual([{ reason, message: WORDS }]);
    expect(setUps).toEqual(["cache"]);
  });
});
