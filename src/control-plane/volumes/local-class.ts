import type { KubeObject } from "../../api/object.ts";

/** The provisioner of directories on the node's own disk. */
export const LOCAL_PROVISIONER = "nodelet/local-directory";

/**
 * The default storage class of a cluster whose node keeps local directories. A user who unmarks it, or marks another
 * class, is not overruled.
 */
export const LOCAL_STORAGE_CLASS: KubeObject = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: {
    name: "local-directory",
    annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
  },
  provisioner: LOCAL_PROVISIONER,
  reclaimPolicy: "Delete",
  volumeBindingMode: "WaitForFirstConsumer",
  allowVolumeExpansion: false,
};
