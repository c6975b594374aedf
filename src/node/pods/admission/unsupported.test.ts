import { expect, it } from "vitest";
import { CLOUD_VOLUME_DRIVERS } from "../../../api/cloud-volumes.ts";
import { SCHEMA } from "../../../api/gen/schema.ts";
import { REFUSED_VOLUME_KINDS } from "../../storage/volumes/network/refused-volumes.ts";

it("every kind of volume that is not brought is refused with words of its own", () => {
  const { name: _, ...kinds } = SCHEMA["Volume"] ?? {};
  const brought = Object.keys(kinds).filter((kind) => !Object.hasOwn(REFUSED_VOLUME_KINDS, kind));
  expect(brought.sort()).toEqual(
    [
      ...["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "fc", "hostPath", "image"],
      ...["iscsi", "nfs", "persistentVolumeClaim", "projected", "secret", ...Object.keys(CLOUD_VOLUME_DRIVERS)],
    ].sort(),
  );
});
