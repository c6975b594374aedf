import type { CustomResourceColumnDefinition } from "../../api/gen/types.ts";
import { formatHumanDuration } from "../../base/human-duration.ts";
import type { Cell, CellAt, Column } from "../ports/resource-kind.ts";
import { evaluateJsonPath, type JsonPath, parseJsonPath } from "./json-path.ts";

const NAME: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: "The object's name, unique among its kind in its namespace.",
  priority: 0,
  cell: ({ metadata }) => metadata.name ?? "",
};

/** The columns of a CRD that names none. */
const AGE: CustomResourceColumnDefinition = {
  name: "Age",
  type: "date",
  description: "When the object was created.",
  jsonPath: ".metadata.creationTimestamp",
};

/** The columns that `kubectl get` prints of a custom kind: the name, then those of the CRD, else the age. */
export function customColumns(columns: readonly CustomResourceColumnDefinition[] = []): readonly Column[] {
  return [NAME, ...(columns.length === 0 ? [AGE] : columns).map(defineColumn)];
}

function defineColumn(column: CustomResourceColumnDefinition): Column {
  const { name, jsonPath, priority = 0, description = "" } = column;
  const path = parseJsonPath(jsonPath);
  const type = columnType(column.type);
  return {
    name,
    type,
    description:
      description === "" ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description,
    priority,
    cell: (object) => (path ? shownOf(type, firstOf(path, object)) : null),
  };
}

/** The column types that a validated CRD can name. */
function columnType(type: string): Column["type"] {
  return type === "integer" || type === "number" || type === "boolean" || type === "date" ? type : "string";
}

function firstOf(path: JsonPath, object: unknown): unknown {
  return evaluateJsonPath(path, object)[0];
}

function shownOf(type: Column["type"], value: unknown): Cell | CellAt {
  if (value === null || value === undefined) return null;
  switch (type) {
    case "string":
      return typeof value === "object" ? JSON.stringify(value) : String(value);
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "date":
      return typeof value === "string" ? ageOf(value) : null;
  }
}

function ageOf(time: string): Cell | CellAt {
  const since = Date.parse(time);
  return Number.isNaN(since) ? "<invalid>" : (now) => formatHumanDuration(now - since);
}
