import type { PodReference } from "../../../api/pods.ts";
import { POD_UID_LABEL } from "../../../api/well-known.ts";
import { CodedError } from "../../../base/errors.ts";
import { isPathName } from "../../../base/path-name.ts";

/** A longer text of the runtime is cut. */
const MAX_TEXT_LENGTH = 8 * 1024;
/** The highest number that a field of a status, an int32, can hold. */
const MAX_COUNT = 2 ** 31 - 1;

/** An item of the runtime's lists. */
interface ListedItem {
  readonly id: string;
  readonly labels: { readonly [key: string]: string };
}

/**
 * Returns the items that are of the pod, each once. A runtime may not know the filter, and may list an item twice. Files are
 * named after IDs, and removed: an item whose ID leads elsewhere is left out.
 */
export function ownItems<Item extends ListedItem>({ uid }: PodReference, items: readonly Item[]): Item[] {
  const own = items.filter(({ id, labels }) => labels[POD_UID_LABEL] === uid && isPathName(id));
  return [...new Map(own.map((item) => [item.id, item])).values()];
}

/** Returns the status if it is about what was asked for. Throws a CodedError `contradiction` where it is not. */
export function requireId<Status extends { readonly id: string }>(what: string, id: string, status: Status): Status {
  if (status.id === id) return status;
  const message = `the runtime was asked for the status of ${what} ${JSON.stringify(id)} and told of another one`;
  throw new CodedError("contradiction", message);
}

/** Returns the ID of something that the runtime made. Throws a CodedError `contradiction` where it leads elsewhere as a name. */
export function requirePathName(what: string, id: string): string {
  if (isPathName(id)) return id;
  throw new CodedError(
    "contradiction",
    `the runtime made ${what} whose ID cannot be a name: ${JSON.stringify(cutText(id))}`,
  );
}

/** Returns a number that a status can hold, and one more than which an attempt can be. */
export function limitCount(count = 0): number {
  return Math.min(Math.max(count, 0), MAX_COUNT);
}

/** Cuts a text of the runtime. It becomes part of a status, which an API server does not take when it is too long. */
export function cutText(text: string): string {
  return text.slice(0, MAX_TEXT_LENGTH);
}
