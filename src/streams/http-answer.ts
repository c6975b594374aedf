import { formatHttpHead } from "../host/http-head.ts";

/** An answer of HTTP/1.1 after which the connection ends; with a text for its body, as Go's `http.Error` writes one. */
export function formatAnswer(status: number, headers: Readonly<Record<string, string>>, text: string): string {
  const body = `${text}\n`;
  const type = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return `${formatHead(status, { ...type, ...headers, "content-length": String(Buffer.byteLength(body)) })}${body}`;
}

/** What comes before a body that ends with the connection, or has a length among its headers. */
export function formatHead(status: number, headers: Readonly<Record<string, string | readonly string[]>>): string {
  return formatHttpHead(status, { ...headers, connection: "close" });
}
