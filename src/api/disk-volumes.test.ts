import { expect, it } from "vitest";
import { diskVolumeName } from "./disk-volumes.ts";
import type { PersistentVolumeSpec } from "./gen/types.ts";

it.each<[PersistentVolumeSpec, string | undefined]>([
  [
    { iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2026-11.com.example:disk", lun: 3 } },
    "kubernetes.io/iscsi/10.0.0.1:iqn.2026-11.com.example:disk:3",
  ],
  [
    { fc: { targetWWNs: ["50060e801049cfd1", "50060e801049cfd2"], lun: 0 } },
    "kubernetes.io/fc/[50060e801049cfd1 50060e801049cfd2]:0",
  ],
  [{ fc: { wwids: ["3600508b400105e21"] } }, "kubernetes.io/fc/[3600508b400105e21]"],
  [{ fc: { targetWWNs: ["50060e801049cfd1"] } }, undefined],
  [{ nfs: { server: "s", path: "/" } }, undefined],
])("%j is %s", (spec, name) => {
  expect(diskVolumeName(spec)).toBe(name);
});
