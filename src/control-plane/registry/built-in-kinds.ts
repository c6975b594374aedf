import { CRD_KIND } from "../custom/crd-kind.ts";
import { CORE_KINDS, EVENT_KINDS } from "../kinds/core/core-kinds.ts";
import { createAllocatingServiceKind, type ServiceAllocation } from "../kinds/core/service/allocating-service.ts";
import { serviceKind } from "../kinds/core/service/service.ts";
import { GROUP_KINDS } from "../kinds/group-kinds.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";

/** All built-in kinds. Services get their addresses from this cluster's range. */
export function createBuiltInKinds(services: ServiceAllocation): readonly ResourceKind[] {
  return BUILT_IN_KINDS.map((kind) => (kind === serviceKind ? createAllocatingServiceKind(services) : kind));
}

/** All built-in kinds, for callers that create no services: nothing is allocated to them. */
export const BUILT_IN_KINDS: readonly ResourceKind[] = [...CORE_KINDS, ...EVENT_KINDS, ...GROUP_KINDS, CRD_KIND];
