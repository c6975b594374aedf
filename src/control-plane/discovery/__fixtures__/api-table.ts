import { decodeTyped } from "../../../api/decode.ts";
import { DEFINITION_NAMES, SERVED_SCHEMA } from "../../../api/gen/served-schema.ts";
import { servedNode } from "../../../api/schema-node.ts";
import type { ResourceKind, Subresource, Verb } from "../../ports/resource-kind.ts";
import type { ApiTable } from "../api-table.ts";

const VERBS: readonly Verb[] = ["watch", "create", "delete", "deletecollection", "get", "list", "patch", "update"];

/** A row of a built-in kind, or of a custom one (with its definition). */
function kindRow(
  row: Partial<ResourceKind> & Pick<ResourceKind, "kind" | "plural">,
  definition?: string,
): ResourceKind {
  const type = row.kind;
  return {
    group: "",
    version: "v1",
    listKind: `${row.kind}List`,
    singular: row.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: VERBS,
    schema: {
      decode: (value) => decodeTyped({ tables: SERVED_SCHEMA, type }, value),
      node: servedNode(type),
      strategicMerge: definition === undefined,
      definition: definition ?? DEFINITION_NAMES[type] ?? type,
    },
    strategy: {},
    subresources: [],
    columns: [],
    ...row,
  };
}

/** A subresource whose kind is of version v1. */
const sub = (name: string, verbs: readonly Verb[], group: string, kind: string): Subresource => {
  return { name, group, version: "v1", kind, verbs };
};

const STATUS_VERBS: readonly Verb[] = ["get", "patch", "update"];

const PODS = kindRow({
  kind: "Pod",
  plural: "pods",
  shortNames: ["po"],
  categories: ["all"],
  subresources: [
    sub("status", STATUS_VERBS, "", "Pod"),
    sub("eviction", ["create"], "policy", "Eviction"),
    sub("exec", ["get", "create"], "", "PodExecOptions"),
  ],
});

const DEPLOYMENTS = kindRow({
  group: "apps",
  kind: "Deployment",
  plural: "deployments",
  shortNames: ["deploy"],
  subresources: [sub("scale", STATUS_VERBS, "autoscaling", "Scale")],
});

const WIDGET = { group: "a.example.com", kind: "Widget", plural: "widgets", namespaced: false };

/** The table holds kinds of core, kinds of groups, and a CRD with two versions. */
export const TABLE: ApiTable = {
  kinds: [
    kindRow({ ...WIDGET, version: "v1beta1" }, "com.example.a.v1beta1.Widget"),
    kindRow({ ...WIDGET, version: "v1" }, "com.example.a.v1.Widget"),
    kindRow({ ...WIDGET, version: "v1alpha1", verbs: [] }, "com.example.a.v1alpha1.Widget"),
    DEPLOYMENTS,
    PODS,
    kindRow({
      kind: "Namespace",
      plural: "namespaces",
      namespaced: false,
      verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
    }),
  ],
  definitions: {
    "com.example.a.v1.Widget": {
      type: "object",
      description: "A widget.",
      required: ["spec"],
      properties: {
        apiVersion: { type: "string" },
        metadata: { type: "object" },
        spec: {
          type: "object",
          properties: {
            size: { type: "integer", minimum: 1, default: 3 },
            maybe: { type: "string", nullable: true },
            port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
            open: {
              type: "object",
              properties: { a: { type: "string" } },
              "x-kubernetes-preserve-unknown-fields": true,
            },
            object: {
              type: "object",
              "x-kubernetes-embedded-resource": true,
              properties: { data: { type: "string" } },
            },
            map: { type: "object", additionalProperties: { type: "array", items: { type: "string" } } },
          },
        },
      },
    },
  },
  serverAddress: "127.0.0.1:6443",
};
