import type { ResourceKind } from "../../ports/resource-kind.ts";
import { CSI_DRIVERS } from "./csi-driver.ts";
import { CSI_NODES } from "./csi-node.ts";
import { CSI_STORAGE_CAPACITIES } from "./csi-storage-capacity.ts";
import { STORAGE_CLASSES } from "./storage-class.ts";
import { VOLUME_ATTACHMENTS } from "./volume-attachment.ts";
import { VOLUME_ATTRIBUTES_CLASSES } from "./volume-attributes-class.ts";

/** Where volumes come from, and who brings them to a node. */
export const STORAGE_KINDS: readonly ResourceKind[] = [
  CSI_DRIVERS,
  CSI_NODES,
  CSI_STORAGE_CAPACITIES,
  STORAGE_CLASSES,
  VOLUME_ATTACHMENTS,
  VOLUME_ATTRIBUTES_CLASSES,
];
