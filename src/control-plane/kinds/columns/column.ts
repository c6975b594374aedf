import type { ObjectMeta } from "../../../api/gen/types.ts";
import { type KubeObject, type TypedKinds, typed } from "../../../api/object.ts";
import { formatHumanDuration } from "../../../base/human-duration.ts";
import type { Cell, CellAt, Column } from "../../ports/resource-kind.ts";

/** A column without its defaults, which are: a string, always shown. */
export interface ColumnRow<Object> {
  name: string;
  type?: Column["type"];
  format?: Exclude<Column["format"], undefined>;
  description: string;
  /** Shown with `-o wide` only. */
  wide?: boolean;
  cell(object: Object): Cell | CellAt;
}

interface WithMetadata {
  readonly metadata?: Readonly<ObjectMeta>;
}

/** The columns of a kind, whose cells see the fields typed. */
export function columnsOf<Kind extends keyof TypedKinds>(
  kind: Kind,
  rows: ReadonlyArray<ColumnRow<TypedKinds[Kind]>>,
): readonly Column[] {
  return rows.map((row) => fullColumn(row, (object) => typed(kind, object)));
}

/** The column with its defaults, and with a cell that takes any object. */
export function fullColumn<Object>(row: ColumnRow<Object>, read: (object: KubeObject) => Object): Column {
  const { name, type = "string", format, description, wide = false } = row;
  return {
    name,
    type,
    ...(format && { format }),
    description,
    priority: wide ? 1 : 0,
    cell: (object) => row.cell(read(object)),
  };
}

export const NAME: ColumnRow<WithMetadata> = {
  name: "Name",
  format: "name",
  description: "What the object is called; unique among those of its kind and namespace.",
  cell: nameOf,
};

export const AGE: ColumnRow<WithMetadata> = {
  name: "Age",
  description: "How long ago the object was created.",
  cell: ({ metadata }) => ageOf(metadata?.creationTimestamp),
};

/** The column that replaces the age, for kinds without columns of their own. */
export const CREATED_AT: ColumnRow<WithMetadata> = {
  name: "Created At",
  type: "date",
  description: "When the object was created.",
  cell: ({ metadata }) => metadata?.creationTimestamp ?? null,
};

/** The object's name; empty while it has none. */
export function nameOf({ metadata }: WithMetadata): string {
  return metadata?.name ?? "";
}

/** The age since the time: `5m`, or `<unknown>` without a time. */
export function ageOf(time: string | undefined): string | ((now: number) => string) {
  if (time === undefined) return "<unknown>";
  const since = Date.parse(time);
  return (now) => formatHumanDuration(now - since);
}
