import type { KubeObject } from "../../api/object.ts";
import { cellOf, type ResourceKind } from "../ports/resource-kind.ts";

/** The part of the object that a row of a table carries along. */
export type IncludeObject = "None" | "Metadata" | "Object";

interface TableOptions {
  readonly version: "v1" | "v1beta1";
  readonly includeObject: IncludeObject;
  /** Milliseconds since the epoch, for ages. */
  readonly now: number;
  readonly metadata: object;
  /** Default true; the later events of a watch leave the definitions out. */
  readonly hasDefinitions?: boolean;
}

/** A JSON object that stands for an object of a kind: a row, or its metadata. */
type Shown = Readonly<Record<string, unknown>>;

/** What there is to know of a kind here. */
type Printed = Pick<ResourceKind, "columns">;

/** `meta.k8s.io` Table: what `kubectl get` prints. */
export function tableOf(kind: Printed, objects: readonly KubeObject[], options: TableOptions): Shown {
  return { ...tableHead(kind, options), rows: objects.map((object) => tableRowOf(kind, object, options)) };
}

/** The table without its rows. */
export function tableHead(kind: Printed, options: TableOptions): Shown {
  const definitions = kind.columns.map(({ name, type, format = "", description, priority }) => {
    return { name, type, format, description, priority };
  });
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: options.metadata,
    columnDefinitions: options.hasDefinitions === false ? null : definitions,
  };
}

/** One row. */
export function tableRowOf(kind: Printed, object: KubeObject, options: TableOptions): Shown {
  const cells = cellsOf(kind, object, options.now);
  const included = includedOf(object, options);
  return { cells, ...(included !== undefined && { object: included }) };
}

function cellsOf({ columns }: Printed, object: KubeObject, now: number): unknown[] {
  return columns.map((column) => cellOf(column, object, now));
}

function includedOf(object: KubeObject, { includeObject, version }: TableOptions): object | undefined {
  if (includeObject === "None") return undefined;
  return includeObject === "Object" ? object : partialOf(object, version);
}

/** The metadata alone, as `meta.k8s.io` PartialObjectMetadata. */
export function partialOf({ metadata }: KubeObject, version: "v1" | "v1beta1"): Shown {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata };
}
