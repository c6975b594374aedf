import type { RuleElement } from "./fragment.ts";

/** An element before and after a change: its value, "" for an element of a set, undefined where it is not there. */
export interface ElementChange {
  readonly set: string;
  readonly key: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The elements of all sets, each with the fragments that want it. */
interface SharedElements {
  /** Begins a change. */
  touch(): ElementTouch;
  /** All elements, as if they were new. */
  all(): ElementChange[];
  count(set: string): number;
  /** A number that is another one after each change of the set. */
  revision(set: string): number;
}

/** A change of several fragments. */
interface ElementTouch {
  replace(owner: string, before: readonly RuleElement[], after: readonly RuleElement[]): void;
  /** The elements that differ from what they were when the change began. */
  changes(): ElementChange[];
}

/** The values by owner. */
type Owners = Map<string, string>;

/** Creates sets without elements. */
export function createSharedElements(): SharedElements {
  const sets = new Map<string, Map<string, Owners>>();
  const revisions = new Map<string, number>();
  const readValue = (set: string, key: string) => decide(sets.get(set)?.get(key));

  const disown = (owner: string, { set, key }: RuleElement) => {
    const elements = sets.get(set);
    const owners = elements?.get(key);
    owners?.delete(owner);
    if (owners?.size === 0) elements?.delete(key);
    if (elements?.size === 0) sets.delete(set);
  };
  const own = (owner: string, { set, key, value = "" }: RuleElement) => {
    const elements = sets.get(set) ?? new Map<string, Owners>();
    const owners = elements.get(key) ?? new Map<string, string>();
    sets.set(set, elements.set(key, owners.set(owner, value)));
  };

  return {
    touch() {
      const touched = new Map<string, { set: string; key: string; before: string | undefined }>();
      const note = ({ set, key }: RuleElement) => {
        const name = `${set} ${key}`;
        if (!touched.has(name)) touched.set(name, { set, key, before: readValue(set, key) });
      };
      return {
        replace(owner, before, after) {
          for (const element of [...before, ...after]) note(element);
          for (const element of before) disown(owner, element);
          for (const element of after) own(owner, element);
        },
        changes() {
          const changes = [...touched.values()].map((element) => ({
            ...element,
            after: readValue(element.set, element.key),
          }));
          const real = changes.filter(({ before, after }) => before !== after);
          for (const { set } of real) revisions.set(set, (revisions.get(set) ?? 0) + 1);
          return real;
        },
      };
    },
    all() {
      return [...sets].flatMap(([set, elements]) =>
        [...elements].map(([key, owners]) => ({ set, key, before: undefined, after: decide(owners) })),
      );
    },
    count: (set) => sets.get(set)?.size ?? 0,
    revision: (set) => revisions.get(set) ?? 0,
  };
}

/** The first owner by its key decides, so that two who disagree get the same answer whoever came first. */
function decide(owners: Owners | undefined): string | undefined {
  if (owners === undefined) return undefined;
  let first: string | undefined;
  for (const owner of owners.keys()) if (first === undefined || owner < first) first = owner;
  return first === undefined ? undefined : owners.get(first);
}
