import { expect, it } from "vitest";
import { CLOUD_VOLUME_DRIVERS } from "../../../api/cloud-volumes.ts";
import { SCHEMA } from "../../../api/gen/schema.ts";
import type { Volume } from "../../../api/gen/types.ts";
import { findRefusedVolume, REFUSED_VOLUME_KINDS } from "../../storage/volumes/network/refused-volumes.ts";
import { createNodeAdmission } from "./node-admission.ts";

it("every kind of volume that is not brought is refused with words of its own", () => {
  const { name: _, ...kinds } = SCHEMA["Volume"] ?? {};
  const brought = Object.keys(kinds).filter((kind) => !Object.hasOwn(REFUSED_VOLUME_KINDS, kind));
  expect(brought.sort()).toEqual(
    [
      ...["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "fc", "hostPath", "image"],
      ...["iscsi", "nfs", "persistentVolumeClaim", "projected", "secret", ...Object.keys(CLOUD_VOLUME_DRIVERS)],
    ].sort(),
  );
  // Admission had a list of its own once, and refused disks that the node agent could mount.
  const admit = createNodeAdmission({ findRefusedVolume }, { allowedUnsafeSysctls: [] });
  const refused = Object.keys(kinds).filter((kind) => {
    const volume: Volume = JSON.parse(`{"name":"v","${kind}":{}}`);
    return admit({ spec: { containers: [], volumes: [volume] } }) !== undefined;
  });
  expect(refused.sort()).toEqual(Object.keys(REFUSED_VOLUME_KINDS).sort());
});
