import type { KubeObject } from "../../../../api/object.ts";
import { typed } from "../../../../api/object.ts";
import type { Subresource, Verb } from "../../../ports/resource-kind.ts";
import { defineKind, MAX_POD_VALUES } from "../../define-kind.ts";
import { coreSubresource, PART_VERBS, proxySubresource } from "../../subresource.ts";
import { takeEphemeralContainers, validateEphemeralContainersUpdate } from "./pod-ephemeral-containers.ts";
import { takeResize, validateResize } from "./pod-resize.ts";
import { POD_STATUS } from "./pod-status.ts";
import { defaultPodObject, podGracePeriodSeconds, preparePod, validatePodObject } from "./pod-strategy.ts";
import { validatePodUpdate } from "./pod-update.ts";
import { podWarnings } from "./pod-warnings.ts";

const STREAM_VERBS: readonly Verb[] = ["create", "get"];

const EVICTION: Subresource = { name: "eviction", group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] };

/** The fields by which pods can be selected. None of them is indexed, because one node has few pods. */
const FIELDS: Readonly<Record<string, (object: KubeObject) => string>> = {
  "spec.nodeName": (object) => typed("Pod", object).spec?.nodeName ?? "",
  "spec.restartPolicy": (object) => typed("Pod", object).spec?.restartPolicy ?? "",
  "spec.schedulerName": (object) => typed("Pod", object).spec?.schedulerName ?? "",
  "spec.serviceAccountName": (object) => typed("Pod", object).spec?.serviceAccountName ?? "",
  "spec.hostNetwork": (object) => String(typed("Pod", object).spec?.hostNetwork ?? false),
  "status.phase": (object) => typed("Pod", object).status?.phase ?? "",
  "status.podIP": (object) => typed("Pod", object).status?.podIP ?? "",
  "status.podIPs": (object) => (typed("Pod", object).status?.podIPs ?? []).map(({ ip }) => ip).join(","),
  "status.nominatedNodeName": (object) => typed("Pod", object).status?.nominatedNodeName ?? "",
};

/** Pods with their subresources. */
export const podKind = defineKind({
  kind: "Pod",
  plural: "pods",
  maxValues: MAX_POD_VALUES,
  shortNames: ["po"],
  categories: ["all"],
  strategy: {
    default: defaultPodObject,
    prepareCreate: preparePod,
    validate: validatePodObject,
    validateUpdate: validatePodUpdate,
    warnings: podWarnings,
    gracePeriodSeconds: podGracePeriodSeconds,
    returnsDeleted: true,
    generation: true,
    fields: FIELDS,
  },
  subresources: [
    POD_STATUS,
    coreSubresource("attach", "PodAttachOptions", STREAM_VERBS),
    coreSubresource("binding", "Binding", ["create"]),
    {
      ...coreSubresource("ephemeralcontainers", "Pod", PART_VERBS),
      take: takeEphemeralContainers,
      validateUpdate: validateEphemeralContainersUpdate,
    },
    EVICTION,
    coreSubresource("exec", "PodExecOptions", STREAM_VERBS),
    coreSubresource("log", "Pod", ["get"]),
    coreSubresource("portforward", "PodPortForwardOptions", STREAM_VERBS),
    proxySubresource("PodProxyOptions"),
    { ...coreSubresource("resize", "Pod", PART_VERBS), take: takeResize, validateUpdate: validateResize },
  ],
});
