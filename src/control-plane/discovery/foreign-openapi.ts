import { isRecord } from "../../api/object.ts";
import { tryParseJson } from "../../base/parse-json.ts";
import type { ForeignOpenApi, JsonObject } from "./api-table.ts";

/** Schemas are a few dozen levels deep; what is deeper cannot be written down by all writers. */
const MAX_DEPTH = 200;

/** What another API server's documents, as texts, say of it. A text that is no such document counts as none. */
export function readForeignOpenApi({ v2, v3 }: { readonly v2: string; readonly v3: string }): ForeignOpenApi {
  const swagger = documentOf(v2, "swagger");
  const openapi = documentOf(v3, "openapi");
  const paths = recordsOf(swagger?.["paths"], (item) => recordsOf(item, (operation) => operation));
  const definitions = recordsOf(swagger?.["definitions"], (schema) => schema);
  return { ...(swagger && { v2: { paths, definitions } }), ...(openapi && { v3: openapi }) };
}

function documentOf(text: string, field: "swagger" | "openapi"): JsonObject | undefined {
  const document = tryParseJson(text);
  if (!isRecord(document) || typeof document[field] !== "string") return undefined;
  return isShallow(document, MAX_DEPTH) ? document : undefined;
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

/** The members that are objects. */
function recordsOf<T>(value: unknown, read: (member: JsonObject) => T): Readonly<Record<string, T>> {
  const members = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(members.flatMap(([name, member]) => (isRecord(member) ? [[name, read(member)]] : [])));
}
