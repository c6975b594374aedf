import { DEFINITION_NAMES } from "../../api/gen/served-schema.ts";
import { servedType } from "../cel/policies/served-type.ts";
import type { CelType } from "../cel/types.ts";
import { customObjectType } from "../custom/custom-object-type.ts";
import { groupResource, type ResourceKind } from "../ports/resource-kind.ts";
import type { ResourceReader } from "../ports/resources.ts";

const SERVED_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(DEFINITION_NAMES).map(([type, definition]) => [definition, type]),
);

/** What expressions know of the objects of a kind, built-in or custom. */
export function createKindTypes(reader: Pick<ResourceReader, "get">): (kind: ResourceKind) => CelType | undefined {
  return (kind) => {
    const built = SERVED_TYPES.get(kind.schema.definition);
    if (built !== undefined) return servedType(built);
    const resource = "customresourcedefinitions.apiextensions.k8s.io";
    const definition = reader.get({ resource, namespace: "", name: groupResource(kind) });
    return definition && customObjectType(definition, kind.version);
  };
}
