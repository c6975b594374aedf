import type { TypeDescriptions } from "../type-description.ts";
import { CONDITION_FIELDS } from "./condition-fields.ts";
import { RETIRED_SOURCES, RETIRED_VOLUMES } from "./retired-volumes.ts";

const READ_ONLY = "Whether containers can only read; default false.";
const DEFAULT_MODE = "The permission bits of files that have none of their own; default 0644, in JSON 420.";
const FILE_MODE = "The permission bits of the file, in JSON as a decimal number; default: those of the volume.";
const FILE_PATH = "The path of the file in the volume; relative, and without `..`.";
const KEYS_AS_FILES = "The keys that become files, and their paths; default: every key, under its own name.";
const CLAIM_ACCESS_MODES = "ReadWriteOnce (one node), ReadOnlyMany, ReadWriteMany or ReadWriteOncePod (one pod).";
const VOLUME_MODE = "Filesystem (the default), or Block for a raw device.";

/** Sentences about sources that volumes and persistent volumes have alike. */
const SOURCES = {
  fc: "A disk of a Fibre Channel network.",
  hostPath: "A file or directory of the node.",
  iscsi: "A disk that is reached by iSCSI.",
  nfs: "A directory of an NFS server.",
  ...RETIRED_SOURCES,
};

const ISCSI = {
  chapAuthDiscovery: "Whether discovery is authenticated by CHAP; default false.",
  chapAuthSession: "Whether the session is authenticated by CHAP; default false.",
  fsType: "The file system of the disk; default ext4.",
  initiatorName: "The initiator's qualified name in place of the node's; an interface of its own is made for it.",
  iqn: "The target's qualified name.",
  iscsiInterface: "The interface of the initiator; default `default`, which is TCP.",
  lun: "The number of the disk at the target.",
  portals: "Further addresses of the target, for several paths to the disk.",
  readOnly: READ_ONLY,
  secretRef: "The secret with the users and passwords for CHAP.",
  targetPortal: "The address of the target, with its port unless that is 3260.",
};

