import { FC_PLUGIN, ISCSI_PLUGIN } from "../../api/disk-volumes.ts";
import type { Node } from "../../api/gen/types.ts";
import { isHealthy, isOutOfService, MAX_UNMOUNT_WAIT_MS } from "./plan-attachments.ts";
import type { WantedDisk } from "./wanted-disks.ts";

interface DiskQuestion {
  readonly node: Node;
  readonly wanted: readonly WantedDisk[];
  /** How long no pod has needed the disk of this name here, in milliseconds. */
  unwantedMs(name: string): number;
  /** Whether another node's status has the disk. */
  isElsewhere(name: string): boolean;
}

interface DiskPlan {
  /** The disks that the node's status shall list. */
  readonly listed: readonly string[];
  /** Those of them that it does not list yet. */
  readonly attached: readonly WantedDisk[];
  /** Those that another node has and would have to share. */
  readonly heldElsewhere: readonly WantedDisk[];
  /** After how long the waiting may be over, in milliseconds. */
  readonly lookAgainMs: number | undefined;
}

/**
 * Plans which disks a node may have. There is nothing to attach, so that the list in its status is the account itself: a
 * node uses no disk that it does not find there, and none is struck off that it reports as in use, unless it is out of
 * service or has not answered for a while.
 */
export function planDisks({ node, wanted, unwantedMs, isElsewhere }: DiskQuestion): DiskPlan {
  const listed = listedDisksOf(node);
  const names = new Set(wanted.map(({ name }) => name));
  const inUse = new Set(isOutOfService(node) ? [] : (node.status?.volumesInUse ?? []));
  const unwanted = listed.filter((name) => !names.has(name) && inUse.has(name));
  const held = unwanted.filter((name) => isHealthy(node) || unwantedMs(name) < MAX_UNMOUNT_WAIT_MS);
  const fresh = wanted.filter(({ name }) => !listed.includes(name));
  const heldElsewhere = fresh.filter((disk) => disk.isExclusive && isElsewhere(disk.name));
  const attached = fresh.filter((disk) => !heldElsewhere.includes(disk));
  const waits = held.map((name) => MAX_UNMOUNT_WAIT_MS - unwantedMs(name));
  return {
    listed: [...listed.filter((name) => names.has(name)), ...held, ...attached.map(({ name }) => name)],
    attached,
    heldElsewhere,
    lookAgainMs: waits.length === 0 || isHealthy(node) ? undefined : Math.max(0, Math.min(...waits)),
  };
}

/** The disks that the node's status lists; volumes of storage drivers are not among them. */
export function listedDisksOf({ status }: Node): readonly string[] {
  return (status?.volumesAttached ?? []).map(({ name }) => name).filter(isDiskName);
}

function isDiskName(name: string): boolean {
  return name.startsWith(`${ISCSI_PLUGIN}/`) || name.startsWith(`${FC_PLUGIN}/`);
}
