import type { CustomResourceDefinition } from "../../../api/gen/types.ts";
import { isKubeObject, type KubeObject, typed } from "../../../api/object.ts";
import { decodeCrd } from "../crd-decode.ts";
import { CRD_KIND } from "../crd-kind.ts";
import { computeCrdStatus } from "../crd-status.ts";

export const NOW = Date.parse("2026-01-02T03:04:05Z");

/** The CronTab of upstream's documentation, with more in its schema. */
export const CRON_TAB_SCHEMA = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      required: ["cronSpec"],
      properties: {
        cronSpec: { type: "string", pattern: "^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$" },
        image: { type: "string", default: "busybox", maxLength: 20 },
        replicas: { type: "integer", minimum: 1, maximum: 10, default: 1 },
        color: { type: "string", enum: ["red", "green"] },
        suspend: { type: "boolean", nullable: true },
        port: { "x-kubernetes-int-or-string": true },
        labels: { type: "object", additionalProperties: { type: "string" } },
        hosts: { type: "array", items: { type: "string", format: "hostname" }, "x-kubernetes-list-type": "set" },
        steps: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, weight: { type: "number", default: 1 } },
          },
        },
        template: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        object: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, selector: { type: "string" } } },
  },
};

/** A CRD in YAML's shape, as a client would send it. */
export function cronTabManifest(version: Record<string, unknown> = {}, spec: Record<string, unknown> = {}) {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "crontabs.stable.example.com" },
    spec: {
      group: "stable.example.com",
      scope: "Namespaced",
      names: { plural: "crontabs", kind: "CronTab", shortNames: ["ct"], categories: ["all"] },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: CRON_TAB_SCHEMA }, ...version }],
      ...spec,
    },
  };
}

/** The manifest as it comes out of decoding, defaulting and preparing. */
export function createCrd(manifest: unknown): CustomResourceDefinition {
  const { value, errors } = decodeCrd(manifest);
  if (!isKubeObject(value)) throw new Error(JSON.stringify(errors));
  const { strategy } = CRD_KIND;
  const object: KubeObject = strategy.default?.(value) ?? value;
  return typed("CustomResourceDefinition", strategy.prepareCreate?.(object) ?? object);
}

/** The same once it is served. */
export function establishCrd(manifest: unknown): CustomResourceDefinition {
  const crd = createCrd(manifest);
  return { ...crd, status: computeCrdStatus(crd, [], NOW) };
}
