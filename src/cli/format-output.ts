import { stringify } from "yaml";

/** How programs get what a command tells. */
export type OutputFormat = "json" | "yaml";

/** Formats a value for programs, without a line break at its end. What is there twice is written twice. */
export function formatOutput(value: object, format: OutputFormat): string {
  if (format === "json") return JSON.stringify(value, undefined, 2);
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd();
}
