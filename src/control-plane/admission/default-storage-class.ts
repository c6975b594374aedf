import { typed, untyped } from "../../api/object.ts";
import { findDefaultClass } from "../claims/default-class.ts";
import { hasStorageClass } from "../claims/volume-match.ts";
import type { AdmissionPlugin } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { writtenObject } from "./refusal.ts";

/** A claim that names no class gets the default class (`plugin/pkg/admission/storage/storageclass/setdefault`). */
export function createDefaultStorageClass(reader: Pick<ResourceReader, "list">): AdmissionPlugin {
  return {
    name: "DefaultStorageClass",
    mutate(request) {
      const object = writtenObject(request, "persistentvolumeclaims", ["CREATE"]);
      if (object === undefined) return undefined;
      const claim = typed("PersistentVolumeClaim", object);
      const name = hasStorageClass(claim) ? undefined : findDefaultClass(reader);
      return name === undefined ? undefined : untyped({ ...claim, spec: { ...claim.spec, storageClassName: name } });
    },
  };
}
