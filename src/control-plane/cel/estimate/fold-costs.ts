import type { FoldExpression } from "../expression.ts";

/** What making an empty list costs. */
export const LIST_COST = 10;
/** What making an empty map costs. */
export const MAP_COST = 30;

/** The costs that cel-go counts for the hidden accumulator of a macro: before the loop, in each round, and after it. */
export function foldCosts(
  { kind }: Pick<FoldExpression, "kind">,
  body: number,
): { begin: number; round: number; end: number } {
  switch (kind) {
    case "all":
      return { begin: 0, round: 3 + body, end: 1 };
    case "exists":
      return { begin: 0, round: 4 + body, end: 1 };
    case "existsOne":
      return { begin: 0, round: 2 + body, end: 2 };
    case "filter":
      return { begin: LIST_COST, round: body + 3 + LIST_COST, end: 1 };
    case "map":
    case "transformList":
      return { begin: LIST_COST, round: body + 2 + LIST_COST, end: 1 };
    case "transformMap":
      return { begin: MAP_COST, round: body + 3, end: 1 };
    case "transformMapEntry":
      return { begin: MAP_COST, round: body + 2, end: 1 };
    case "sortBy":
      return { begin: 2 * LIST_COST + 3, round: body + 2 + LIST_COST, end: 1 };
  }
}
