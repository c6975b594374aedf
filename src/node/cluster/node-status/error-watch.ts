/**
 * Returns a function that calls `onChanged` where the node's errors, which its status tells, differ from those of the
 * call before.
 */
export function createErrorWatch(errors: () => readonly string[], onChanged: () => void): () => void {
  let told = "";
  return () => {
    const next = errors().join("\n");
    if (next !== told) onChanged();
    told = next;
  };
}
