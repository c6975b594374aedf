import type { TypeDescriptions } from "../type-description.ts";

const MOUNT_OPTIONS = "Options of the mount; they are not checked, and a wrong one makes the mount fail.";

export const STORAGE_TYPES: TypeDescriptions = {
  CSIDriver: {
    is: "What a storage driver can do, and what it wants to know of pods.",
    fields: { spec: "What the driver can do, and what it wants." },
  },
  CSIDriverSpec: {
    is: "What a storage driver can do, and what it wants.",
    fields: {
      attachRequired:
        "Whether volumes must be attached to a node before they are mounted; default true. Cannot be changed.",
      fsGroupPolicy:
        "Which volumes are given to the pod's fsGroup: ReadWriteOnceWithFSType (the default: those for one node or pod " +
        "that name their file system), File (all), None.",
      nodeAllocatableUpdatePeriodSeconds:
        "How often the driver is asked again how many volumes a node can have, in seconds, at least 10; default: never.",
      podInfoOnMount: "Whether the driver is told the pod's name, namespace, UID and service account; default false.",
      preventPodSchedulingIfMissing:
        "Whether nodes without the driver get no pods that need it; default false. Needs the feature gate " +
        "VolumeLimitScaling, off by default.",
      requiresRepublish: "Whether the driver is called again and again for mounted volumes; default false.",
      seLinuxMount: "Whether volumes can be mounted with an SELinux context of their own; default false.",
      serviceAccountTokenInSecrets:
        "Whether tokens are passed among the secrets, not the attributes of the volume; default false. Only with " +
        "`tokenRequests`.",
      storageCapacity: "Whether pods are scheduled by the capacities that the driver publishes; default false.",
      tokenRequests: "The tokens of the pod's service account that the driver gets.",
      volumeLifecycleModes:
        "Persistent (volumes of claims, the default), Ephemeral (volumes of pods), or both. Cannot be changed.",
    },
  },
  CSINode: {
    is: "The storage drivers of a node.",
    fields: { spec: "The storage drivers of the node. Set by the node agent." },
  },
  CSINodeDriver: {
    is: "A storage driver that runs on the node.",
    fields: {
      allocatable: "How many volumes of the driver the node can have.",
      name: "The name of the driver.",
      nodeID: "The driver's own name for the node.",
      topologyKeys: "The keys of the node's labels by which the driver knows where the node is.",
    },
  },
  CSINodeSpec: {
    is: "The storage drivers of a node.",
    fields: { drivers: "The drivers that have registered with the node agent." },
  },
  CSIStorageCapacity: {
    is: "How much storage of a class can still be made for some nodes. Written by the driver.",
    fields: {
      capacity: "How much storage is left.",
      maximumVolumeSize: "The largest volume that can be made.",
      nodeTopology: "The nodes that can reach the storage; none when left out, all when empty.",
      storageClassName: "The storage class that the figures are for.",
    },
  },
  StorageClass: {
    is: "How storage of a kind is made when it is claimed.",
    fields: {
      allowVolumeExpansion: "Whether claims may ask for more later; default false.",
      allowedTopologies: "Where volumes may be made; default: everywhere.",
      mountOptions: MOUNT_OPTIONS,
      parameters: "What the provisioner is told about the volumes to make, by key. Cannot be changed.",
      provisioner: "Who makes the volumes; mostly the name of a CSI driver. Cannot be changed.",
      reclaimPolicy:
        "What becomes of a volume when its claim is gone: Delete (the default) or Retain. Cannot be changed.",
      volumeBindingMode:
        "When a claim gets its volume: Immediate (the default) or WaitForFirstConsumer (when a pod needs it). Cannot be " +
        "changed.",
    },
  },
  StorageTokenRequest: {
    is: "A token of the pod's service account for a storage driver.",
    fields: {
      audience: "Whom the token is for; empty means the API server.",
      expirationSeconds: "How long the token should be valid, in seconds; default 3600.",
    },
  },
  VolumeAttachment: { is: "Attaches a volume to a node.", fields: {} },
  VolumeAttachmentSource: {
    is: "The volume to attach; exactly one field is set.",
    fields: {
      inlineVolumeSpec: "The volume itself, for one that a pod names and that is handed on to a CSI driver.",
      persistentVolumeName: "The name of the persistent volume.",
    },
  },
  VolumeAttachmentSpec: {
    is: "Which volume should be attached to which node. Cannot be changed.",
    fields: {
      attacher: "The driver that attaches the volume.",
      nodeName: "The node that the volume is attached to.",
      source: "The volume to attach.",
    },
  },
  VolumeAttachmentStatus: {
    is: "How attaching went. The driver's attacher writes it.",
    fields: {
      attachError: "Why attaching failed the last time.",
      attached: "Whether the volume is attached.",
      attachmentMetadata: "What the driver needs to know when the volume is mounted.",
      detachError: "Why detaching failed the last time.",
    },
  },
  VolumeAttributesClass: {
    is: "Attributes of volumes that can be changed while they are used, such as their speed.",
    fields: {
      driverName: "The CSI driver that knows the attributes. Cannot be changed.",
      parameters: "The attributes by key, as the driver names them. Cannot be changed.",
    },
  },
  VolumeError: {
    is: "Why a volume could not be attached or detached.",
    fields: {
      errorCode: "The gRPC code that the driver answered with.",
      message: "What failed, for people.",
      time: "When it failed.",
    },
  },
  VolumeNodeResources: {
    is: "How many volumes of a driver a node can have.",
    fields: { count: "The most volumes that the node can have at once; default: no limit." },
  },
};
