import type { ResourceKind } from "../../ports/resource-kind.ts";
import { ADMISSION_REGISTRATION_KINDS } from "./admissionregistration-kinds.ts";
import { APPS_KINDS } from "./apps-kinds.ts";
import { AUTOSCALING_KINDS } from "./autoscaling-kinds.ts";
import { BATCH_KINDS } from "./batch-kinds.ts";
import { CERTIFICATES_KINDS } from "./certificates-kinds.ts";
import { COORDINATION_KINDS } from "./coordination-kinds.ts";
import { DISCOVERY_KINDS } from "./discovery-kinds.ts";
import { NETWORKING_KINDS } from "./networking-kinds.ts";
import { NODE_KINDS } from "./node-kinds.ts";
import { POLICY_KINDS } from "./policy-kinds.ts";
import { RBAC_KINDS } from "./rbac-kinds.ts";
import { RESOURCE_KINDS } from "./resource-kinds.ts";
import { REVIEW_KINDS } from "./review-kinds.ts";
import { SCHEDULING_KINDS } from "./scheduling-kinds.ts";
import { STORAGE_KINDS } from "./storage-kinds.ts";

/** The kinds of all groups but core, events.k8s.io and apiextensions.k8s.io. */
export const GROUP_KINDS: readonly ResourceKind[] = [
  ...ADMISSION_REGISTRATION_KINDS,
  ...APPS_KINDS,
  ...AUTOSCALING_KINDS,
  ...BATCH_KINDS,
  ...CERTIFICATES_KINDS,
  ...COORDINATION_KINDS,
  ...DISCOVERY_KINDS,
  ...NETWORKING_KINDS,
  ...NODE_KINDS,
  ...POLICY_KINDS,
  ...RBAC_KINDS,
  ...RESOURCE_KINDS,
  ...REVIEW_KINDS,
  ...SCHEDULING_KINDS,
  ...STORAGE_KINDS,
];
