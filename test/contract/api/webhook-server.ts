import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { isRecord } from "../../../src/api/object.ts";
import { issueLoopbackCertificate, type LoopbackCertificates } from "../loopback-certificate.ts";

/** What a webhook is told of, as far as the cases read it. */
export type AdmissionRequest = Readonly<Record<string, unknown>> & { readonly uid: string };

/** The answer of a webhook: the `response` of a review, or what a peer sends that is none. */
export type HookAnswer =
  | { readonly response: object }
  /** The whole body as it stands, after a moment if it is told to wait for one. */
  | { readonly status?: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }
  /** Nothing at all. */
  | "silence"
  /** A body without an end. */
  | "endless";

type AnswerReview = (request: AdmissionRequest) => HookAnswer | Promise<HookAnswer>;

/** A server of webhooks on loopback, with a certificate of an authority of its own. */
export interface WebhookServer {
  /** The `clientConfig` for a path at which `answer` answers. */
  at(path: string, answer: AnswerReview): { readonly url: string; readonly caBundle: string };
  /** How many connections it has taken. */
  readonly connections: number;
  close(): Promise<void>;
}

const ADMISSION = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };

/** `type`: of the reviews that its webhooks answer with; `certificates`: default: new ones. */
export async function startWebhookServer(
  type = ADMISSION,
  certificates?: LoopbackCertificates,
): Promise<WebhookServer> {
  const { authority, serving } = certificates ?? (await issueLoopbackCertificate());
  const answers = new Map<string, AnswerReview>();
  const sockets = new Set<Duplex>();
  let connections = 0;
  const reply = async (path: string, text: string, response: ServerResponse) => {
    const answer = answers.get(path);
    const review: unknown = JSON.parse(text);
    const asked = isRecord(review) && isRequest(review["request"]) ? review["request"] : undefined;
    if (answer === undefined || asked === undefined) response.writeHead(404).end();
    else
      send(await answer(asked), (own) => JSON.stringify({ ...type, response: { uid: asked.uid, ...own } }), response);
  };
  const server = createServer({ cert: serving.certificatePem, key: serving.keyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { pathname } = new URL(request.url ?? "/", "https://hook");
      reply(pathname, Buffer.concat(chunks).toString(), response).catch((error: unknown) =>
        response.destroy(asError(error)),
      );
    });
  });
  server.on("connection", (socket) => {
    connections++;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    at(path, answer) {
      answers.set(path, answer);
      return {
        url: `https://127.0.0.1:${port}${path}`,
        caBundle: Buffer.from(authority.certificatePem).toString("base64"),
      };
    },
    get connections() {
      return connections;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** `textOf` makes a review of a response; the uid is the request's unless the response has one. */
function send(given: HookAnswer, textOf: (own: object) => string, response: ServerResponse): void {
  if (given === "silence") return;
  if (given === "endless") {
    response.writeHead(200, { "content-type": "application/json" });
    const more = () => {
      while (response.writable && response.write(" ".repeat(65_536)));
    };
    response.on("drain", more);
    more();
    return;
  }
  const { status = 200, body, headers } = "response" in given ? { body: textOf(given.response), headers: {} } : given;
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

const isRequest = (value: unknown): value is AdmissionRequest => isRecord(value) && typeof value["uid"] === "string";

/** On a free port of loopback. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

/** The response that allows a request and changes its object. */
export function patched(...operations: readonly object[]): HookAnswer {
  const patch = Buffer.from(JSON.stringify(operations)).toString("base64");
  return { response: { allowed: true, patchType: "JSONPatch", patch } };
}

export const ALLOWED: HookAnswer = { response: { allowed: true } };
