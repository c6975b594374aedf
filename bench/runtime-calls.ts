/** How many calls of the runtime a node agent has made, from the text of its `/metrics`. */
export function countCalls(metrics: string): number {
  return [...metrics.matchAll(/^kubelet_runtime_operations_total\{[^}]*\} (\d+)/gm)]
    .map(([, count]) => Number(count))
    .reduce((sum, count) => sum + count, 0);
}
