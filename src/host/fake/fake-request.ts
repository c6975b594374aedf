import { Readable } from "node:stream";
import { CodedError } from "../../base/errors.ts";
import type { ServedRequest } from "../http-server.ts";

interface FakeRequest extends Partial<Pick<ServedRequest, "method" | "peer" | "remoteAddress" | "signal">> {
  /** Headers by their lower-case names. With `connection` among them the request asks for an upgrade. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

/** A request as the server hands it to its handler. `target` is path and query; the path is taken as it is. */
export function createFakeRequest(
  target: string,
  {
    method = "GET",
    peer,
    remoteAddress = "192.0.2.1",
    signal = new AbortController().signal,
    headers = {},
    body,
  }: FakeRequest = {},
): ServedRequest {
  const [path = "", rawQuery = ""] = target.split("?", 2);
  const all = Object.entries(headers).map(([name, values]) => [name, [values].flat()] as const);
  const byName = new Map(all);
  return {
    ...{ method, path, rawQuery, query: new URLSearchParams(rawQuery), peer, remoteAddress, signal },
    header: (name) => byName.get(name) ?? [],
    headersBeginning: (prefix) => Object.fromEntries(all.filter(([name]) => name.startsWith(prefix))),
    vouch: () => undefined,
    isUpgrade: byName.has("connection"),
    async readBody(maxBytes) {
      const bytes = Buffer.from(body ?? "");
      if (bytes.length > maxBytes) throw new CodedError("body-too-large", `the body is longer than ${maxBytes} bytes`);
      return await Promise.resolve(bytes);
    },
    bodyStream: () => (body === undefined ? undefined : Readable.from([Buffer.from(body)])),
  };
}
