import type { JsonObject } from "./api-table.ts";

/** The differences between the schemas of the two versions of OpenAPI. */
export interface Dialect {
  readonly version: "v2" | "v3";
  /** `{ $ref }` to a definition. */
  ref(definition: string): JsonObject;
}

/** Swagger 2.0, which kubectl up to 1.26 reads. */
export const OPENAPI_V2: Dialect = {
  version: "v2",
  ref: (definition) => ({ $ref: `${V2_PREFIX}${definition}` }),
};

/** OpenAPI 3.0: a document for every group and version. */
export const OPENAPI_V3: Dialect = {
  version: "v3",
  ref: (definition) => ({ $ref: `${V3_PREFIX}${definition}` }),
};

const V2_PREFIX = "#/definitions/";
const V3_PREFIX = "#/components/schemas/";

/** The definitions that a schema names anywhere in it. */
export function referencesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesOf);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    if (name !== "$ref" || typeof item !== "string") return referencesOf(item);
    return [item.slice(item.lastIndexOf("/") + 1)];
  });
}

/** A reference with a description. It is wrapped: OpenAPI 3.0 ignores fields next to `$ref`. */
export function describedRef(dialect: Dialect, definition: string, description: string | undefined): JsonObject {
  const ref = dialect.ref(definition);
  if (description === undefined) return ref;
  return dialect.version === "v3" ? { description, allOf: [ref] } : { description, ...ref };
}
