import { CRD_KIND } from "../custom/crd-kind.ts";
import { CORE_KINDS, EVENT_KINDS } from "../kinds/core/core-kinds.ts";
import { createAllocatingServiceKind, type ServiceAllocation } from "../kinds/core/service/allocating-service.ts";
import { serviceKind } from "../kinds/core/service/service.ts";
import { GROUP_KINDS } from "../kinds/group-kinds.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";

/** Every kind that is built in, with what none of them knows by itself: from where services get their addresses. */
export function createBuiltInKinds(services: ServiceAllocation): readonly ResourceKind[] {
  return BUILT_IN_KINDS.map((kind) => (kind === serviceKind ? createAllocatingServiceKind(services) : kind));
}

/** Every kind that is built in, for all that hands out nothing to its objects. */
export const BUILT_IN_KINDS: readonly ResourceKind[] = [...CORE_KINDS, ...EVENT_KINDS, ...GROUP_KINDS, CRD_KIND];
