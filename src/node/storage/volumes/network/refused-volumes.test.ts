import { describe, expect, it } from "vitest";
import type { PersistentVolumeSpec, Volume } from "../../../../api/gen/types.ts";
import { volumeDirectories } from "../volume-directories.ts";
import { createRefusedPlugin, findRefusedVolume } from "./refused-volumes.ts";

const REFUSED: ReadonlyArray<readonly [volume: Volume, words: RegExp]> = [
  [{ name: "v", cephfs: { monitors: [] } }, /removed from Kubernetes in 1\.31.*cephfs\.csi\.ceph\.com/],
  [{ name: "v", flexVolume: { driver: "x" } }, /use a volume of a CSI driver/],
  [{ name: "v", flocker: {} }, /removed from Kubernetes in 1\.25/],
  [{ name: "v", gitRepo: { repository: "x" } }, /clone in an init container/],
  [{ name: "v", glusterfs: { endpoints: "x", path: "x" } }, /removed from Kubernetes in 1\.26/],
  [{ name: "v", photonPersistentDisk: { pdID: "x" } }, /no longer supported by Kubernetes/],
  [{ name: "v", quobyte: { registry: "x", volume: "x" } }, /removed from Kubernetes in 1\.25/],
  [{ name: "v", rbd: { monitors: [], image: "x" } }, /rbd\.csi\.ceph\.com/],
  [{ name: "v", scaleIO: { gateway: "x", system: "x", secretRef: {} } }, /no longer supported by Kubernetes/],
  [{ name: "v", storageos: {} }, /removed from Kubernetes in 1\.25/],
];

it("CVE-2024-10220, CVE-2025-1767: nothing is cloned for a gitRepo volume", () => {
  const plugin = createRefusedPlugin();
  for (const gitRepo of [{ repository: "https://x/y.git", directory: ".git" }, { repository: "/etc" }]) {
    expect(findRefusedVolume({ name: "v", gitRepo })).toContain("gitRepo");
    expect(plugin.supports({ kind: "pod", volume: { name: "v", gitRepo } })).toBe(true);
  }
});

describe.each(REFUSED)("%j", (volume, words) => {
  const [kind = ""] = Object.keys(volume).filter((field) => field !== "name");

  it("is refused at admission, with its name, its kind and what to use instead", () => {
    const refusal = findRefusedVolume(volume);
    expect(refusal).toMatch(words);
    expect(refusal?.startsWith(`volume "v": the volume kind ${kind} `)).toBe(true);
  });

  it("fails the pod that got past it", async () => {
    const plugin = createRefusedPlugin();
    const source = { kind: "pod", volume } as const;
    expect(plugin.supports(source)).toBe(true);
    const request = {
      pod: {},
      volumeName: "v",
      source,
      directories: volumeDirectories("/kubelet", "uid"),
      signal: new AbortController().signal,
    };
    await expect(plugin.setUp(request)).rejects.toThrow(words);
  });
});

it("a claim may lead to such a volume too", () => {
  const supports = (spec: PersistentVolumeSpec) => {
    return createRefusedPlugin().supports({
      kind: "persistent",
      persistentVolume: { spec },
      claim: {},
      readOnly: false,
    });
  };
  expect(supports({ rbd: { monitors: [], image: "x" } })).toBe(true);
  expect(supports({ local: { path: "/x" } })).toBe(false);
});

it.each<Volume>([
  { name: "v", emptyDir: {} },
  { name: "v", nfs: { server: "s", path: "/" } },
  { name: "v", iscsi: { targetPortal: "x", iqn: "x", lun: 0 } },
  { name: "v", fc: { wwids: ["x"] } },
  { name: "v", csi: { driver: "d" } },
  { name: "v", image: { reference: "i" } },
  { name: "v", persistentVolumeClaim: { claimName: "c" } },
  { name: "v", projected: { sources: [{ secret: { name: "s" } }] } },
  { name: "v", projected: { sources: [{ podCertificate: { keyType: "ED25519", signerName: "example.com/s" } }] } },
])("%j is not refused", (volume) => {
  expect(findRefusedVolume(volume)).toBeUndefined();
});
