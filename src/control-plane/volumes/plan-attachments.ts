import { isDeepStrictEqual } from "node:util";
import {
  attachmentName,
  type CsiVolumeReference,
  parseUniqueVolumeName,
  uniqueVolumeName,
} from "../../api/csi-volumes.ts";
import type { AttachedVolume, Node } from "../../api/gen/types.ts";
import { NODE_TAINTS } from "../../api/node-names.ts";
import { MINUTE } from "../../base/clock.ts";
import { isAttached, type StoredAttachment } from "./attachment.ts";
import type { WantedAttachment } from "./wanted-attachments.ts";

/**
 * How long a node that does not answer may keep a volume that no pod needs there
 * (`--attach-detach-max-wait-for-unmount`).
 */
export const MAX_UNMOUNT_WAIT_MS = 6 * MINUTE;

/** An attachment to the node with its volume; the volume is undefined when it is gone. */
export interface NodeAttachment {
  readonly attachment: StoredAttachment;
  readonly volume: CsiVolumeReference | undefined;
}

interface AttachmentQuestion {
  readonly nodeName: string;
  /** Undefined for a node that does not exist any more. */
  readonly node: Node | undefined;
  readonly wanted: readonly WantedAttachment[];
  readonly attachments: readonly NodeAttachment[];
  /** The disks that its status shall list too, which need no attachment. */
  readonly disks: readonly string[];
  /** How long no pod has needed the attachment of this name, in milliseconds. */
  unwantedMs(name: string): number;
}

interface AttachmentPlan {
  /** The list for the node's status; undefined when the status has it already or the node does not exist. */
  readonly volumesAttached: readonly AttachedVolume[] | undefined;
  /** The attachments to delete once the node's status does not list them any more. */
  readonly detach: readonly StoredAttachment[];
  readonly attach: readonly WantedAttachment[];
  /** After how long the waiting may be over, in milliseconds. */
  readonly lookAgainMs: number | undefined;
}

/**
 * Plans which volumes to attach to a node and which to detach (`pkg/controller/volume/attachdetach/reconciler`). A
 * volume that the node reports as in use is not detached, unless the node is gone, is out of service, or has not
 * answered for a while.
 */
export function planAttachments(question: AttachmentQuestion): AttachmentPlan {
  const { node, nodeName, wanted, attachments } = question;
  const wantedNames = new Set(wanted.map((volume) => attachmentName(volume, nodeName)));
  const unwanted = attachments.filter(({ attachment: { metadata } }) => {
    return metadata.deletionTimestamp === undefined && !wantedNames.has(metadata.name ?? "");
  });
  const held = unwanted.filter(({ attachment }) => isHeld(question, attachment));
  const detach = unwanted.filter((each) => !held.includes(each)).map(({ attachment }) => attachment);
  const waits = held.map(({ attachment }) => {
    return MAX_UNMOUNT_WAIT_MS - question.unwantedMs(attachment.metadata.name ?? "");
  });
  const present = new Set(attachments.map(({ attachment }) => attachment.metadata.name));
  return {
    volumesAttached: node && planStatus(node, question, detach),
    detach,
    attach: node ? wanted.filter((volume) => !present.has(attachmentName(volume, nodeName))) : [],
    lookAgainMs: waits.length === 0 || isHealthy(node) ? undefined : Math.max(0, Math.min(...waits)),
  };
}

/** True when the node may still have the volume mounted. */
export function isHeld(
  { node, nodeName, unwantedMs }: Pick<AttachmentQuestion, "node" | "nodeName" | "unwantedMs">,
  { metadata }: StoredAttachment,
): boolean {
  const { name = "" } = metadata;
  if (node === undefined || isOutOfService(node) || !isInUse(node, nodeName, name)) return false;
  return isHealthy(node) || unwantedMs(name) < MAX_UNMOUNT_WAIT_MS;
}

/** Compares by the attachment's name, so that it works even when the volume's object is gone. */
function isInUse({ status }: Node, nodeName: string, name: string): boolean {
  return (status?.volumesInUse ?? []).some((inUse) => {
    const volume = parseUniqueVolumeName(inUse);
    return volume !== undefined && attachmentName(volume, nodeName) === name;
  });
}

/** The node answers. */
export function isHealthy(node: Node | undefined): boolean {
  return node?.status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
}

/** True when the node's operator says that it is switched off: no volume is mounted there any more. */
export function isOutOfService({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === NODE_TAINTS.outOfService);
}

function planStatus(
  { status }: Node,
  { attachments, disks }: Pick<AttachmentQuestion, "attachments" | "disks">,
  detach: readonly StoredAttachment[],
): readonly AttachedVolume[] | undefined {
  const names = attachments.flatMap(({ attachment, volume }) => {
    const isListed = volume !== undefined && isAttached(attachment) && !detach.includes(attachment);
    return isListed ? [uniqueVolumeName(volume)] : [];
  });
  const listed = [...names, ...disks].sort().map((name) => ({ name, devicePath: "" }));
  return isDeepStrictEqual(listed, status?.volumesAttached ?? []) ? undefined : listed;
}
