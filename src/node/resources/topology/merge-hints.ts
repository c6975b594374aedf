import { countNumaNodes, isNarrower, listNumaNodes, type NumaMask, numaMaskOf } from "./numa-mask.ts";

/** NUMA nodes on which a resource could be given; `nodes` is undefined where it does not matter. */
export interface NumaHint {
  readonly nodes: NumaMask | undefined;
  /** No smaller set of nodes could ever do. */
  readonly isPreferred: boolean;
}

/** How what the resources of one user would like is joined. */
export interface MergePolicy {
  readonly policy: "best-effort" | "restricted" | "single-numa-node";
  /** The NUMA nodes of the machine. */
  readonly nodes: readonly number[];
  /** By node, how far each of the nodes is; undefined: distances do not matter. */
  readonly distances: ReadonlyMap<number, ReadonlyMap<number, number>> | undefined;
}

/** The nodes to give everything on, and whether the policy allows it. */
interface MergedHint {
  readonly hint: NumaHint;
  readonly isAdmitted: boolean;
}

const DO_NOT_CARE: NumaHint = { nodes: undefined, isPreferred: true };
const IMPOSSIBLE: NumaHint = { nodes: undefined, isPreferred: false };

/**
 * Joins the hints of all resources to one, as upstream (pkg/kubelet/cm/topologymanager/policy.go): the best of all
 * combinations of one hint for each resource.
 *
 * @param resources the hints of each resource; undefined: it does not care; empty: it can be given on no nodes
 */
export function mergeHints(resources: ReadonlyArray<readonly NumaHint[] | undefined>, policy: MergePolicy): MergedHint {
  const all = resources.map((hints) => {
    if (hints === undefined) return [DO_NOT_CARE];
    return hints.length === 0 ? [IMPOSSIBLE] : hints;
  });
  const everywhere = numaMaskOf(policy.nodes);
  if (policy.policy !== "single-numa-node") {
    const hint = findBest(all, everywhere, policy);
    return { hint, isAdmitted: policy.policy === "best-effort" || hint.isPreferred };
  }
  const isSingle = ({ nodes, isPreferred }: NumaHint) =>
    isPreferred && (nodes === undefined || countNumaNodes(nodes) === 1);
  const best = findBest(
    all.map((hints) => hints.filter(isSingle)),
    everywhere,
    { ...policy, distances: undefined },
  );
  // A hint of all nodes says nothing of any one.
  const hint = best.nodes === everywhere ? { ...best, nodes: undefined } : best;
  return { hint, isAdmitted: hint.isPreferred };
}

function findBest(all: ReadonlyArray<readonly NumaHint[]>, everywhere: NumaMask, policy: MergePolicy): NumaHint {
  const wanted = Math.max(0, ...all.map(countFewestNodes));
  let best: MaskedHint | undefined;
  for (const combination of combine(all)) {
    const candidate = join(combination, everywhere);
    if (candidate.nodes !== 0n) best = best === undefined ? candidate : choose(best, candidate, { wanted, policy });
  }
  return best ?? { nodes: everywhere, isPreferred: false };
}

type MaskedHint = NumaHint & { readonly nodes: NumaMask };

/** Yields each way to take one hint of each list. */
function* combine(
  all: ReadonlyArray<readonly NumaHint[]>,
  taken: readonly NumaHint[] = [],
): Generator<readonly NumaHint[]> {
  const hints = all[taken.length];
  if (hints === undefined) yield taken;
  else for (const hint of hints) yield* combine(all, [...taken, hint]);
}

/** The nodes that all hints have; preferred where all hints are, and name the same nodes. */
function join(hints: readonly NumaHint[], everywhere: NumaMask): MaskedHint {
  const masks = hints.flatMap(({ nodes }) => nodes ?? []);
  const isPreferred = hints.every((hint) => hint.isPreferred) && masks.every((mask) => mask === masks[0]);
  return { nodes: masks.reduce((joined, mask) => joined & mask, everywhere), isPreferred };
}

function countFewestNodes(hints: readonly NumaHint[]): number {
  const counts = hints.flatMap(({ nodes }) => (nodes === undefined ? [] : [countNumaNodes(nodes)]));
  return counts.length === 0 ? 0 : Math.min(...counts);
}

/**
 * The better of two. Of two that are not preferred, it is the one whose number of nodes is closest to what the most
 * demanding resource needs at least (`wanted`), without exceeding it.
 */
function choose(
  current: MaskedHint,
  candidate: MaskedHint,
  { wanted, policy }: { readonly wanted: number; readonly policy: MergePolicy },
): MaskedHint {
  if (current.isPreferred !== candidate.isPreferred) return current.isPreferred ? current : candidate;
  const fitter = () => (isFitter(candidate.nodes, current.nodes, policy) ? candidate : current);
  if (current.isPreferred) return fitter();
  const [had, offered] = [countNumaNodes(current.nodes), countNumaNodes(candidate.nodes)];
  if (had > wanted) return fitter();
  if (had === wanted) return offered === wanted ? fitter() : current;
  if (offered > wanted) return current;
  if (offered !== had) return offered > had ? candidate : current;
  return fitter();
}

function isFitter(candidate: NumaMask, current: NumaMask, { distances }: MergePolicy): boolean {
  if (candidate === current) return false;
  if (distances === undefined || countNumaNodes(candidate) !== countNumaNodes(current)) {
    return isNarrower(candidate, current);
  }
  const [far, near] = [averageDistance(current, distances), averageDistance(candidate, distances)];
  return near === far ? candidate < current : near < far;
}

function averageDistance(mask: NumaMask, distances: NonNullable<MergePolicy["distances"]>): number {
  const nodes = listNumaNodes(mask);
  const all = nodes.flatMap((from) => nodes.map((to) => distances.get(from)?.get(to) ?? 0));
  return all.reduce((sum, distance) => sum + distance, 0) / all.length;
}
