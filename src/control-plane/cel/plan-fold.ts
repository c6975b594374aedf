import { compareValues } from "./equality.ts";
import type { FoldExpression } from "./expression.ts";
import type { Frame, Planner, ProgramStep } from "./step.ts";
import { type CelValue, celList, celMap, failure, isFailure, keyText } from "./values.ts";

/** What a macro does with each item; it ends the loop with the result of the whole. */
interface Loop {
  /** What cel-go counts for its hidden variables, in each round and at the end. */
  readonly roundCost: number;
  readonly endCost: number;
  /** Creates the state of one evaluation. */
  begin(): LoopState;
}

interface LoopState {
  /** Takes the value of the body; returns a result to end with. */
  take(value: CelValue, item: LoopItem, frame: Frame): CelValue | undefined;
  end(frame: Frame): CelValue;
}

interface LoopItem {
  readonly key: CelValue;
  readonly value: CelValue;
  /** What the one variable of a macro is: a list's item, a map's key. */
  readonly main: CelValue;
}

/** The program of a macro that goes over a list or map. */
export function planFold(planner: Planner, fold: FoldExpression): ProgramStep {
  const range = planner.plan(fold.range);
  const base = planner.slots.size;
  const slots = new Map(planner.slots);
  // A name that is taken gets a second slot: the count of slots must grow with each variable.
  for (const [index, name] of fold.variables.entries()) slots.set(name, base + index);
  for (let spare = slots.size; spare < base + fold.variables.length; spare++) slots.set(`#${spare}`, spare);
  const condition = fold.condition && planner.plan(fold.condition, slots);
  const body = planner.plan(fold.body, slots);
  const loop = LOOPS[fold.kind];
  const isDouble = fold.variables.length === 2;
  return (frame) => {
    const found = range(frame);
    if (isFailure(found)) return found;
    const items = itemsOf(found);
    if (items === undefined) return failure("no such overload");
    const state = loop.begin();
    for (const item of items) {
      if (isDouble) {
        frame.locals[base] = item.key;
        frame.locals[base + 1] = item.value;
      } else frame.locals[base] = item.main;
      const isTaken = condition?.(frame) ?? true;
      if (isFailure(isTaken)) return isTaken;
      if (isTaken === false) continue;
      frame.budget.charge(loop.roundCost);
      const ended = state.take(body(frame), item, frame);
      if (ended !== undefined) return ended;
    }
    frame.budget.charge(loop.endCost);
    return state.end(frame);
  };
}

function* lazyItems(value: CelValue): Generator<LoopItem> {
  if (typeof value !== "object" || value === null) return;
  if (value.kind === "list") {
    for (let index = 0; index < value.size; index++) {
      const item = value.at(index);
      yield { key: BigInt(index), value: item, main: item };
    }
  } else if (value.kind === "map") {
    for (const key of value.keys()) yield { key, value: value.find(key) ?? null, main: key };
  }
}

function itemsOf(value: CelValue): Iterable<LoopItem> | undefined {
  const isIterable = typeof value === "object" && (value?.kind === "list" || value?.kind === "map");
  return isIterable ? lazyItems(value) : undefined;
}

/** `all` ends at the first false, `exists` at the first true; errors count only when nothing is decisive. */
function quantifier(decisive: boolean, roundCost: number): Loop {
  return {
    roundCost,
    endCost: 1,
    begin() {
      let problem: CelValue | undefined;
      return {
        take(value, _item, frame) {
          if (value === decisive) {
            frame.budget.charge(roundCost);
            return decisive;
          }
          if (value !== !decisive) problem ??= isFailure(value) ? value : failure("no such overload");
          return undefined;
        },
        end: () => problem ?? !decisive,
      };
    },
  };
}

const EXISTS_ONE: Loop = {
  roundCost: 0,
  endCost: 2,
  begin() {
    let count = 0;
    return {
      take(value, _item, frame) {
        if (typeof value !== "boolean") return isFailure(value) ? value : failure("no such overload");
        if (value) {
          frame.budget.charge(2);
          count++;
        }
        return undefined;
      },
      end: () => count === 1,
    };
  },
};

/** Collects items into a list: what the body makes of them, or those of which it says true. */
function collector(isFilter: boolean): Loop {
  return {
    roundCost: isFilter ? 0 : 12,
    endCost: 1,
    begin() {
      const kept: CelValue[] = [];
      return {
        take(value, { main }, frame) {
          if (isFailure(value)) return value;
          if (!isFilter) kept.push(value);
          else if (value === true) {
            frame.budget.charge(13);
            kept.push(main);
          } else if (value !== false) return failure("no such overload");
          return undefined;
        },
        end: () => celList(kept),
      };
    },
  };
}

/** Collects into a map: the body is the value of the item's key, or a map of entries. */
function mapper(isEntry: boolean): Loop {
  return {
    roundCost: 3,
    endCost: 1,
    begin() {
      const pairs: Array<readonly [CelValue, CelValue]> = [];
      const seen = new Set<string>();
      const add = (key: CelValue, value: CelValue) => {
        const text = keyText(key) ?? "";
        if (seen.has(text)) return failure(`insert failed: key ${String(key)} already exists`);
        seen.add(text);
        pairs.push([key, value]);
        return undefined;
      };
      return {
        take(value, { key }, { budget }) {
          if (isFailure(value)) return value;
          if (!isEntry) return add(key, value);
          if (typeof value !== "object" || value?.kind !== "map") return failure("no such overload");
          budget.work(value.size);
          for (const name of value.keys()) {
            const problem = add(name, value.find(name) ?? null);
            if (problem) return problem;
          }
          return undefined;
        },
        end: () => celMap(pairs),
      };
    },
  };
}

/** Sorts a list by what the body makes of each item. */
const SORT_BY: Loop = {
  roundCost: 12,
  endCost: 1,
  begin() {
    const pairs: Array<{ key: CelValue; item: CelValue }> = [];
    return {
      take(value, { value: item }) {
        if (isFailure(value)) return value;
        pairs.push({ key: value, item });
        return undefined;
      },
      end({ budget }) {
        let isOrdered = true;
        const sorted = pairs.toSorted((a, b) => {
          budget.work(1);
          const order = compareValues(a.key, b.key, budget);
          if (order === undefined) isOrdered = false;
          return order ?? 0;
        });
        return isOrdered ? celList(sorted.map(({ item }) => item)) : failure("list elements must be comparable");
      },
    };
  },
};

const LOOPS: Readonly<Record<FoldExpression["kind"], Loop>> = {
  all: quantifier(false, 3),
  exists: quantifier(true, 4),
  existsOne: EXISTS_ONE,
  map: collector(false),
  filter: collector(true),
  transformList: collector(false),
  transformMap: mapper(false),
  transformMapEntry: mapper(true),
  sortBy: SORT_BY,
};
