import type { APIService } from "../../../api/gen/types.ts";
import { AGE, columnsOf, NAME } from "./column.ts";

export const API_SERVICE_COLUMNS = columnsOf("APIService", [
  NAME,
  {
    name: "Service",
    description: "The service to which requests for the group and version go, or that this API server answers.",
    cell: ({ spec }) => (spec?.service ? `${spec.service.namespace ?? ""}/${spec.service.name ?? ""}` : "Local"),
  },
  { name: "Available", description: "Whether it answers.", cell: availabilityText },
  AGE,
]);

function availabilityText({ status }: APIService): string {
  const condition = status?.conditions?.find(({ type }) => type === "Available");
  if (condition === undefined) return "Unknown";
  return condition.status === "True" ? "True" : `${condition.status} (${condition.reason ?? ""})`;
}
