import type { TypeDescriptions } from "../type-description.ts";

const READ_ONLY = "Whether containers can only read; default false.";
const DRIVERS_FILE_SYSTEM = "The file system of the volume; default: what the driver chooses, mostly ext4.";
const FILE_SYSTEM = "The file system of the volume; default ext4.";
const PARTITION = "The number of the partition; 0, the default, means the whole disk.";

/** Fields of volumes and persistent volumes alike, for kinds that Kubernetes no longer serves itself. */
export const RETIRED_SOURCES = {
  awsElasticBlockStore: "A disk of Amazon EBS. Handed on to the driver ebs.csi.aws.com.",
  azureDisk: "A managed disk of Azure. Handed on to the driver disk.csi.azure.com.",
  azureFile: "A file share of Azure. Handed on to the driver file.csi.azure.com.",
  cephfs: "A directory of a Ceph file system. No longer supported: use the driver cephfs.csi.ceph.com.",
  cinder: "A block volume of OpenStack. Handed on to the driver cinder.csi.openstack.org.",
  flexVolume:
    "A volume that an executable on the node mounts. Deprecated, and not supported by nodelet: use a CSI driver.",
  flocker: "A dataset of Flocker. No longer supported: use a CSI driver.",
  gcePersistentDisk: "A persistent disk of Google Compute Engine. Handed on to the driver pd.csi.storage.gke.io.",
  glusterfs: "A volume of GlusterFS. No longer supported: use a CSI driver.",
  photonPersistentDisk: "A disk of Photon Controller. No longer supported: use a CSI driver.",
  portworxVolume: "A volume of Portworx. Handed on to the driver pxd.portworx.com.",
  quobyte: "A volume of Quobyte. No longer supported: use a CSI driver.",
  rbd: "A block image of Ceph. No longer supported: use the driver rbd.csi.ceph.com.",
  scaleIO: "A volume of ScaleIO. No longer supported: use a CSI driver.",
  storageos: "A volume of StorageOS. No longer supported: use a CSI driver.",
  vsphereVolume: "A virtual disk of vSphere. Handed on to the driver csi.vsphere.vmware.com.",
};

const CEPHFS = {
  monitors: "The addresses of the Ceph monitors, each with its port.",
  path: "The directory that is mounted; default `/`.",
  readOnly: READ_ONLY,
  secretFile: "The file on the node with the user's key; default `/etc/ceph/user.secret`.",
  secretRef: "The secret with the user's key, used in place of `secretFile`.",
  user: "The Ceph user; default admin.",
};
const CINDER = {
  fsType: DRIVERS_FILE_SYSTEM,
  readOnly: READ_ONLY,
  secretRef: "The secret to reach OpenStack with. No longer used.",
  volumeID: "The ID of the volume in OpenStack.",
};
const FLEX = {
  driver: "The name of the driver, `vendor/driver`.",
  fsType: "The file system of the volume; default: what the driver chooses.",
  options: "Further options, passed to the driver.",
  readOnly: READ_ONLY,
  secretRef: "The secret of which the driver gets all values.",
};
const RBD = {
  fsType: FILE_SYSTEM,
  image: "The name of the block image.",
  keyring: "The file on the node with the user's key; default `/etc/ceph/keyring`.",
  monitors: "The addresses of the Ceph monitors, each with its port.",
  pool: "The pool that the image is in; default rbd.",
  readOnly: READ_ONLY,
  secretRef: "The secret with the user's key, used in place of `keyring`.",
  user: "The Ceph user; default admin.",
};
const SCALE_IO = {
  fsType: "The file system of the volume; default xfs.",
  gateway: "The address of the gateway of ScaleIO's API.",
  protectionDomain: "The protection domain that the storage is in.",
  readOnly: READ_ONLY,
  secretRef: "The secret with the user and the password for the gateway.",
  sslEnabled: "Whether the gateway is reached over TLS; default false.",
  storageMode: "ThinProvisioned (the default) or ThickProvisioned.",
  storagePool: "The storage pool within the protection domain.",
  system: "The name of the storage system.",
  volumeName: "The name of the volume in the storage system.",
};
const STORAGE_OS = {
  fsType: FILE_SYSTEM,
  readOnly: READ_ONLY,
  secretRef: "The secret to reach the API of StorageOS with.",
  volumeName: "The name of the volume, unique in its namespace of StorageOS.",
  volumeNamespace: "The namespace of StorageOS that the volume is in; default: the pod's namespace.",
};

