import { isTermAbout, type Labels, type WeighedTerm } from "../pod-info.ts";
import { MAX_SCORE, type ScoreNodes } from "./node-score.ts";

/**
 * The more pods are near that want to be near each other, the better (`plugins/interpodaffinity`): those that the pod
 * prefers, and those that prefer the pod or need one like it.
 */
export const scoreNeighbours: ScoreNodes = ({ info: pod }, nodes, { nodes: all, namespaceLabels }) => {
  const weights = new Map<string, Map<string, number>>();
  for (const { labels, pods } of all) {
    const add = ({ term: { topologyKey }, weight }: WeighedTerm) => {
      const place = placeOf(labels, topologyKey);
      if (place === undefined) return;
      const places = weights.get(topologyKey) ?? new Map<string, number>();
      weights.set(topologyKey, places.set(place, (places.get(place) ?? 0) + weight));
    };
    for (const other of pods) {
      for (const weighed of pod.preferences) if (isTermAbout(weighed.term, other, namespaceLabels)) add(weighed);
      for (const weighed of other.attractions) if (isTermAbout(weighed.term, pod, namespaceLabels)) add(weighed);
    }
  }
  if (weights.size === 0) return undefined;
  const weigh = (labels: Labels, [key, places]: readonly [string, ReadonlyMap<string, number>]) => {
    const place = placeOf(labels, key);
    return place === undefined ? 0 : (places.get(place) ?? 0);
  };
  const sums = nodes.map(({ labels }) => [...weights].reduce((sum, entry) => sum + weigh(labels, entry), 0));
  const [least, most] = [Math.min(...sums), Math.max(...sums)];
  return sums.map((sum) => (most === least ? 0 : Math.trunc((MAX_SCORE * (sum - least)) / (most - least))));
};

const placeOf = (labels: Labels, key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
