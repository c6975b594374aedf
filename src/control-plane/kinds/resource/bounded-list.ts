import type { FieldError } from "../../../api/field-error.ts";
import { duplicate, each, tooMany } from "../../../api/validation/problems.ts";

type Check<Item> = (item: Item, path: string) => FieldError[];

/** The problems of the items of a list; of a list that is too long, that alone. */
export function validateList<Item>(
  path: string,
  items: readonly Item[] | undefined,
  { max, check }: { readonly max: number; readonly check: Check<Item> },
): FieldError[] {
  const count = items?.length ?? 0;
  return count > max ? [tooMany(path, count, max)] : each(path, items, check);
}

/** The same for a list no two items of which have the same key. */
export function validateSet<Item>(
  path: string,
  items: readonly Item[] | undefined,
  { max, check, keyOf }: { readonly max: number; readonly check: Check<Item>; keyOf(item: Item): string },
): FieldError[] {
  const errors = validateList(path, items, { max, check });
  if ((items?.length ?? 0) > max) return errors;
  const seen = new Set<string>();
  const repeated = each(path, items, (item, at) => {
    const key = keyOf(item);
    if (seen.has(key)) return [duplicate(at, key)];
    seen.add(key);
    return [];
  });
  return [...errors, ...repeated];
}