/** Kinds of volumes that CSI drivers serve in place of Kubernetes, or that nobody serves any more. */
export const RETIRED_VOLUMES: TypeDescriptions = {
  AWSElasticBlockStoreVolumeSource: {
    is: RETIRED_SOURCES.awsElasticBlockStore,
    fields: {
      fsType: DRIVERS_FILE_SYSTEM,
      partition: PARTITION,
      readOnly: READ_ONLY,
      volumeID: "The ID of the disk, `vol-…` or `aws://zone/vol-…`.",
    },
  },
  AzureDiskVolumeSource: {
    is: RETIRED_SOURCES.azureDisk,
    fields: {
      cachingMode: "How the host caches the disk: None, ReadOnly, ReadWrite (the default).",
      diskName: "The name of the disk.",
      diskURI: "The URI of the disk, which starts with `/subscriptions/` for a managed one.",
      fsType: FILE_SYSTEM,
      kind: "Must be set to Managed: the driver takes neither Dedicated nor Shared, which is the default.",
      readOnly: READ_ONLY,
    },
  },
  AzureFilePersistentVolumeSource: {
    is: RETIRED_SOURCES.azureFile,
    fields: {
      readOnly: READ_ONLY,
      secretName: "The name of the secret with the storage account's name and key.",
      secretNamespace: "The namespace of the secret; default: that of the claim.",
      shareName: "The name of the file share.",
    },
  },
  AzureFileVolumeSource: {
    is: RETIRED_SOURCES.azureFile,
    fields: {
      readOnly: READ_ONLY,
      secretName: "The name of the secret with the storage account's name and key, in the pod's namespace.",
      shareName: "The name of the file share.",
    },
  },
  CephFSPersistentVolumeSource: { is: RETIRED_SOURCES.cephfs, fields: CEPHFS },
  CephFSVolumeSource: { is: RETIRED_SOURCES.cephfs, fields: CEPHFS },
  CinderPersistentVolumeSource: { is: RETIRED_SOURCES.cinder, fields: CINDER },
  CinderVolumeSource: { is: RETIRED_SOURCES.cinder, fields: CINDER },
  FlexPersistentVolumeSource: { is: RETIRED_SOURCES.flexVolume, fields: FLEX },
  FlexVolumeSource: { is: RETIRED_SOURCES.flexVolume, fields: FLEX },
  FlockerVolumeSource: {
    is: RETIRED_SOURCES.flocker,
    fields: {
      datasetName: "The name of the dataset, in place of its UUID.",
      datasetUUID: "The UUID of the dataset, in place of its name.",
    },
  },
  GCEPersistentDiskVolumeSource: {
    is: RETIRED_SOURCES.gcePersistentDisk,
    fields: {
      fsType: DRIVERS_FILE_SYSTEM,
      partition: PARTITION,
      pdName: "The name of the disk.",
      readOnly: READ_ONLY,
    },
  },
  GitRepoVolumeSource: {
    is: "A clone of a git repository. Switched off: clone in an init container into an emptyDir.",
    fields: {
      directory:
        "The directory to clone into, within the volume, or `.` for the volume itself; default: the repository's name.",
      repository: "The URL of the repository.",
      revision: "The commit to check out; default: the newest of the default branch.",
    },
  },
  GlusterfsPersistentVolumeSource: {
    is: RETIRED_SOURCES.glusterfs,
    fields: {
      endpoints: "The name of the Endpoints object with the addresses of the servers.",
      endpointsNamespace: "The namespace of the Endpoints object; default: that of the claim.",
      path: "The name of the volume.",
      readOnly: READ_ONLY,
    },
  },
  GlusterfsVolumeSource: {
    is: RETIRED_SOURCES.glusterfs,
    fields: {
      endpoints: "The name of the Endpoints object with the addresses of the servers.",
      path: "The name of the volume.",
      readOnly: READ_ONLY,
    },
  },
  PhotonPersistentDiskVolumeSource: {
    is: RETIRED_SOURCES.photonPersistentDisk,
    fields: { fsType: FILE_SYSTEM, pdID: "The ID of the disk." },
  },
  PortworxVolumeSource: {
    is: RETIRED_SOURCES.portworxVolume,
    fields: { fsType: DRIVERS_FILE_SYSTEM, readOnly: READ_ONLY, volumeID: "The ID of the volume." },
  },
  QuobyteVolumeSource: {
    is: RETIRED_SOURCES.quobyte,
    fields: {
      group: "The group that files are accessed as; default: none.",
      readOnly: READ_ONLY,
      registry: "The addresses of the registry services, `host:port`, with commas between them.",
      tenant: "The tenant that owns the volume.",
      user: "The user that files are accessed as; default: that of the service account.",
      volume: "The name of the volume.",
    },
  },
  RBDPersistentVolumeSource: { is: RETIRED_SOURCES.rbd, fields: RBD },
  RBDVolumeSource: { is: RETIRED_SOURCES.rbd, fields: RBD },
  ScaleIOPersistentVolumeSource: { is: RETIRED_SOURCES.scaleIO, fields: SCALE_IO },
  ScaleIOVolumeSource: { is: RETIRED_SOURCES.scaleIO, fields: SCALE_IO },
  StorageOSPersistentVolumeSource: { is: RETIRED_SOURCES.storageos, fields: STORAGE_OS },
  StorageOSVolumeSource: { is: RETIRED_SOURCES.storageos, fields: STORAGE_OS },
  VsphereVirtualDiskVolumeSource: {
    is: RETIRED_SOURCES.vsphereVolume,
    fields: {
      fsType: DRIVERS_FILE_SYSTEM,
      storagePolicyID: "The ID of the storage policy. No longer used.",
      storagePolicyName: "The name of the storage policy.",
      volumePath: "The path of the virtual disk, `[datastore] folder/disk.vmdk`.",
    },
  },
};
