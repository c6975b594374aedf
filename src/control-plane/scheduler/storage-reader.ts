import { typed } from "../../api/object.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { StorageReader } from "./cluster.ts";

/** Claims, volumes and classes as they are written. */
export function createStorageReader(reader: ResourceReader): StorageReader {
  return {
    claim(namespace, name) {
      const found = reader.get({ resource: "persistentvolumeclaims", namespace, name });
      return found && typed("PersistentVolumeClaim", found);
    },
    volume(name) {
      const found = reader.get({ resource: "persistentvolumes", namespace: "", name });
      return found && typed("PersistentVolume", found);
    },
    isDelayed(storageClass) {
      const found = reader.get({ resource: "storageclasses.storage.k8s.io", namespace: "", name: storageClass });
      return found && found["volumeBindingMode"] === "WaitForFirstConsumer";
    },
  };
}
