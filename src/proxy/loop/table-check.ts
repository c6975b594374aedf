import { isRecord } from "../../api/object.ts";
import { throwIfAborted } from "../../base/abort.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { AddressFamily, RuleChain } from "../rules/fragment.ts";
import type { RuleTable } from "../rules/rule-table.ts";
import type { Nftables } from "./nftables.ts";

/** Finds out whether somebody else changed our rules. */
interface TableCheck {
  /** False where a table is not as it was made, and where that cannot be found out; the log says which. */
  isIntact(signal: AbortSignal): Promise<boolean>;
}

interface CheckDeps {
  readonly nftables: Pick<Nftables, "describe">;
  readonly log: Log;
}

interface CheckedTables {
  readonly table: string;
  readonly tables: ReadonlyMap<AddressFamily, RuleTable>;
}

/**
 * Creates a check. The kernel's words for a rule are not ours, so that the number of rules and elements is compared, and
 * the words with those of an earlier check for whatever did not change since.
 */
export function createTableCheck({ nftables, log }: CheckDeps, { table, tables }: CheckedTables): TableCheck {
  const words = new Map([...tables.keys()].map((family) => [family, createKnownWords()]));
  const problemOf = async (
    family: AddressFamily,
    wanted: RuleTable,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const text = await nftables.describe(family, table, signal);
    if (text === undefined) return "the table is gone";
    return findDifference(wanted, readTable(text), words.get(family) ?? createKnownWords());
  };
  return {
    async isIntact(signal) {
      try {
        for (const [family, wanted] of tables) {
          const problem = await problemOf(family, wanted, signal);
          if (problem === undefined) continue;
          log.warn("somebody changed the rules of services; they are put back", { family, table, problem });
          return false;
        }
        return true;
      } catch (error) {
        throwIfAborted(signal);
        log.warn("the rules of services cannot be read; they are made anew", { table, error: messageOf(error) });
        return false;
      }
    },
  };
}

/** A table as the kernel has it: the words of the rules of each chain, and those of the elements of each set. */
interface FoundTable {
  readonly chains: ReadonlyMap<string, string[]>;
  readonly sets: ReadonlyMap<string, string[]>;
}

function readTable(text: string): FoundTable {
  const chains = new Map<string, string[]>();
  const sets = new Map<string, string[]>();
  const document: unknown = JSON.parse(text);
  const items: unknown = isRecord(document) ? document["nftables"] : undefined;
  for (const item of Array.isArray(items) ? items : []) {
    if (!isRecord(item)) continue;
    const { chain, rule, set = item["map"] } = item;
    if (isRecord(chain)) chains.set(String(chain["name"]), []);
    if (isRecord(rule)) chains.get(String(rule["chain"]))?.push(JSON.stringify(rule["expr"]));
    if (isRecord(set)) sets.set(String(set["name"]), elementsIn(set["elem"]));
  }
  return { chains, sets };
}

function elementsIn(elements: unknown): string[] {
  return Array.isArray(elements) ? elements.map((element) => JSON.stringify(element)).sort() : [];
}

/** What the kernel said of something while that was last wanted in the same way. */
interface KnownWords {
  /** True where it said the same, or was not asked before. */
  isSame(name: string, wanted: RuleChain | number, found: readonly string[]): boolean;
}

function createKnownWords(): KnownWords {
  const known = new Map<string, { wanted: RuleChain | number; text: string }>();
  return {
    isSame(name, wanted, found) {
      const text = found.join("\n");
      const before = known.get(name);
      if (before?.wanted === wanted) return before.text === text;
      known.set(name, { wanted, text });
      return true;
    },
  };
}

function findDifference(wanted: RuleTable, found: FoundTable, words: KnownWords): string | undefined {
  const chains = wanted.chains();
  const stranger = [...found.chains.keys()].find((name) => !chains.has(name));
  if (stranger !== undefined) return `the chain ${stranger} is not ours`;
  for (const [name, chain] of chains) {
    const rules = found.chains.get(name);
    if (rules === undefined) return `the chain ${name} is gone`;
    if (rules.length !== chain.rules.length) return `the chain ${name} has ${rules.length} rules`;
    if (!words.isSame(`chain ${name}`, chain, rules)) return `the chain ${name} has other rules`;
  }
  for (const [name, { isDynamic = false }] of wanted.sets()) {
    const elements = found.sets.get(name);
    if (elements === undefined) return `the set ${name} is gone`;
    if (isDynamic) continue;
    const { count, revision } = wanted.elementsOf(name);
    if (elements.length !== count) return `the set ${name} has ${elements.length} elements and not ${count}`;
    if (!words.isSame(`set ${name}`, revision, elements)) return `the set ${name} has other elements`;
  }
  return undefined;
}