export const VOLUME_TYPES: TypeDescriptions = {
  ...RETIRED_VOLUMES,
  ClusterTrustBundleProjection: {
    is: "Root certificates of cluster trust bundles, as one file in PEM.",
    fields: {
      labelSelector: "Which of the signer's bundles are taken; none when left out, all when empty.",
      name: "The name of a single bundle, in place of a signer.",
      optional: "Whether the pod may start when there is no such bundle; default false.",
      path: FILE_PATH,
      signerName: "The signer whose bundles are taken, put together without duplicates.",
    },
  },
  ConfigMapProjection: {
    is: "Values of a config map, as files.",
    fields: {
      items: KEYS_AS_FILES,
      name: "The name of the config map.",
      optional: "Whether the pod may start without the config map or its keys; default false.",
    },
  },
  ConfigMapVolumeSource: {
    is: "A volume with the values of a config map as files, which follow its changes.",
    fields: {
      defaultMode: DEFAULT_MODE,
      items: KEYS_AS_FILES,
      name: "The name of the config map.",
      optional: "Whether the pod may start without the config map or its keys; default false.",
    },
  },
  CSIPersistentVolumeSource: {
    is: "A persistent volume that a CSI driver serves.",
    fields: {
      controllerExpandSecretRef: "The secret that the driver gets to grow the volume in the storage system.",
      controllerPublishSecretRef: "The secret that the driver gets to attach the volume to a node and to detach it.",
      driver: "The name of the driver.",
      fsType: "The file system of the volume; default: what the driver chooses.",
      nodeExpandSecretRef: "The secret that the driver gets to grow the volume on the node.",
      nodePublishSecretRef: "The secret that the driver gets to mount the volume for a pod.",
      nodeStageSecretRef: "The secret that the driver gets to mount the volume on the node, once for all pods.",
      readOnly: "Whether the volume is attached for reading only; default false.",
      volumeAttributes: "What else the driver is told about the volume, by key.",
      volumeHandle: "The driver's own name for the volume.",
    },
  },
  CSIVolumeSource: {
    is: "A volume that a CSI driver makes for the pod, and that goes with it.",
    fields: {
      driver: "The name of the driver, which must support ephemeral volumes.",
      fsType: "The file system of the volume; default: what the driver chooses.",
      nodePublishSecretRef: "The secret that the driver gets to mount the volume, in the pod's namespace.",
      readOnly: READ_ONLY,
      volumeAttributes: "What the driver is told about the volume, by key.",
    },
  },
  DownwardAPIProjection: {
    is: "Fields of the pod itself, as files.",
    fields: { items: "The files, each with a field of the pod or a resource of a container." },
  },
  DownwardAPIVolumeFile: {
    is: "A file with a field of the pod or a resource of one of its containers.",
    fields: {
      fieldRef: "The field of the pod: its annotations, labels, name, namespace or UID.",
      mode: FILE_MODE,
      path: FILE_PATH,
      resourceFieldRef: "The request or limit of a container, in place of a field of the pod.",
    },
  },
  DownwardAPIVolumeSource: {
    is: "A volume with fields of the pod itself as files.",
    fields: {
      defaultMode: DEFAULT_MODE,
      items: "The files, each with a field of the pod or a resource of a container.",
    },
  },
  EmptyDirVolumeSource: {
    is: "A directory that is empty when the pod starts and is deleted with it.",
    fields: {
      medium: "Where the data is: on the node's disk (empty, the default), Memory, HugePages, or `HugePages-2Mi`.",
      sizeLimit: "How much the directory may hold; a pod that exceeds it is evicted. Default: no limit.",
    },
  },
  EphemeralVolumeSource: {
    is: "A volume of its own claim, which is made for the pod and deleted with it.",
    fields: { volumeClaimTemplate: "What the claim is made from; its name is `POD-VOLUME`." },
  },
  FCVolumeSource: {
    is: "A disk of a Fibre Channel network, named by `wwids`, or by `targetWWNs` and `lun`.",
    fields: {
      fsType: "The file system of the disk; default ext4.",
      lun: "The number of the disk at the targets.",
      readOnly: READ_ONLY,
      targetWWNs: "The worldwide names of the targets.",
      wwids: "The worldwide identifiers of the disk.",
    },
  },
  HostPathVolumeSource: {
    is: "A file or directory of the node.",
    fields: {
      path: "The path on the node; symbolic links are followed.",
      type:
        "What must be there: Directory, File, Socket, CharDevice or BlockDevice; DirectoryOrCreate and FileOrCreate " +
        "make it when it is missing. Default: nothing is checked.",
    },
  },
  ImageVolumeSource: {
    is: "The content of an image or artifact, for reading only.",
    fields: {
      pullPolicy: "When the image is pulled: Always, Never, IfNotPresent. Always is the default for :latest.",
      reference: "The image or artifact, `registry/repository:tag`.",
    },
  },
  ImageVolumeStatus: {
    is: "Which image is mounted as a volume.",
    fields: {
      imageRef:
        "The image with its digest. Set by the node agent with the feature gate ImageVolumeWithDigest, off by default.",
    },
  },
  ISCSIPersistentVolumeSource: { is: "A disk that is reached by iSCSI.", fields: ISCSI },
  ISCSIVolumeSource: { is: "A disk that is reached by iSCSI.", fields: ISCSI },
  KeyToPath: {
    is: "A key whose value becomes a file.",
    fields: { key: "The key in the config map or secret.", mode: FILE_MODE, path: FILE_PATH },
  },
  LocalVolumeSource: {
    is: "A disk, partition or directory of a single node, which the volume's node affinity must name.",
    fields: {
      fsType: "The file system of the disk; default ext4. Not used for directories.",
      path: "The path on the node: a directory or a block device.",
    },
  },
  ModifyVolumeStatus: {
    is: "How far a change of the volume's attributes class is.",
    fields: {
      status: "Pending (something is missing, such as the class), InProgress, or Infeasible (refused by the driver).",
      targetVolumeAttributesClassName: "The attributes class that the volume is changed to.",
    },
  },
  NFSVolumeSource: {
    is: "A directory of an NFS server.",
    fields: {
      path: "The path that the server exports.",
      readOnly: READ_ONLY,
      server: "The server's host name or address.",
    },
  },
  ObjectFieldSelector: {
    is: "Names a field of the pod.",
    fields: {
      apiVersion: "The version of the API that the path is written for; default v1.",
      fieldPath: "The path of the field, `metadata.name` or `metadata.labels['KEY']`.",
    },
  },
  PersistentVolume: { is: "A piece of storage that exists apart from any pod.", fields: {} },
  PersistentVolumeClaim: { is: "A request for storage.", fields: {} },
  PersistentVolumeClaimCondition: {
    is: "One thing that is known about the state of a claim.",
    fields: {
      ...CONDITION_FIELDS,
      lastProbeTime: "When the condition was last looked at.",
      type:
        "Resizing, FileSystemResizePending, ControllerResizeError, NodeResizeError, ModifyingVolume or " +
        "ModifyVolumeError.",
    },
  },
  PersistentVolumeClaimSpec: {
    is: "What storage is wanted. Once the claim is bound, only the size and the attributes class can be changed.",
    fields: {
      accessModes: `How the volume must be usable: ${CLAIM_ACCESS_MODES}`,
      dataSource: "A snapshot or a claim of the same namespace whose data the new volume starts with.",
      dataSourceRef:
        "Like `dataSource`, for any kind of object that a populator knows; the server keeps the two the same.",
      resources: "How much storage is wanted; may be raised later when the storage class allows it.",
      selector: "The labels that the volume must have; no new volume is made for a claim that has a selector.",
      storageClassName: "The storage class; default: the cluster's default one. Empty means a volume without a class.",
      volumeAttributesClassName: "The attributes class of the volume; may be changed later.",
      volumeMode: VOLUME_MODE,
      volumeName: "The name of the persistent volume that the claim has or must get.",
    },
  },
  PersistentVolumeClaimStatus: {
    is: "What was last seen of a claim.",
    fields: {
      accessModes: "The access modes that the volume has.",
      allocatedResourceStatuses: "How far growing is, for each resource, such as `NodeResizePending`; empty when idle.",
      allocatedResources: "How much is set aside for each resource, which is more than the capacity while growing.",
      capacity: "How much the volume really holds.",
      conditions: "What else is known of the claim, such as that its volume is growing.",
      currentVolumeAttributesClassName: "The attributes class that the volume has now.",
      modifyVolumeStatus: "How far a change of the attributes class is; none when there is no change.",
      phase: "Pending (no volume yet), Bound, or Lost (its volume is gone).",
    },
  },
  PersistentVolumeClaimTemplate: {
    is: "What a claim is made from.",
    fields: { metadata: "The labels and annotations of the claim.", spec: "What storage is wanted." },
  },
  PersistentVolumeClaimVolumeSource: {
    is: "The volume of a claim.",
    fields: { claimName: "The name of the claim, in the pod's namespace.", readOnly: READ_ONLY },
  },
  PersistentVolumeSpec: {
    is: "Where a piece of storage is, and what it can do.",
    fields: {
      ...SOURCES,
      accessModes: `How the volume can be used: ${CLAIM_ACCESS_MODES}`,
      capacity: "How much the volume holds, under the key `storage`.",
      claimRef: "The claim that the volume is bound to or kept for.",
      csi: "A volume that a CSI driver serves.",
      local: "A disk, partition or directory of a single node.",
      mountOptions: "Options of the mount; they are not checked, and a wrong one makes the mount fail.",
      nodeAffinity: "The nodes from which the volume can be reached; default: all.",
      persistentVolumeReclaimPolicy:
        "What becomes of the volume when its claim is gone: Retain (the default), Delete, or the deprecated Recycle.",
      storageClassName: "The storage class of the volume; empty means none.",
      volumeAttributesClassName: "The attributes class of the volume.",
      volumeMode: VOLUME_MODE,
    },
  },
  PersistentVolumeStatus: {
    is: "What was last seen of a persistent volume.",
    fields: {
      lastPhaseTransitionTime: "When the phase last changed. Set by the server.",
      message: "Why the volume is in this phase, for people.",
      phase: "Pending, Available (no claim yet), Bound, Released (its claim is gone), or Failed.",
      reason: "Why the volume is in this phase, in one CamelCase word.",
    },
  },
  PodCertificateProjection: {
    is: "A private key and a certificate for the pod, which the node agent requests and renews.",
    fields: {
      certificateChainPath: "The path of a file with the certificate chain alone, as PEM.",
      credentialBundlePath: "The path of a file with the private key and then the certificate chain, as PEM.",
      keyPath: "The path of a file with the private key alone, as PEM.",
      keyType: "The kind of key: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519.",
      maxExpirationSeconds: "How long the certificate may be valid, in seconds: 3600 to 7862400, default 86400.",
      signerName: "The signer that the certificate is requested from.",
      userAnnotations: "What else the signer is told, by key.",
    },
  },
  ProjectedVolumeSource: {
    is: "A volume with files from several sources.",
    fields: { defaultMode: DEFAULT_MODE, sources: "The sources of the files." },
  },
  SecretProjection: {
    is: "Values of a secret, as files.",
    fields: {
      items: KEYS_AS_FILES,
      name: "The name of the secret.",
      optional: "Whether the pod may start without the secret or its keys; default false.",
    },
  },
  SecretVolumeSource: {
    is: "A volume with the values of a secret as files, which follow its changes and are kept in memory only.",
    fields: {
      defaultMode: DEFAULT_MODE,
      items: KEYS_AS_FILES,
      optional: "Whether the pod may start without the secret or its keys; default false.",
      secretName: "The name of the secret.",
    },
  },
  ServiceAccountTokenProjection: {
    is: "A token of the pod's service account, which the node agent renews.",
    fields: {
      audience: "Whom the token is for; default: the API server.",
      expirationSeconds: "How long the token should be valid, in seconds; default 3600, at least 600.",
      path: FILE_PATH,
    },
  },
  TypedLocalObjectReference: {
    is: "Names an object of the same namespace.",
    fields: {
      apiGroup: "The API group of the object; empty means the core group.",
      kind: "The kind of the object.",
      name: "The name of the object.",
    },
  },
  TypedObjectReference: {
    is: "Names an object.",
    fields: {
      apiGroup: "The API group of the object; empty means the core group.",
      kind: "The kind of the object.",
      name: "The name of the object.",
      namespace: "The namespace of the object. Needs the feature gate CrossNamespaceVolumeDataSource, off by default.",
    },
  },
  Volume: {
    is: "A directory that containers of a pod can mount.",
    fields: {
      ...SOURCES,
      configMap: "The values of a config map, as files.",
      csi: "A volume that a CSI driver makes for the pod.",
      downwardAPI: "Fields of the pod itself, as files.",
      emptyDir: "A directory that is empty at first and goes with the pod; the default when no source is given.",
      ephemeral: "A volume of its own claim, which goes with the pod.",
      gitRepo: "A clone of a git repository. Switched off: clone in an init container into an emptyDir.",
      image: "The content of an image or artifact, for reading only.",
      name: "The volume's name, a DNS label, unique in the pod.",
      persistentVolumeClaim: "The volume of a claim.",
      projected: "Files from several sources together.",
      secret: "The values of a secret, as files.",
    },
  },
  VolumeNodeAffinity: {
    is: "The nodes from which a volume can be reached.",
    fields: { required: "What the labels of the node must be like." },
  },
  VolumeProjection: {
    is: "One source of files of a projected volume; exactly one field is set.",
    fields: {
      clusterTrustBundle: "Root certificates of cluster trust bundles, as one file.",
      configMap: "The values of a config map, as files.",
      downwardAPI: "Fields of the pod itself, as files.",
      podCertificate: "A private key and a certificate for the pod.",
      secret: "The values of a secret, as files.",
      serviceAccountToken: "A token of the pod's service account.",
    },
  },
  VolumeResourceRequirements: {
    is: "How much storage a volume must and may have.",
    fields: {
      limits: "The most that the volume may have.",
      requests: "The least that the volume must have, under the key `storage`.",
    },
  },
  VolumeStatus: {
    is: "What is known of a mounted volume.",
    fields: { image: "Which image is mounted, for a volume of an image." },
  },
};
