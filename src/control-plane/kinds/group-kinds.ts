import type { ResourceKind } from "../ports/resource-kind.ts";
import { ADMISSION_REGISTRATION_KINDS } from "./admissionregistration/admissionregistration-kinds.ts";
import { API_REGISTRATION_KINDS } from "./apiregistration/apiregistration-kinds.ts";
import { APPS_KINDS } from "./apps/apps-kinds.ts";
import { AUTOSCALING_KINDS } from "./autoscaling/autoscaling-kinds.ts";
import { BATCH_KINDS } from "./batch/batch-kinds.ts";
import { CERTIFICATES_KINDS } from "./certificates/certificates-kinds.ts";
import { COORDINATION_KINDS } from "./coordination/coordination-kinds.ts";
import { DISCOVERY_KINDS } from "./discovery/discovery-kinds.ts";
import { FLOW_CONTROL_KINDS } from "./flowcontrol/flowcontrol-kinds.ts";
import { NETWORKING_KINDS } from "./networking/networking-kinds.ts";
import { NODE_KINDS } from "./node/node-kinds.ts";
import { POLICY_KINDS } from "./policy/policy-kinds.ts";
import { RBAC_KINDS } from "./rbac/rbac-kinds.ts";
import { RESOURCE_KINDS } from "./resource/resource-kinds.ts";
import { REVIEW_KINDS } from "./reviews/review-kinds.ts";
import { SCHEDULING_KINDS } from "./scheduling/scheduling-kinds.ts";
import { STORAGE_KINDS } from "./storage/storage-kinds.ts";

/** The kinds of all groups but core, events.k8s.io and apiextensions.k8s.io. */
export const GROUP_KINDS: readonly ResourceKind[] = [
  ...ADMISSION_REGISTRATION_KINDS,
  ...API_REGISTRATION_KINDS,
  ...APPS_KINDS,
  ...AUTOSCALING_KINDS,
  ...BATCH_KINDS,
  ...CERTIFICATES_KINDS,
  ...COORDINATION_KINDS,
  ...DISCOVERY_KINDS,
  ...FLOW_CONTROL_KINDS,
  ...NETWORKING_KINDS,
  ...NODE_KINDS,
  ...POLICY_KINDS,
  ...RBAC_KINDS,
  ...RESOURCE_KINDS,
  ...REVIEW_KINDS,
  ...SCHEDULING_KINDS,
  ...STORAGE_KINDS,
];
