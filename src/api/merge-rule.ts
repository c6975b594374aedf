/** How the items of a list, or the entries of a map, merge when an object is patched or applied. */
export interface MergeRule {
  /** Server-side apply: `map` merges by `keys`, `set` by value, `atomic` replaces. Lists without it are atomic. */
  readonly list?: string;
  readonly keys?: readonly string[];
  /** `atomic` replaces the whole map. */
  readonly map?: string;
  /** Strategic merge: `merge`, `retainKeys`, or both with a comma between. Lists without it are replaced. */
  readonly patch?: string;
  /** Strategic merge: the field of the items that tells them apart; a list without it is of scalars. */
  readonly mergeKey?: string;
}
