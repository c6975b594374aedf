/**
 * Says why the pod fits onto no node, in the form of upstream's `FitError`: each reason with the number of nodes that
 * it holds for, or the reason that rules out all of them, followed by the result of preemption.
 */
export function formatUnfit(
  nodes: number,
  why: { reasons: ReadonlyArray<readonly string[]> } | { atAll: string },
  preemption = "",
): string {
  const head = `0/${nodes} nodes are available:`;
  const detail = "atAll" in why ? why.atAll : countReasons(why.reasons).join(", ");
  const sentence = detail === "" ? head : `${head} ${detail}.`;
  return preemption === "" ? sentence : `${sentence} preemption: ${preemption}`;
}

/** The reasons with their numbers (`2 Insufficient cpu`), sorted as text. */
function countReasons(reasons: ReadonlyArray<readonly string[]>): string[] {
  const counts = new Map<string, number>();
  for (const reason of reasons.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
}
