import { describe, expect, it } from "vitest";
import type { Container, VolumeMount } from "../../../api/gen/types.ts";
import { MountPropagation } from "../../../cri/gen/cri-v1.ts";
import { type MountPlanInput, planVolumeDevices, planVolumeMounts } from "./container-mounts.ts";
import type { ReadyVolume } from "./volume-plugin.ts";

const DATA = { kind: "files", hostPath: "/host/data", readOnly: false, relabel: true } as const;
const VOLUMES: Readonly<Record<string, ReadyVolume>> = {
  data: DATA,
  secret: { ...DATA, hostPath: "/host/secret", readOnly: true },
  host: { ...DATA, hostPath: "/mnt", relabel: false },
  model: { kind: "image", image: "model:1", pullPolicy: "Always" },
  disk: { kind: "device", hostPath: "/dev/disk", readOnly: false },
  mirror: { kind: "device", hostPath: "/dev/mirror", readOnly: true },
};

function plan(container: Partial<Container>, more: Partial<MountPlanInput> = {}) {
  return planVolumeMounts(
    { name: "main", ...container },
    {
      volumes: new Map(Object.entries(VOLUMES)),
      expand: (expression) => ({ ok: true, value: expression.replaceAll("$(UP)", "..") }),
      supportsRecursiveReadOnly: true,
      seLinuxEnabled: false,
      ...more,
    },
  );
}
const planOne = (mount: Partial<VolumeMount>, more: Partial<MountPlanInput> = {}) => {
  const planned = plan({ volumeMounts: [{ name: "data", mountPath: "/x", ...mount }] }, more);
  return planned.ok ? planned.value[0] : planned.error;
};

it("keeps the order of a container's mounts, and says which is which", () => {
  const volumeMounts = [
    { name: "secret", mountPath: "/s" },
    { name: "data", mountPath: "/d" },
    { name: "data", mountPath: "again" },
  ];
  const planned = plan({ volumeMounts });
  expect(planned.ok && planned.value.map(({ index, volumeName, config }) => [index, volumeName, config])).toMatchObject(
    [
      [0, "secret", { containerPath: "/s" }],
      [1, "data", { containerPath: "/d" }],
      [2, "data", { containerPath: "/again" }],
    ],
  );
  expect(plan({})).toEqual({ ok: true, value: [] });
});

it("shows all of a volume, a part of it, or of an image", () => {
  expect(planOne({})).toMatchObject({ source: { kind: "volume", hostPath: "/host/data" } });
  expect(planOne({ subPath: "" })).toMatchObject({ source: { kind: "volume" } });
  const part = { kind: "sub-path", volume: DATA };
  expect(planOne({ subPath: "a/b" })).toMatchObject({ source: { ...part, subPath: "a/b" } });
  expect(planOne({ subPathExpr: "a..b" })).toMatchObject({ source: { ...part, subPath: "a..b" } });
  expect(planOne({ name: "model" })).toMatchObject({ source: { kind: "image", subPath: "" } });
  expect(planOne({ name: "model", subPath: "a" })).toMatchObject({ source: { kind: "image", subPath: "a" } });
});

it.each<[string, Partial<VolumeMount>, boolean]>([
  ["what a container asks for", { readOnly: true }, true],
  ["nothing by default", {}, false],
  ["a volume that nobody may write", { name: "secret", readOnly: false }, true],
  ["an image", { name: "model" }, true],
])("read-only is %s", (_case, mount, readonly) => {
  expect(planOne(mount)).toMatchObject({ config: { readonly } });
});

it.each([
  [undefined, MountPropagation.PROPAGATION_PRIVATE],
  ["None", MountPropagation.PROPAGATION_PRIVATE],
  ["HostToContainer", MountPropagation.PROPAGATION_HOST_TO_CONTAINER],
  ["Bidirectional", MountPropagation.PROPAGATION_BIDIRECTIONAL],
])("propagation %s", (mountPropagation, propagation) => {
  expect(planOne(mountPropagation === undefined ? {} : { mountPropagation })).toMatchObject({
    config: { propagation },
  });
});

it.each([
  ["data", true, true],
  ["data", false, false],
  ["host", true, false],
  ["model", true, false],
])("volume %s with SELinux %s is labelled: %s", (name, seLinuxEnabled, selinuxRelabel) => {
  expect(planOne({ name }, { seLinuxEnabled })).toMatchObject({ config: { selinuxRelabel } });
});

describe("what cannot be mounted is said in upstream's words", () => {
  it.each<[Partial<VolumeMount>, string]>([
    [{ name: "gone" }, 'cannot find volume "gone" to mount into container "main"'],
    [
      { name: "disk" },
      'cannot find volume "disk" to mount into container "main": it is a block device, which belongs into volumeDevices',
    ],
    [{ subPath: "/etc" }, "error SubPath `/etc` must not be an absolute path"],
    [{ subPath: "a/../../b" }, "unable to provision SubPath `a/../../b`: must not contain '..'"],
    [{ subPathExpr: "a/$(UP)" }, "unable to provision SubPath `a/..`: must not contain '..'"],
    [{ name: "model", subPath: ".." }, "unable to provision SubPath `..`: must not contain '..'"],
    [{ mountPropagation: "Sideways" }, 'invalid MountPropagation mode: "Sideways"'],
    [
      { recursiveReadOnly: "Enabled" },
      'failed to resolve recursive read-only mode: volume "data" requested recursive read-only mode, but it is not read-only',
    ],
  ])("%o", (mount, error) => {
    expect(planOne(mount)).toBe(error);
  });

  it("also what its environment lacks", () => {
    expect(planOne({ subPathExpr: "$(A)" }, { expand: () => ({ ok: false, error: "missing value for A" }) })).toBe(
      "missing value for A",
    );
  });
});

describe("block devices", () => {
  const devices = (...names: string[]) =>
    planVolumeDevices(
      { name: "main", volumeDevices: names.map((name) => ({ name, devicePath: `/dev/${name}` })) },
      new Map(Object.entries(VOLUMES)),
    );

  it("are passed on in order, each as it may be used", () => {
    expect(devices("disk", "mirror")).toEqual({
      ok: true,
      value: [
        { containerPath: "/dev/disk", hostPath: "/dev/disk", permissions: "mrw" },
        { containerPath: "/dev/mirror", hostPath: "/dev/mirror", permissions: "r" },
      ],
    });
    expect(devices()).toEqual({ ok: true, value: [] });
  });

  it.each([
    ["gone", ""],
    ["data", ": it is no block device, and belongs into volumeMounts"],
    ["model", ": it is no block device, and belongs into volumeMounts"],
  ])("that volume %s is not are said", (name, why) => {
    const error = `cannot find volume "${name}" to pass into container "main"${why}`;
    expect(devices(name)).toEqual({ ok: false, error });
  });

  it("have an absolute path", () => {
    const container = { name: "main", volumeDevices: [{ name: "disk", devicePath: "xvda" }] };
    const error = "error DevicePath `xvda` must be an absolute path";
    expect(planVolumeDevices(container, new Map(Object.entries(VOLUMES)))).toEqual({ ok: false, error });
  });
});
