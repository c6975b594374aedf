import type { OutgoingHttpHeaders } from "node:http";
import type { Writable } from "node:stream";
import type { AnswerHeaders } from "../../http-server.ts";

/** The response that an answer is written to, in either version of HTTP. */
export interface AnswerResponse extends Writable {
  readonly headersSent: boolean;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  getHeaderNames(): string[];
  removeHeader(name: string): void;
}

interface AnswerHead {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly isHttp2: boolean;
}

/** These headers are about one connection of HTTP/1.1, and HTTP/2 forbids them. */
const OF_CONNECTIONS = new Set([
  ...["connection", "http2-settings", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"],
]);

/**
 * Sends the head of an answer. Headers from a server behind a proxy, or from the name of a file, may hold values that
 * Node.js refuses. So values are escaped, and a header that may not be repeated is sent once. Returns false, with
 * nothing sent, where Node.js refuses the head even so.
 */
export function sendHead(response: AnswerResponse, { status, headers, isHttp2 }: AnswerHead): boolean {
  const sent = Object.entries(headers).flatMap(([name, values]) => {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || (isHttp2 && OF_CONNECTIONS.has(name.toLowerCase()))) return [];
    return [[name, typeof values === "string" ? escapeValue(name, values) : values.map((v) => escapeValue(name, v))]];
  });
  const all: OutgoingHttpHeaders = Object.fromEntries(sent);
  return tryHead(response, status, all) || tryHead(response, status, withoutRepetitions(all));
}

function tryHead(response: AnswerResponse, status: number, headers: OutgoingHttpHeaders): boolean {
  try {
    response.writeHead(status, headers);
    return true;
  } catch {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    return false;
  }
}

/** Only Node.js knows which headers HTTP/2 allows once. This is only for an answer that Node.js has refused. */
function withoutRepetitions(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const once = Object.entries(headers).map(([name, value]) => {
    return [name, Array.isArray(value) && name.toLowerCase() !== "set-cookie" ? value[0] : value];
  });
  return Object.fromEntries(once);
}

/**
 * A value is a line of Latin-1. Other text is sent as the bytes of its UTF-8, as Go does, and in an address as its
 * escapes.
 */
function escapeValue(name: string, value: string): string {
  if (/^[\t -~\u0080-\u00ff]*$/.test(value)) return value;
  if (name.toLowerCase() !== "location") return Buffer.from(value.replace(/\p{Cc}/gu, " ")).toString("latin1");
  const escapeByte = (byte: number) =>
    byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return Array.from(Buffer.from(value), escapeByte).join("");
}
