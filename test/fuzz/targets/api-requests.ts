import type { IncomingMessage } from "node:http";
import type { ApiClient } from "../../contract/api/client.ts";
import { promise, type RunningTarget } from "../target.ts";
import { startApiServer } from "./api-server.ts";

/** What a client asks for: the first line, headers, an empty line, and the body. */
interface RequestText {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const READ_MS = 500;
const OTHERS_EVERY = 16;
const HEADER = /^([a-z-]{1,40}): ?([\x20-\x7e]*)$/;
/** Set by the client itself. */
const CLIENT_HEADERS = new Set([
  "connection",
  "content-length",
  "transfer-encoding",
  "host",
  "expect",
  "upgrade",
  "trailer",
  "te",
]);
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Sends requests to a real API server, all writes as dry runs, so that one input does not change what the next meets. */
export async function setUpRequests(): Promise<RunningTarget> {
  const server = await startApiServer();
  let runs = 0;
  return {
    async run(input) {
      const request = parseRequest(input);
      if (request === undefined) return;
      const status = await send(server.admin, request);
      server.requireNoBug();
      promise(status === undefined || (status >= 200 && status < 600), `answered with ${status}`);
      if (runs++ % OTHERS_EVERY === 0) await server.requireOthersServed();
    },
    settle: async () => await server.requireOthersServed(),
    close: server.close,
  };
}

function parseRequest(input: Buffer): RequestText | undefined {
  const end = input.indexOf("\n\n");
  const [first = "", ...lines] = input.toString("latin1", 0, end < 0 ? input.length : end).split("\n");
  const [method = "", path = ""] = first.split(" ", 2);
  if (!METHODS.has(method) || !path.startsWith("/")) return undefined;
  const target = path.replaceAll(/[^\x21-\x7e]|#/g, (character) => encodeURIComponent(character));
  const pairs = lines.flatMap((line) => {
    const [, name = "", value = ""] = HEADER.exec(line) ?? [];
    return name === "" || CLIENT_HEADERS.has(name) ? [] : [[name, value] as const];
  });
  const body = end < 0 ? Buffer.alloc(0) : input.subarray(end + 2);
  return { method, target: withDryRun(method, target), headers: Object.fromEntries(pairs), body };
}

function withDryRun(method: string, target: string): string {
  if (method === "GET" || method === "HEAD" || /[?&]dryRun=All(&|$)/.test(target)) return target;
  const [path = "", query = ""] = target.split("?", 2);
  const kept = query.split("&").filter((part) => part !== "" && !/^dry/i.test(part));
  return `${path}?${[...kept, "dryRun=All"].join("&")}`;
}

/** The status; undefined where the client itself refuses to send such a thing, or the server hangs up. */
async function send(client: ApiClient, { method, target, headers, body }: RequestText): Promise<number | undefined> {
  const payload = body.length > 0 && method !== "GET" && method !== "HEAD" ? body : undefined;
  try {
    const response = await client.open(method, target, payload, { headers });
    await readSome(response);
    return response.statusCode;
  } catch {
    return undefined;
  }
}

/** A watch has no end: what comes in a moment is enough. */
async function readSome(response: IncomingMessage): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => response.destroy(), READ_MS);
    response.resume();
    response.once("error", () => undefined);
    response.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
