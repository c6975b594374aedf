import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";

const PACKAGE = "io.k8s.metrics.pkg.apis.metrics.v1beta1";

/** What nodes and pods use. They are read and not stored: `resource-metrics` makes them of what the nodes tell. */
export const METRICS_KINDS: readonly ResourceKind[] = [metrics("NodeMetrics", "nodes"), metrics("PodMetrics", "pods")];

function metrics(kind: string, plural: string): ResourceKind {
  return defineKind({
    group: "metrics.k8s.io",
    version: "v1beta1",
    kind,
    plural,
    type: `${PACKAGE}.${kind}`,
    namespaced: plural === "pods",
    verbs: ["get", "list"],
  });
}

const AMOUNTS = {
  description: "How much of each resource is in use; memory is the working set.",
  type: "object",
  additionalProperties: { type: "string" },
};
const TIMES = {
  timestamp: { description: "When the last reading was made.", type: "string", format: "date-time" },
  window: { description: "The time before it over which use of processors is a mean, `15s`.", type: "string" },
};

/** Their schemas for OpenAPI documents, by definition: Kubernetes' own documents do not have them. */
export const METRICS_SCHEMAS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  [`${PACKAGE}.NodeMetrics`]: {
    description: "What a node uses.",
    type: "object",
    required: ["timestamp", "window", "usage"],
    properties: { ...TIMES, usage: AMOUNTS },
  },
  [`${PACKAGE}.PodMetrics`]: {
    description: "What the containers of a pod use.",
    type: "object",
    required: ["timestamp", "window", "containers"],
    properties: {
      ...TIMES,
      containers: {
        description: "What each container uses.",
        type: "array",
        items: {
          type: "object",
          required: ["name", "usage"],
          properties: { name: { description: "The container's name.", type: "string" }, usage: AMOUNTS },
        },
      },
    },
  },
};
