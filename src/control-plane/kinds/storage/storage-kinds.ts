import type { ResourceKind } from "../../ports/resource-kind.ts";
import { csiDriverKind } from "./csi-driver.ts";
import { csiNodeKind } from "./csi-node.ts";
import { csiStorageCapacityKind } from "./csi-storage-capacity.ts";
import { storageClassKind } from "./storage-class.ts";
import { volumeAttachmentKind } from "./volume-attachment.ts";
import { volumeAttributesClassKind } from "./volume-attributes-class.ts";

/** The kinds of storage. */
export const STORAGE_KINDS: readonly ResourceKind[] = [
  csiDriverKind,
  csiNodeKind,
  csiStorageCapacityKind,
  storageClassKind,
  volumeAttachmentKind,
  volumeAttributesClassKind,
];
