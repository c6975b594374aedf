import type { NodeSelectorTerm, PersistentVolume, VolumeNodeAffinity } from "./gen/types.ts";

/** The labels by which a CSI driver tells where a node is. */
export interface TopologyKeys {
  readonly zone: string;
  /** Undefined: the driver knows zones only. */
  readonly region?: string;
  /** What stands between several zones in one label of a volume. Default: a label names one zone. */
  readonly separator?: string;
}

const CURRENT = { zone: "topology.kubernetes.io/zone", region: "topology.kubernetes.io/region" };
const FORMER = { zone: "failure-domain.beta.kubernetes.io/zone", region: "failure-domain.beta.kubernetes.io/region" };

/**
 * The volume's node affinity by the labels of its driver (k8s.io/csi-translation-lib, in_tree_volume.go): where it names
 * zones, their key is replaced; where only the volume's labels do, it is added. Undefined for a volume of any node.
 */
export function translateTopology(
  volume: PersistentVolume,
  keys: TopologyKeys | undefined,
): VolumeNodeAffinity | undefined {
  const { nodeAffinity } = volume.spec ?? {};
  if (keys === undefined) return nodeAffinity;
  const labels = volume.metadata?.labels ?? {};
  let terms = nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const names =
    [CURRENT, FORMER].find(({ zone }) => hasKey(terms, zone)) ??
    [CURRENT, FORMER].find(({ zone }) => labels[zone] !== undefined) ??
    CURRENT;
  terms = moved(terms, { from: names.zone, to: keys.zone, values: split(labels[names.zone], keys.separator) });
  if (keys.region !== undefined) {
    terms = moved(terms, { from: names.region, to: keys.region, values: split(labels[names.region]) });
  } else if (names === FORMER) {
    terms = renamed(terms, FORMER.region, CURRENT.region);
  }
  return terms.length === 0 ? nodeAffinity : { ...nodeAffinity, required: { nodeSelectorTerms: terms } };
}

/** The zones that the volume's labels name, those of the former label first. */
export function zonesOf({ metadata }: PersistentVolume, separator: string): string[] {
  const labels = metadata?.labels ?? {};
  return split(labels[FORMER.zone] || labels[CURRENT.zone], separator);
}

interface Move {
  readonly from: string;
  readonly to: string;
  /** For terms that do not have the key. */
  readonly values: readonly string[];
}

function moved(terms: NodeSelectorTerm[], { from, to, values }: Move): NodeSelectorTerm[] {
  if (hasKey(terms, from)) return renamed(terms, from, to);
  if (values.length === 0) return terms;
  const added = { key: to, operator: "In", values: [...values] };
  return (terms.length === 0 ? [{}] : terms).map((term) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), added],
  }));
}

function renamed(terms: readonly NodeSelectorTerm[], from: string, to: string): NodeSelectorTerm[] {
  return terms.map((term) => {
    if (term.matchExpressions === undefined) return term;
    return {
      ...term,
      matchExpressions: term.matchExpressions.map((each) => (each.key === from ? { ...each, key: to } : each)),
    };
  });
}

const hasKey = (terms: readonly NodeSelectorTerm[], key: string) =>
  terms.some(({ matchExpressions = [] }) => matchExpressions.some((each) => each.key === key));

/** The parts, each once, in order. */
function split(label: string | undefined, separator?: string): string[] {
  const parts = separator === undefined ? [label ?? ""] : (label ?? "").split(separator);
  return [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ""))].sort();
}
