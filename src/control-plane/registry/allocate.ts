import type { KubeObject } from "../../api/object.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { createReader } from "./reader.ts";
import type { RegistryDeps } from "./registry-deps.ts";

/** The object with the values that its kind's strategy allocates; the same object for a kind that allocates none. */
export function allocate(
  { store, kinds }: Pick<RegistryDeps, "store" | "kinds">,
  { strategy }: ResourceKind,
  { next, current }: { next: KubeObject; current: KubeObject | undefined },
): KubeObject {
  return strategy.allocate?.(next, current, createReader(store, kinds)) ?? next;
}
