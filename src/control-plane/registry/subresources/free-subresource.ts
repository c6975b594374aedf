import type { ResourceKind, Subresource } from "../../ports/resource-kind.ts";

/** A subresource through which everything of the parent may change: its handler has made and checked the change. */
export function freeSubresource(name: string, { group, version, kind }: ResourceKind): Subresource {
  return { name, group, version, kind, verbs: ["create"], take: (next) => next, validateUpdate: () => [] };
}
