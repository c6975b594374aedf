import { isRecord, type KubeObject } from "../../../api/object.ts";
import { addQuantities } from "../../../api/quantity.ts";
import type { Column } from "../../ports/resource-kind.ts";
import { type ColumnRow, fullColumn, NAME } from "./column.ts";

/** As metrics-server prints nodes, and pods by the sum of their containers. */
export const METRICS_COLUMNS: readonly Column[] = [
  fullColumn(NAME, (object) => object),
  column({ name: "cpu", format: "quantity", description: "How much of the processors is used.", cell: sumOf("cpu") }),
  column({ name: "memory", format: "quantity", description: "The working set.", cell: sumOf("memory") }),
  column({
    name: "Window",
    format: "duration",
    description: "The time over which use of processors is a mean.",
    cell: ({ window }) => String(window),
  }),
];

function column(row: ColumnRow<KubeObject>): Column {
  return fullColumn(row, (object) => object);
}

function sumOf(resource: string): (object: KubeObject) => string {
  return ({ usage, containers }) => {
    const users: unknown[] = Array.isArray(containers) ? containers : [{ usage }];
    const amounts = users.flatMap((user) => {
      const amount = isRecord(user) && isRecord(user["usage"]) ? user["usage"][resource] : undefined;
      return typeof amount === "string" ? [amount] : [];
    });
    return amounts.length === 0 ? "0" : amounts.reduce(addQuantities);
  };
}
