import type { AddressFamily, FragmentChanges, RuleChain, RuleFragment, RuleSetDeclaration } from "./fragment.ts";
import { createSharedElements, type ElementChange } from "./shared-elements.ts";

/** One table of nftables, as it is wanted. It belongs to this program alone. */
export interface RuleTable {
  /**
   * Takes in fragments, and returns the statements that bring a table which was as wanted before in line; none when
   * nothing differs.
   */
  change(changes: FragmentChanges): readonly string[];
  /** The statements that make the whole table anew, whatever is in the kernel. */
  whole(): readonly string[];
  /** Every chain that is wanted, by name. */
  chains(): ReadonlyMap<string, RuleChain>;
  /** Every set and map that is wanted, by name. */
  sets(): ReadonlyMap<string, RuleSetDeclaration>;
  /** How many elements the set or map is to have, and a number that is another one after each change of them. */
  elementsOf(set: string): { readonly count: number; readonly revision: number };
}

/** Creates an empty table. */
export function createRuleTable(family: AddressFamily, name: string): RuleTable {
  const at = `${family} ${name}`;
  const fragments = new Map<string, RuleFragment>();
  const elements = createSharedElements();
  const all = () => [...fragments.values()];

  return {
    change(changes) {
      const differences: Difference[] = [];
      const touched = elements.touch();
      for (const [key, next = EMPTY] of changes) {
        const before = fragments.get(key) ?? EMPTY;
        differences.push(compareFragments(before, next));
        touched.replace(key, before.elements ?? [], next.elements ?? []);
        if (changes.get(key) === undefined) fragments.delete(key);
        else fragments.set(key, next);
      }
      return formatChanges(at, differences, touched.changes());
    },
    whole() {
      const differences = all().map((fragment) => compareFragments(EMPTY, fragment));
      const created = [`add table ${at}`, `delete table ${at}`, `add table ${at}`];
      return [...created, ...formatChanges(at, differences, elements.all())];
    },
    chains: () => new Map(all().flatMap(({ chains = [] }) => chains.map((chain) => [chain.name, chain]))),
    sets: () => new Map(all().flatMap(({ sets = [] }) => sets.map((set) => [set.name, set]))),
    elementsOf: (set) => ({ count: elements.count(set), revision: elements.revision(set) }),
  };
}

const EMPTY: RuleFragment = {};

/** What becomes of the chains and sets of a fragment. */
interface Difference {
  readonly newSets: readonly RuleSetDeclaration[];
  readonly oldSets: readonly RuleSetDeclaration[];
  readonly newChains: readonly RuleChain[];
  readonly oldChains: readonly RuleChain[];
  /** Chains that stay and have other rules. */
  readonly changedChains: readonly RuleChain[];
}

function compareFragments(before: RuleFragment, after: RuleFragment): Difference {
  const oldChains = new Map((before.chains ?? []).map((chain) => [chain.name, chain]));
  const newChains = new Map((after.chains ?? []).map((chain) => [chain.name, chain]));
  const oldSets = new Set((before.sets ?? []).map((set) => set.name));
  const newSets = new Set((after.sets ?? []).map((set) => set.name));
  return {
    newSets: (after.sets ?? []).filter((set) => !oldSets.has(set.name)),
    oldSets: (before.sets ?? []).filter((set) => !newSets.has(set.name)),
    newChains: [...newChains.values()].filter((chain) => !oldChains.has(chain.name)),
    oldChains: [...oldChains.values()].filter((chain) => !newChains.has(chain.name)),
    changedChains: [...newChains.values()].filter((chain) => {
      const old = oldChains.get(chain.name);
      return old !== undefined && !isSameList(old.rules, chain.rules);
    }),
  };
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}

/** The kernel takes statement by statement: what is referred to must be there, and what goes must not be referred to. */
function formatChanges(at: string, differences: readonly Difference[], changes: readonly ElementChange[]): string[] {
  const gone = differences.flatMap((difference) => difference.oldChains);
  const flushed = [...differences.flatMap((difference) => difference.changedChains), ...gone];
  const filled = differences.flatMap(({ newChains, changedChains }) => [...newChains, ...changedChains]);
  return [
    ...differences.flatMap(({ newSets }) =>
      newSets.map(({ kind, name, type }) => `add ${kind} ${at} ${name} { ${type} }`),
    ),
    ...differences.flatMap(({ newChains }) => newChains.map((chain) => formatChain(at, chain))),
    ...flushed.map(({ name }) => `flush chain ${at} ${name}`),
    ...formatElements(
      "delete",
      at,
      changes.filter(({ before }) => before !== undefined),
      ({ key }) => key,
    ),
    ...filled.flatMap(({ name, rules }) => rules.map((rule) => `add rule ${at} ${name} ${rule}`)),
    ...formatElements(
      "add",
      at,
      changes.filter(({ after }) => after !== undefined),
      ({ key, after }) => {
        return after === "" ? key : `${key} : ${after}`;
      },
    ),
    ...gone.map(({ name }) => `delete chain ${at} ${name}`),
    ...differences.flatMap(({ oldSets }) => oldSets.map(({ kind, name }) => `delete ${kind} ${at} ${name}`)),
  ];
}

function formatChain(at: string, { name, hook }: RuleChain): string {
  return hook === undefined ? `add chain ${at} ${name}` : `add chain ${at} ${name} { ${hook} }`;
}

/** Many elements in one statement take nft a fraction of the time of as many statements. */
const ELEMENTS_A_STATEMENT = 256;

function formatElements(
  verb: "add" | "delete",
  at: string,
  changes: readonly ElementChange[],
  format: (change: ElementChange) => string,
): string[] {
  const bySet = new Map<string, ElementChange[]>();
  for (const change of changes) {
    const ofSet = bySet.get(change.set);
    if (ofSet === undefined) bySet.set(change.set, [change]);
    else ofSet.push(change);
  }
  return [...bySet].flatMap(([set, ofSet]) => {
    const statements: string[] = [];
    for (let from = 0; from < ofSet.length; from += ELEMENTS_A_STATEMENT) {
      const texts = ofSet.slice(from, from + ELEMENTS_A_STATEMENT).map(format);
      statements.push(`${verb} element ${at} ${set} { ${texts.join(", ")} }`);
    }
    return statements;
  });
}
