import type { ResourceKind, Verb } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { BINDINGS } from "./binding.ts";
import { CONFIG_MAPS } from "./config-map.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { CORE_EVENTS, EVENTS_K8S_IO } from "./event-kinds.ts";
import { LIMIT_RANGES } from "./limit-range.ts";
import { NAMESPACES } from "./namespace.ts";
import { NODES } from "./node.ts";
import { PERSISTENT_VOLUMES } from "./persistent-volume.ts";
import { PERSISTENT_VOLUME_CLAIMS } from "./persistent-volume-claim.ts";
import { PODS } from "./pod.ts";
import { POD_TEMPLATES } from "./pod-template.ts";
import { REPLICATION_CONTROLLERS } from "./replication-controller.ts";
import { SECRETS } from "./secret.ts";
import { SERVICES } from "./service.ts";
import { SERVICE_ACCOUNTS } from "./service-account.ts";

const READ_VERBS: readonly Verb[] = ["get", "list"];

/** There are none: nothing here has a status that the API server would have to ask for. */
const COMPONENT_STATUSES = defineKind({
  kind: "ComponentStatus",
  plural: "componentstatuses",
  shortNames: ["cs"],
  namespaced: false,
  verbs: READ_VERBS,
  strategy: { deprecation: "v1 ComponentStatus is deprecated in v1.19+" },
});

/** Refused rather than stored: a quota that is not enforced would be believed in. */
const RESOURCE_QUOTAS = defineKind({
  kind: "ResourceQuota",
  plural: "resourcequotas",
  shortNames: ["quota"],
  status: true,
  strategy: {
    refusal: "resource quotas are not enforced by this control plane, so that none can be created",
    returnsDeleted: true,
  },
});

/** Everything of core/v1, in the order of the plurals. */
export const CORE_KINDS: readonly ResourceKind[] = [
  BINDINGS,
  COMPONENT_STATUSES,
  CONFIG_MAPS,
  ENDPOINTS,
  CORE_EVENTS,
  LIMIT_RANGES,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  POD_TEMPLATES,
  REPLICATION_CONTROLLERS,
  RESOURCE_QUOTAS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
];

/** events.k8s.io/v1: core events, seen through the newer API. */
export const EVENT_KINDS: readonly ResourceKind[] = [EVENTS_K8S_IO];
