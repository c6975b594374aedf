import type { ResourceKind } from "../../ports/resource-kind.ts";
import { ADMISSION_POLICY_KINDS } from "./policy-kinds.ts";
import { WEBHOOK_CONFIGURATIONS } from "./webhook-configurations.ts";

/** The kinds that decide about other objects' admission. */
export const ADMISSION_REGISTRATION_KINDS: readonly ResourceKind[] = [
  ...ADMISSION_POLICY_KINDS,
  ...WEBHOOK_CONFIGURATIONS,
];
