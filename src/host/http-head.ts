import { STATUS_CODES } from "node:http";

/** The head of an answer in HTTP/1.1, for a connection that was taken over; a list is a header of several lines. */
export function formatHttpHead(status: number, headers: Readonly<Record<string, string | readonly string[]>>): string {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}`),
  );
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, ...lines, "", ""].join("\r\n");
}
