import type { Container, IntOrString, LabelSelector, LabelSelectorRequirement } from "../../../api/gen/types.ts";

/** The text, or `<none>` for an absent or empty one. */
export function orNone(text: string | undefined): string {
  return text === undefined || text === "" ? "<none>" : text;
}

/** A boolean as text: `True`, `False`, `<unset>`. */
export function flagText(flag: boolean | undefined): string {
  if (flag === undefined) return "<unset>";
  return flag ? "True" : "False";
}

/** The value as text, `3` or `25%`; the fallback for an absent one. */
export function intOrStringText(value: IntOrString | undefined, fallback: string): string {
  return value === undefined ? fallback : String(value);
}

/** The labels as `app=web,tier=front`, in order of their keys. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return orNone(pairs.toSorted().join(","));
}

/** A label selector in the syntax of the command line; empty for one that selects everything. */
export function selectorText(selector: LabelSelector | undefined): string {
  const pairs = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  const expressions = (selector?.matchExpressions ?? []).map(requirementText);
  const parts = [...pairs, ...expressions].toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return parts.map(({ text }) => text).join(",");
}

function requirementText({ key, operator, values = [] }: LabelSelectorRequirement): { key: string; text: string } {
  const list = `(${values.toSorted().join(",")})`;
  switch (operator) {
    case "In":
      return { key, text: `${key} in ${list}` };
    case "NotIn":
      return { key, text: `${key} notin ${list}` };
    case "DoesNotExist":
      return { key, text: `!${key}` };
    default:
      return { key, text: key };
  }
}

/** The first entries of a list: `a,b,c + 2 more...`. */
export function firstOf(items: readonly string[], max: number, separator = ","): string {
  const shown = items.slice(0, max).join(separator);
  return items.length > max ? `${shown} + ${items.length - max} more...` : shown;
}

/** The names of the containers: `app,proxy`. */
export function containerNames(containers: readonly Container[] | undefined): string {
  return (containers ?? []).map(({ name }) => name).join(",");
}

/** The images of the containers: `nginx:1,envoy:2`. */
export function containerImages(containers: readonly Container[] | undefined): string {
  return (containers ?? []).map(({ image = "" }) => image).join(",");
}
