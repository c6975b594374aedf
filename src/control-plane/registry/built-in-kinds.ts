import { CRD_KIND } from "../custom/crd-kind.ts";
import { CORE_KINDS, EVENT_KINDS } from "../kinds/core/core-kinds.ts";
import { createAllocatingServiceKind, type ServiceAllocation } from "../kinds/core/service/allocating-service.ts";
import { serviceKind } from "../kinds/core/service/service.ts";
import { GROUP_KINDS } from "../kinds/group-kinds.ts";
import { METRICS_KINDS } from "../kinds/metrics/metrics-kinds.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";

/** All kinds that are served, computed ones included. Services get their addresses from this cluster's range. */
export function createBuiltInKinds(services: ServiceAllocation): readonly ResourceKind[] {
  const stored = BUILT_IN_KINDS.map((kind) => (kind === serviceKind ? createAllocatingServiceKind(services) : kind));
  return [...stored, ...METRICS_KINDS];
}

/** All kinds of Kubernetes itself, for callers that create no services: nothing is allocated to them. */
export const BUILT_IN_KINDS: readonly ResourceKind[] = [...CORE_KINDS, ...EVENT_KINDS, ...GROUP_KINDS, CRD_KIND];
