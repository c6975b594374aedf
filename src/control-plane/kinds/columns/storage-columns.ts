import type { CSIDriver, ObjectMeta } from "../../../api/gen/types.ts";
import { orNone } from "./cell-text.ts";
import { AGE, type ColumnRow, columnsOf, NAME, nameOf } from "./column.ts";

/** The annotation that held the class before the field existed. It still counts. */
const BETA_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";
const DEFAULT_STORAGE_CLASS_ANNOTATIONS = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];
const DEFAULT_ATTRIBUTES_CLASS_ANNOTATIONS = ["volumeattributesclass.alpha.kubernetes.io/is-default-class"];

const SHORT_ACCESS_MODES = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
] as const;

function accessModesText(modes: readonly string[] | undefined): string {
  return SHORT_ACCESS_MODES.flatMap(([mode, short]) => (modes?.includes(mode) ? [short] : [])).join(",");
}

interface Classed {
  metadata?: Readonly<ObjectMeta>;
  spec?: { storageClassName?: string; volumeAttributesClassName?: string; volumeMode?: string };
}

const STORAGE_CLASS: ColumnRow<Classed> = {
  name: "StorageClass",
  description: "The storage class that it is of.",
  cell: ({ metadata, spec }) => metadata?.annotations?.[BETA_CLASS_ANNOTATION] ?? spec?.storageClassName ?? "",
};

const ATTRIBUTES_CLASS: ColumnRow<Classed> = {
  name: "VolumeAttributesClass",
  description: "The class of its changeable attributes.",
  cell: ({ spec }) => spec?.volumeAttributesClassName ?? "<unset>",
};

const VOLUME_MODE: ColumnRow<Classed> = {
  name: "VolumeMode",
  wide: true,
  description: "Whether it is a file system or a raw block device.",
  cell: ({ spec }) => spec?.volumeMode ?? "<unset>",
};

/** The column with the phase, or with the fact that the object is being deleted. */
const STATUS: ColumnRow<{ metadata?: Readonly<ObjectMeta>; status?: { phase?: string } }> = {
  name: "Status",
  description: "Whether it is bound, available or going.",
  cell: ({ metadata, status }) => {
    return metadata?.deletionTimestamp === undefined ? (status?.phase ?? "") : "Terminating";
  },
};

export const PERSISTENT_VOLUME_COLUMNS = columnsOf("PersistentVolume", [
  NAME,
  { name: "Capacity", description: "How much it holds.", cell: ({ spec }) => spec?.capacity?.["storage"] ?? "0" },
  {
    name: "Access Modes",
    description: "How it can be mounted.",
    cell: ({ spec }) => accessModesText(spec?.accessModes),
  },
  {
    name: "Reclaim Policy",
    description: "What becomes of it when its claim goes.",
    cell: ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? "",
  },
  STATUS,
  {
    name: "Claim",
    description: "The claim that it is bound to.",
    cell: ({ spec }) => (spec?.claimRef ? `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}` : ""),
  },
  STORAGE_CLASS,
  ATTRIBUTES_CLASS,
  { name: "Reason", description: "Why it has failed.", cell: ({ status }) => status?.reason ?? "" },
  AGE,
  VOLUME_MODE,
]);

export const PERSISTENT_VOLUME_CLAIM_COLUMNS = columnsOf("PersistentVolumeClaim", [
  NAME,
  STATUS,
  { name: "Volume", description: "The volume that it is bound to.", cell: ({ spec }) => spec?.volumeName ?? "" },
  {
    name: "Capacity",
    description: "How much its volume holds.",
    cell: ({ spec, status }) => (spec?.volumeName ? (status?.capacity?.["storage"] ?? "0") : ""),
  },
  {
    name: "Access Modes",
    description: "How its volume can be mounted.",
    cell: ({ spec, status }) => (spec?.volumeName ? accessModesText(status?.accessModes) : ""),
  },
  STORAGE_CLASS,
  ATTRIBUTES_CLASS,
  AGE,
  VOLUME_MODE,
]);

