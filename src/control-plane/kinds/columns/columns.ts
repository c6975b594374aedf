import type { Column } from "../../ports/resource-kind.ts";

/** What is printed of a kind that has no columns of its own: name and age. */
export const DEFAULT_COLUMNS: readonly Column[] = [];

/** By group and plural: `pods`, `deployments.apps`. */
export const COLUMNS: Readonly<Record<string, readonly Column[]>> = {};
