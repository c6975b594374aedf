import { describe, expect, it } from "vitest";
import type { CSIDriverSpec } from "../../../../api/gen/types.ts";
import type { CsiNodeCapability } from "../../../../csi/port.ts";
import { inline, persistent, podOf, type VolumeChanges } from "./__fixtures__/csi-rig.ts";
import { csiVolumeOf } from "./csi-volume.ts";
import { computeVolumeUse, needsGroupChange } from "./driver-policy.ts";
import { computeMountLabel } from "./se-linux-label.ts";

const volume = (changes: VolumeChanges = {}, readOnly = false) =>
  csiVolumeOf(persistent(1, changes, { readOnly }), podOf("a"));
const none: ReadonlySet<CsiNodeCapability> = new Set();
const driver = (spec: CSIDriverSpec) => ({ spec });

describe("the access mode", () => {
  const writers = new Set<CsiNodeCapability>(["SINGLE_NODE_MULTI_WRITER"]);
  it.each([
    [["ReadWriteOnce"], "SINGLE_NODE_WRITER", "SINGLE_NODE_MULTI_WRITER"],
    [["ReadWriteOncePod"], "SINGLE_NODE_WRITER", "SINGLE_NODE_SINGLE_WRITER"],
    [["ReadOnlyMany", "ReadWriteOnce"], "MULTI_NODE_READER_ONLY", "MULTI_NODE_READER_ONLY"],
    [["ReadWriteMany"], "MULTI_NODE_MULTI_WRITER", "MULTI_NODE_MULTI_WRITER"],
    [undefined, "SINGLE_NODE_WRITER", "SINGLE_NODE_MULTI_WRITER"],
  ])("of %j is %s, or %s for drivers that tell writers apart", (accessModes, plain, told) => {
    const { spec } = persistent(1).kind === "persistent" ? { spec: { ...volume(), accessModes } } : { spec: volume() };
    const mount = { fsGroup: undefined, seLinuxLabel: undefined };
    expect(computeVolumeUse(spec, none, mount).accessMode).toBe(plain);
    expect(computeVolumeUse(spec, writers, mount).accessMode).toBe(told);
  });
});

describe("our change of the group", () => {
  it.each([
    ["by default, of one node's file system", undefined, volume(), true],
    ["not of one that many nodes write", undefined, volume({ accessModes: ["ReadWriteMany"] }), false],
    ["not of an unknown file system", undefined, volume({ csi: { fsType: "" } }), false],
    ["not of what is only read", undefined, volume({}, true), false],
    ["not of a block device", undefined, volume({ volumeMode: "Block" }), false],
    ["of an inline volume with a file system", undefined, csiVolumeOf(inline({ fsType: "ext4" }), podOf("a")), true],
    ["not of one without", undefined, csiVolumeOf(inline(), podOf("a")), false],
    ["where the driver wants it", { fsGroupPolicy: "File" }, volume({ accessModes: ["ReadWriteMany"] }), true],
    ["not where it does not", { fsGroupPolicy: "None" }, volume(), false],
  ])("happens %s", (_when, spec, subject, expected) => {
    expect(needsGroupChange(spec && driver(spec), subject, none)).toBe(expected);
    expect(needsGroupChange(spec && driver(spec), subject, new Set(["VOLUME_MOUNT_GROUP"]))).toBe(false);
  });
});

describe("the label of a mount", () => {
  const level = { level: "s0:c1" };
  const label = "system_u:object_r:container_file_t:s0:c1";
  const mounts = [{ name: "data", mountPath: "/data" }];
  const two = (first: string, second: string) => ({
    containers: [first, second].map((at) => ({
      name: at,
      volumeMounts: mounts,
      securityContext: { seLinuxOptions: { level: at } },
    })),
  });
  const forOnePod = volume({ accessModes: ["ReadWriteOncePod"] });
  it.each([
    ["the pod's", forOnePod, { securityContext: { seLinuxOptions: level } }, label],
    ["that of all its containers", forOnePod, two("s0:c1", "s0:c1"), label],
    ["none where they differ", forOnePod, two("s0:c1", "s0:c2"), undefined],
    ["none that the runtime chooses", forOnePod, {}, undefined],
    [
      "none where the pod wants its files labelled",
      forOnePod,
      { securityContext: { seLinuxOptions: level, seLinuxChangePolicy: "Recursive" } },
      undefined,
    ],
    ["none for volumes of many pods", volume(), { securityContext: { seLinuxOptions: level } }, undefined],
  ])("is %s", (_what, subject, spec, expected) => {
    const request = { pod: podOf("a", spec), volumeName: "data", anyAccessMode: false };
    expect(computeMountLabel(driver({ seLinuxMount: true }), subject, request)).toBe(expected);
    expect(computeMountLabel(driver({}), subject, request)).toBeUndefined();
  });
});

it("a name that is no directory's is refused", () => {
  for (const name of ["", "..", "a/b"]) {
    expect(() => volume({ csi: { driver: name } })).toThrow("cannot be the name of a directory");
  }
});
