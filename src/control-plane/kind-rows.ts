import { CRD_KIND } from "./custom/crd-kind.ts";
import { CORE_KINDS, EVENT_KINDS } from "./kinds/core/core-kinds.ts";
import { GROUP_KINDS } from "./kinds/group-kinds.ts";
import type { ResourceKind } from "./ports/resource-kind.ts";

/** Every kind that is built in. */
export const BUILT_IN_KINDS: readonly ResourceKind[] = [...CORE_KINDS, ...EVENT_KINDS, ...GROUP_KINDS, CRD_KIND];
