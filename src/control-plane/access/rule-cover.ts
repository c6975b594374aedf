import type { PolicyRule } from "../../api/gen/types.ts";
import { matchesPath } from "./rule-match.ts";

const ALL = "*";

/** The most parts of wanted rules that are compared; a rule of a hundred verbs, groups and resources has a million. */
const MAX_PIECES = 10_000;
/** The most comparisons of a part with a held rule. */
const MAX_COMPARISONS = 1_000_000;

/** Thrown where rules have too many parts for a comparison. */
export class TooManyRulesError extends Error {
  constructor() {
    super("the rules have too many combinations of verbs, groups, resources and names to be compared");
    this.name = "TooManyRulesError";
  }
}

/**
 * The parts of the wanted rules that the held rules do not grant, split into one verb, one group, one resource and one
 * name each. Empty when a holder of the first may grant the second. Throws a TooManyRulesError: its time grows with the
 * product of what a rule lists, and nobody else is served meanwhile.
 */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  // Whoever holds everything is asked about no part.
  const rest = wanted.filter((rule) => !held.some((one) => holdsAll(one, rule)));
  if (rest.length === 0) return [];
  const pieces = rest.reduce((sum, rule) => sum + countPieces(rule), 0);
  if (pieces > MAX_PIECES) throw new TooManyRulesError();
  const byVerb = indexByVerb(held);
  let comparisons = 0;
  return rest.flatMap(breakDown).filter((piece) => {
    const candidates = [byVerb.get(piece.verbs[0] ?? "") ?? [], byVerb.get(ALL) ?? []].flat();
    comparisons += candidates.length;
    if (comparisons > MAX_COMPARISONS) throw new TooManyRulesError();
    return !candidates.some((rule) => covers(rule, piece));
  });
}

/** Combines pieces that differ by their verb only, for readable messages. */
export function compactRules(pieces: readonly PolicyRule[]): PolicyRule[] {
  const byTarget = new Map<string, PolicyRule>();
  for (const { verbs, ...target } of pieces) {
    const key = target.nonResourceURLs === undefined ? JSON.stringify(target) : JSON.stringify({ ...target, verbs });
    byTarget.set(key, { ...target, verbs: [...(byTarget.get(key)?.verbs ?? []), ...verbs] });
  }
  return [...byTarget.values()];
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`, as Go prints it. */
export function formatRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const fields = {
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  };
  const parts = Object.entries(fields).flatMap(([name, values = []]) => {
    return values.length === 0 ? [] : [`${name}:${formatStrings(values)}`];
  });
  return `{${parts.join(", ")}}`;
}

/** `["a" "b"]`, as Go prints a list of strings. */
export function formatStrings(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
}

/** A held rule whose lists are sets, because a rule may list thousands of values. */
interface HeldRule {
  readonly groups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly paths: readonly string[];
}

function indexByVerb(held: readonly PolicyRule[]): ReadonlyMap<string, readonly HeldRule[]> {
  const byVerb = new Map<string, HeldRule[]>();
  for (const { verbs, apiGroups, resources, resourceNames, nonResourceURLs = [] } of held) {
    const rule = {
      groups: new Set(apiGroups),
      resources: new Set(resources),
      names: new Set(resourceNames),
      paths: nonResourceURLs,
    };
    for (const verb of new Set(verbs)) {
      const known = byVerb.get(verb);
      if (known === undefined) byVerb.set(verb, [rule]);
      else known.push(rule);
    }
  }
  return byVerb;
}

/** True for a held rule that grants all that a rule of that sort can. */
function holdsAll(held: PolicyRule, { resources = [], nonResourceURLs = [] }: PolicyRule): boolean {
  if (!held.verbs.includes(ALL)) return false;
  const isEverywhere = held.apiGroups?.includes(ALL) && held.resources?.includes(ALL);
  const holdsResources = isEverywhere === true && (held.resourceNames ?? []).length === 0;
  const holdsPaths = held.nonResourceURLs?.includes(ALL) === true;
  return (resources.length === 0 || holdsResources) && (nonResourceURLs.length === 0 || holdsPaths);
}

function countPieces({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule) {
  const places = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return verbs.length * (places + nonResourceURLs.length);
}

function breakDown({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule) {
  const pieces: PolicyRule[] = [];
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const piece = { apiGroups: [group], resources: [resource], verbs: [verb] };
        pieces.push(...names.map((name) => (name === undefined ? piece : { ...piece, resourceNames: [name] })));
      }
    }
  }
  const paths = nonResourceURLs.flatMap((path) => verbs.map((verb) => ({ nonResourceURLs: [path], verbs: [verb] })));
  return [...pieces, ...paths];
}

/** True when the rule, which is about the piece's verb, grants it. */
function covers({ groups, resources, names, paths }: HeldRule, piece: PolicyRule): boolean {
  if (piece.nonResourceURLs) {
    return piece.nonResourceURLs.every((path) => paths.some((pattern) => matchesPath(pattern, path)));
  }
  const { apiGroups = [], resources: wanted = [], resourceNames: wantedNames = [] } = piece;
  return (
    (groups.has(ALL) || apiGroups.every((group) => groups.has(group))) &&
    wanted.every((resource) => coversResource(resources, resource)) &&
    coversNames(names, wantedNames)
  );
}

function coversResource(held: ReadonlySet<string>, resource: string): boolean {
  if (held.has(ALL) || held.has(resource)) return true;
  const [, subresource] = resource.split("/");
  return subresource !== undefined && held.has(`${ALL}/${subresource}`);
}

/** True when the names cover the wanted ones. A rule for some names does not cover a rule for all. */
function coversNames(held: ReadonlySet<string>, wanted: readonly string[]): boolean {
  if (held.size === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.has(name));
}
