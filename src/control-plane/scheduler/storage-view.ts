import { typed } from "../../api/object.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { StorageView } from "./cluster.ts";

const GROUP = "storage.k8s.io";

/** Reads claims, volumes, classes and drivers in their stored state. */
export function createStorageView(reader: ResourceReader): StorageView {
  const find = (resource: string, name: string) => reader.get({ resource, namespace: "", name });
  return {
    claim(namespace, name) {
      const found = reader.get({ resource: "persistentvolumeclaims", namespace, name });
      return found && typed("PersistentVolumeClaim", found);
    },
    volume(name) {
      const found = find("persistentvolumes", name);
      return found && typed("PersistentVolume", found);
    },
    volumes: () => reader.list("persistentvolumes").map((object) => typed("PersistentVolume", object)),
    storageClass(name) {
      const found = find(`storageclasses.${GROUP}`, name);
      return found && typed("StorageClass", found);
    },
    csiDriver(name) {
      const found = find(`csidrivers.${GROUP}`, name);
      return found && typed("CSIDriver", found);
    },
    csiNode(name) {
      const found = find(`csinodes.${GROUP}`, name);
      return found && typed("CSINode", found);
    },
    attachments: () => reader.list(`volumeattachments.${GROUP}`).map((object) => typed("VolumeAttachment", object)),
    capacities: () => reader.list(`csistoragecapacities.${GROUP}`).map((object) => typed("CSIStorageCapacity", object)),
  };
}
