import type { ResourceKind, Verb } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { coreEventKind, newEventKind } from "../events/event-kinds.ts";
import { bindingKind } from "./binding.ts";
import { configMapKind } from "./config-map.ts";
import { endpointsKind } from "./endpoints.ts";
import { limitRangeKind } from "./limit-range.ts";
import { namespaceKind } from "./namespace.ts";
import { nodeKind } from "./node.ts";
import { podKind } from "./pod/pod.ts";
import { podTemplateKind } from "./pod/pod-template.ts";
import { replicationControllerKind } from "./replication-controller.ts";
import { resourceQuotaKind } from "./resource-quota.ts";
import { secretKind } from "./secret.ts";
import { serviceKind } from "./service/service.ts";
import { serviceAccountKind } from "./service-account.ts";
import { persistentVolumeKind } from "./volume/persistent-volume.ts";
import { persistentVolumeClaimKind } from "./volume/persistent-volume-claim.ts";

const READ_VERBS: readonly Verb[] = ["get", "list"];

/** Component statuses, which are made for those who read them. */
const componentStatusKind = defineKind({
  kind: "ComponentStatus",
  plural: "componentstatuses",
  shortNames: ["cs"],
  namespaced: false,
  verbs: READ_VERBS,
  strategy: { deprecation: "v1 ComponentStatus is deprecated in v1.19+" },
});

/** The kinds of core/v1, in order of their plurals. */
export const CORE_KINDS: readonly ResourceKind[] = [
  bindingKind,
  componentStatusKind,
  configMapKind,
  endpointsKind,
  coreEventKind,
  limitRangeKind,
  namespaceKind,
  nodeKind,
  persistentVolumeClaimKind,
  persistentVolumeKind,
  podKind,
  podTemplateKind,
  replicationControllerKind,
  resourceQuotaKind,
  secretKind,
  serviceAccountKind,
  serviceKind,
];

/** The kinds of events.k8s.io/v1: core events, seen through the newer API. */
export const EVENT_KINDS: readonly ResourceKind[] = [newEventKind];
