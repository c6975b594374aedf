import { ApiError } from "../../api/api-error.ts";
import type { Shortage } from "../../journal/port.ts";
import type { StoreEvent } from "../ports/object-store.ts";

/** A pod's status or a lease is a few KiB; what is larger would use up the room that is kept. */
const MAX_UPDATE_BYTES = 64 * 1024;
/** A status that tells how a pod ended is larger than the one before. */
const MAX_GROWTH_BYTES = 8 * 1024;

/**
 * Refuses a change for which a full disk has kept no room. Deletions are written, and what leads to them: the update
 * that gives a deletion its time, and those that take finalizers away. Leases and statuses are written while there is
 * room for them, so that nodes stay ready and pods that end are seen to have ended.
 */
export function refuseOnFullDisk(shortage: Shortage | undefined, event: StoreEvent): void {
  if (shortage === undefined || isForDeletion(event)) return;
  if (shortage.fits === "small-updates" && isSmallUpdate(event)) return;
  throw new ApiError("InternalError", shortage.message);
}

const isForDeletion = ({ type, stored }: StoreEvent) =>
  type === "DELETED" || (type === "MODIFIED" && stored.object.metadata.deletionTimestamp !== undefined);

function isSmallUpdate({ type, stored, previous }: StoreEvent): boolean {
  const bytes = stored.json.length;
  const growth = bytes - (previous?.json.length ?? 0);
  return type === "MODIFIED" && bytes <= MAX_UPDATE_BYTES && growth <= MAX_GROWTH_BYTES;
}
