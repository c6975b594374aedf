import { expect, test } from "vitest";
import { podDisksOf } from "./pod-disks.ts";

test("the disks of a pod are written where nothing says that they are only read", () => {
  const written = { isReadOnly: false, monitors: [] };
  expect(
    podDisksOf([
      { name: "gce", gcePersistentDisk: { pdName: "a" } },
      { name: "aws", awsElasticBlockStore: { volumeID: "b", readOnly: true } },
      { name: "iscsi", iscsi: { iqn: "c", targetPortal: "10.0.0.1:3260", lun: 0 } },
      { name: "rbd", rbd: { image: "d", monitors: ["m"] } },
      { name: "none", emptyDir: {} },
    ]),
  ).toEqual([
    { ...written, kind: "gcePersistentDisk", id: "a" },
    { ...written, kind: "awsElasticBlockStore", id: "b" },
    { ...written, kind: "iscsi", id: "c" },
    { ...written, kind: "rbd", id: "rbd/d", monitors: ["m"] },
  ]);
});
