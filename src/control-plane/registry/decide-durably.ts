import type { ObjectStore } from "../ports/object-store.ts";

/**
 * Makes a decision on the newest state, and returns when the state on which it was made is durable. A change that the
 * decision makes is durable later than that state anyway. A refusal, or a change that changes nothing, writes nothing:
 * without this wait it would tell of a state (a name that is taken, a newer version) that a crash may still undo.
 * Rejects with InternalError when that state could not be written.
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
