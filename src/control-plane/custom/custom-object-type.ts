import type { KubeObject } from "../../api/object.ts";
import { typed } from "../../api/object.ts";
import { servedType } from "../cel/policies/served-type.ts";
import type { CelType } from "../cel/types.ts";
import { ruleType } from "./rule-schema.ts";

/** The type of a definition's objects in one of its versions, with all of their metadata; undefined without a schema. */
export function customObjectType(definition: KubeObject, version: string): CelType | undefined {
  const { spec } = typed("CustomResourceDefinition", definition);
  const schema = spec.versions.find(({ name }) => name === version)?.schema?.openAPIV3Schema;
  const type = schema && ruleType(schema, spec.names.kind, true);
  if (type?.kind !== "object") return undefined;
  const metadata = servedType("ObjectMeta");
  return { ...type, fields: { get: (name) => (name === "metadata" ? metadata : type.fields.get(name)) } };
}
