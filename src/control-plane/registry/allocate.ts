import type { KubeObject } from "../../api/object.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { createReader } from "./reader.ts";
import type { RegistryDeps } from "./registry-deps.ts";

/** The object with what its kind's strategy hands out to it; the same object for a kind that hands out nothing. */
export function allocate(
  { store, kinds }: Pick<RegistryDeps, "store" | "kinds">,
  { strategy }: ResourceKind,
  { next, current }: { next: KubeObject; current: KubeObject | undefined },
): KubeObject {
  return strategy.allocate?.(next, current, createReader(store, kinds)) ?? next;
}
