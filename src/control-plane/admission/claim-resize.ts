import type { PersistentVolumeClaim } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import { compareQuantities } from "../../api/quantity.ts";
import type { AdmissionPlugin } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { refusal, writtenObject } from "./refusal.ts";

const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";

/** Lets a claim grow only when it is bound and its class allows expansion (`persistentvolume/resize`). */
export function createClaimResize(reader: Pick<ResourceReader, "get">): AdmissionPlugin {
  const allowsExpansion = (name: string) => {
    const found = reader.get({ resource: "storageclasses.storage.k8s.io", namespace: "", name });
    return found !== undefined && typed("StorageClass", found).allowVolumeExpansion === true;
  };
  return {
    name: "PersistentVolumeClaimResize",
    validate(request) {
      const object = writtenObject(request, "persistentvolumeclaims", ["UPDATE"]);
      if (object === undefined || request.current === undefined) return;
      const claim = typed("PersistentVolumeClaim", object);
      const current = typed("PersistentVolumeClaim", request.current);
      if (compareQuantities(sizeOf(claim), sizeOf(current)) <= 0) return;
      if (current.status?.phase !== "Bound") {
        throw refusal(request, "Only bound persistent volume claims can be expanded");
      }
      const name = classOf(claim);
      if (name !== "" && name === classOf(current) && allowsExpansion(name)) return;
      throw refusal(
        request,
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
      );
    },
  };
}

const sizeOf = ({ spec }: PersistentVolumeClaim) => spec?.resources?.requests?.["storage"] ?? "0";

function classOf({ metadata, spec }: PersistentVolumeClaim): string {
  return metadata?.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";
}
