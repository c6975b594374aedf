/**
 * Why no node will do, as upstream's `FitError` says it: each reason with the number of nodes that it holds for, or what
 * rules them all out; then what came of making room.
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

/** `2 Insufficient cpu`, sorted as text. */
function countReasons(reasons: ReadonlyArray<readonly string[]>): string[] {
  const counts = new Map<string, number>();
  for (const reason of reasons.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
}