/** The column with the name of a class, marked when it is the default class. */
function defaultableName(annotations: readonly string[]): ColumnRow<{ metadata?: Readonly<ObjectMeta> }> {
  return {
    ...NAME,
    cell: (object) => {
      const isDefault = annotations.some((annotation) => object.metadata?.annotations?.[annotation] === "true");
      return isDefault ? `${nameOf(object)} (default)` : nameOf(object);
    },
  };
}

export const STORAGE_CLASS_COLUMNS = columnsOf("StorageClass", [
  defaultableName(DEFAULT_STORAGE_CLASS_ANNOTATIONS),
  { name: "Provisioner", description: "Who makes the class's volumes.", cell: ({ provisioner }) => provisioner },
  {
    name: "ReclaimPolicy",
    description: "What becomes of its volumes when their claims go.",
    cell: ({ reclaimPolicy = "Delete" }) => reclaimPolicy,
  },
  {
    name: "VolumeBindingMode",
    description: "When claims are bound to volumes.",
    cell: ({ volumeBindingMode = "Immediate" }) => volumeBindingMode,
  },
  {
    name: "AllowVolumeExpansion",
    description: "Whether its volumes can grow.",
    cell: ({ allowVolumeExpansion = false }) => allowVolumeExpansion,
  },
  AGE,
]);

export const VOLUME_ATTRIBUTES_CLASS_COLUMNS = columnsOf("VolumeAttributesClass", [
  defaultableName(DEFAULT_ATTRIBUTES_CLASS_ANNOTATIONS),
  { name: "DriverName", description: "Whose attributes these are.", cell: ({ driverName }) => driverName },
  AGE,
]);

export const VOLUME_ATTACHMENT_COLUMNS = columnsOf("VolumeAttachment", [
  NAME,
  { name: "Attacher", format: "name", description: "Who attaches the volume.", cell: ({ spec }) => spec.attacher },
  { name: "PV", description: "What is attached.", cell: ({ spec }) => spec.source.persistentVolumeName ?? "" },
  { name: "Node", description: "What it is attached to.", cell: ({ spec }) => spec.nodeName },
  {
    name: "Attached",
    type: "boolean",
    description: "Whether it is attached by now.",
    cell: ({ status }) => status?.attached ?? false,
  },
  AGE,
]);

export const CSI_NODE_COLUMNS = columnsOf("CSINode", [
  NAME,
  {
    name: "Drivers",
    type: "integer",
    description: "How many CSI drivers the node has.",
    cell: ({ spec }) => spec.drivers.length,
  },
  AGE,
]);

export const CSI_STORAGE_CAPACITY_COLUMNS = columnsOf("CSIStorageCapacity", [
  NAME,
  {
    name: "StorageClassName",
    description: "Of which class it tells.",
    cell: ({ storageClassName }) => storageClassName,
  },
  { name: "Capacity", description: "How much room there is.", cell: ({ capacity }) => capacity ?? "<unset>" },
]);

export const CSI_DRIVER_COLUMNS = columnsOf("CSIDriver", [
  NAME,
  {
    name: "AttachRequired",
    type: "boolean",
    description: "Whether volumes are attached before they are mounted.",
    cell: ({ spec }) => spec.attachRequired ?? true,
  },
  {
    name: "PodInfoOnMount",
    type: "boolean",
    description: "Whether the driver is told for which pod it mounts.",
    cell: ({ spec }) => spec.podInfoOnMount ?? false,
  },
  {
    name: "StorageCapacity",
    type: "boolean",
    description: "Whether pods go only where the driver has room.",
    cell: ({ spec }) => spec.storageCapacity ?? false,
  },
  { name: "TokenRequests", description: "For whom the driver gets service account tokens.", cell: tokenAudiences },
  {
    name: "RequiresRepublish",
    type: "boolean",
    description: "Whether the driver is called again and again for a mounted volume.",
    cell: ({ spec }) => spec.requiresRepublish ?? false,
  },
  {
    name: "Modes",
    description: "The life cycles that the driver's volumes can have.",
    cell: ({ spec }) => orNone(spec.volumeLifecycleModes?.join(",")),
  },
  AGE,
]);

function tokenAudiences({ spec }: CSIDriver): string {
  return spec.tokenRequests?.map(({ audience }) => audience).join(",") ?? "<unset>";
}
