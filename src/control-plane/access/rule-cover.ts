import type { PolicyRule } from "../../api/gen/types.ts";
import { matchesPath } from "./rule-match.ts";

const ALL = "*";

/**
 * The parts of the wanted rules that the held rules do not grant, split into one verb, one group, one resource and one
 * name each. Empty when a holder of the first may grant the second.
 */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((piece) => !held.some((rule) => covers(rule, piece)));
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

function covers(held: PolicyRule, piece: PolicyRule): boolean {
  return (
    includesAll(held.verbs, piece.verbs) &&
    includesAll(held.apiGroups, piece.apiGroups) &&
    (piece.resources ?? []).every((resource) => coversResource(held.resources ?? [], resource)) &&
    (piece.nonResourceURLs ?? []).every((path) => held.nonResourceURLs?.some((given) => matchesPath(given, path))) &&
    coversNames(held.resourceNames ?? [], piece.resourceNames ?? [])
  );
}

function includesAll(held: readonly string[] = [], wanted: readonly string[] = []): boolean {
  return held.includes(ALL) || wanted.every((value) => held.includes(value));
}

function coversResource(held: readonly string[], resource: string): boolean {
  if (held.includes(ALL) || held.includes(resource)) return true;
  const [, subresource] = resource.split("/");
  return subresource !== undefined && held.includes(`${ALL}/${subresource}`);
}

/** True when the names cover the wanted ones. A rule for some names does not cover a rule for all. */
function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.includes(name));
}
