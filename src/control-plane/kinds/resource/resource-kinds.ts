import type { ResourceKind } from "../../ports/resource-kind.ts";
import { deviceClassKind } from "./device-class.ts";
import { resourceClaimKind } from "./resource-claim.ts";
import { resourceClaimTemplateKind } from "./resource-claim-template.ts";
import { resourceSliceKind } from "./resource-slice.ts";

/** The kinds of dynamic resource allocation. */
export const RESOURCE_KINDS: readonly ResourceKind[] = [
  deviceClassKind,
  resourceClaimKind,
  resourceClaimTemplateKind,
  resourceSliceKind,
];
