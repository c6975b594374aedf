import type { PriorityLevelConfiguration, QueuingConfiguration } from "../../../api/gen/types.ts";
import { AGE, type ColumnRow, columnsOf, NAME } from "./column.ts";

export const FLOW_SCHEMA_COLUMNS = columnsOf("FlowSchema", [
  NAME,
  {
    name: "PriorityLevel",
    description: "The level that its requests belong to.",
    cell: ({ spec }) => spec?.priorityLevelConfiguration.name ?? "",
  },
  {
    name: "MatchingPrecedence",
    description: "The lower, the earlier it is asked whether a request is its own.",
    cell: ({ spec }) => spec?.matchingPrecedence ?? 0,
  },
  {
    name: "DistinguisherMethod",
    description: "What tells its flows apart.",
    cell: ({ spec }) => spec?.distinguisherMethod?.type ?? "<none>",
  },
  AGE,
  {
    name: "MissingPL",
    description: "Whether its level is missing.",
    cell: ({ status }) => status?.conditions?.find(({ type }) => type === "Dangling")?.status ?? "?",
  },
]);

export const PRIORITY_LEVEL_COLUMNS = columnsOf("PriorityLevelConfiguration", [
  NAME,
  { name: "Type", description: "Whether its requests are limited.", cell: ({ spec }) => spec?.type ?? "" },
  {
    name: "NominalConcurrencyShares",
    description: "Its part of the requests that are served at a time.",
    cell: ({ spec }) => (spec?.limited ? (spec.limited.nominalConcurrencyShares ?? 0) : "<none>"),
  },
  queuingColumn("Queues", "How many queues it has.", "queues"),
  queuingColumn("HandSize", "How many queues a flow chooses from.", "handSize"),
  queuingColumn("QueueLengthLimit", "How many requests a queue takes.", "queueLengthLimit"),
  AGE,
]);

function queuingColumn(
  name: string,
  description: string,
  field: keyof QueuingConfiguration,
): ColumnRow<PriorityLevelConfiguration> {
  return { name, description, cell: ({ spec }) => spec?.limited?.limitResponse?.queuing?.[field] ?? "<none>" };
}
