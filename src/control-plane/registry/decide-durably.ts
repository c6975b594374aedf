import type { ObjectStore } from "../ports/object-store.ts";

/**
 * Makes a decision, which is made on what was put so far, and tells of it when all of that is durable. What was put since
 * is durable later than that; a refusal and a change that changes nothing put nothing, and would else speak of a state
 * (a name that is taken, a version that is newer) that a crash may still undo. Rejects with InternalError when that state
 * could not be written.
 */
export async function decideDurably<T>(
  store: Pick<ObjectStore, "revision" | "headRevision" | "untilDurable">,
  decide: () => Promise<T>,
): Promise<T> {
  const { headRevision } = store;
  try {
    return await decide();
  } finally {
    if (headRevision > store.revision) await store.untilDurable(headRevision);
  }
}
