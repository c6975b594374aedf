import { expect, it } from "vitest";
import type { ImageVolumeSource } from "../../../../api/gen/types.ts";
import { volumeDirectories } from "../volume-directories.ts";
import { findImageMountProblem } from "./image-mount-support.ts";
import { createImageVolumePlugin } from "./image-volume.ts";

const plugin = createImageVolumePlugin();
const setUp = async (image: ImageVolumeSource) => {
  const source = { kind: "pod", volume: { name: "model", image } } as const;
  const directories = volumeDirectories("/root", "uid-1");
  const signal = new AbortController().signal;
  return await plugin.setUp({ pod: {}, volumeName: "model", source, directories, signal });
};

it.each([
  [{ reference: "model:1" }, { image: "model:1", pullPolicy: "IfNotPresent" }],
  [{ reference: "model" }, { image: "model", pullPolicy: "Always" }],
  [
    { reference: "model:latest", pullPolicy: "" },
    { image: "model:latest", pullPolicy: "Always" },
  ],
  [
    { reference: "model:latest", pullPolicy: "Never" },
    { image: "model:latest", pullPolicy: "Never" },
  ],
])("%o is %o, mounted by the runtime", async (source, expected) => {
  const { volume, finished } = await setUp(source);
  expect(volume).toEqual({ kind: "image", ...expected });
  await finished;
});

it("is the plugin for images only, and leaves nothing in the pod's directory", () => {
  expect(plugin.supports({ kind: "pod", volume: { name: "a", image: { reference: "x" } } })).toBe(true);
  expect(plugin.supports({ kind: "pod", volume: { name: "a", emptyDir: {} } })).toBe(false);
  const persistent = { kind: "persistent", persistentVolume: {}, claim: {}, readOnly: false } as const;
  expect(plugin.supports(persistent)).toBe(false);
  expect(plugin.tearDown).toBeUndefined();
});

it.each([
  ["containerd", "1.7.27", false, false],
  ["containerd", "v2.0.5", false, false],
  ["containerd", "v2.1.0-beta.0-18-g8237c496", true, false],
  ["containerd", "2.1.6+bottlerocket", true, false],
  ["containerd", "v2.2.0", true, true],
  ["containerd", "10.0.0", true, true],
  ["cri-o", "1.30.9", false, false],
  ["cri-o", "1.31.0", true, false],
  ["cri-o", "1.33.1", true, true],
  ["cri-o", "2.0.0", true, true],
  // What is not known is asked, and answers for itself.
  ["", "", true, true],
  ["containerd", "<unknown>", true, true],
  ["constructor", "0.1.0", true, true],
])("%s %s mounts an image (%s) and a part of one (%s)", (name, version, whole, part) => {
  const can = (subPath: boolean) => findImageMountProblem({ name, version }, { subPath }) === undefined;
  expect([can(false), can(true)]).toEqual([whole, part]);
});

it("says from which release on", () => {
  const problem = (subPath: boolean) => findImageMountProblem({ name: "cri-o", version: "1.30.9" }, { subPath });
  expect(problem(false)).toBe("cri-o 1.30.9 does not support image volumes, which need cri-o 1.31 or later");
  expect(problem(true)).toBe(
    "cri-o 1.30.9 does not support sub paths of image volumes, which need cri-o 1.33 or later",
  );
});
