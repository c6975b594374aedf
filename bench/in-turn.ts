/** The items with their places. Who comes first changes with every round, so that nobody always follows the same other. */
export function inTurn<T>(items: readonly T[], round: number): ReadonlyArray<readonly [place: number, item: T]> {
  const entries = [...items.entries()];
  return round % 2 === 0 ? entries : entries.reverse();
}
