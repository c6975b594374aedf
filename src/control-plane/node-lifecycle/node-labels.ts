import type { Node } from "../../api/gen/types.ts";
import { BETA_NODE_LABELS, NODE_LABELS } from "../../api/node-names.ts";

/** Old names of labels, which old selectors still use: they follow the new ones. */
const FOLLOWING: ReadonlyArray<readonly [string, string]> = [
  [NODE_LABELS.os, BETA_NODE_LABELS.os],
  [NODE_LABELS.architecture, BETA_NODE_LABELS.architecture],
];

/** The node with both names of such labels; the same node when it has them (`labelReconcileInfo`). */
export function withReconciledLabels(node: Node): Node {
  const { labels = {} } = node.metadata ?? {};
  const missing = FOLLOWING.flatMap(([label, old]): [string, string][] => {
    const value = labels[label];
    return value === undefined || labels[old] === value ? [] : [[old, value]];
  });
  if (missing.length === 0) return node;
  return { ...node, metadata: { ...node.metadata, labels: { ...labels, ...Object.fromEntries(missing) } } };
}
