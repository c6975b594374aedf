import { findJsonExcess } from "../../api/json-excess.ts";
import { isAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import { createLimiter } from "../../base/limiter.ts";
import { withDeadline } from "../../base/time-limit.ts";
import type { PostAnswer, PostCall } from "../../host/post-call.ts";
import type { ResolveHost } from "../../host/resolve-host.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { findServiceEndpoint } from "./service-endpoint.ts";

/** Where a webhook is, as its configuration says (`WebhookClientConfig`). */
export interface WebhookPlace {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** The authorities that are believed: PEM in base64. Default: those of the machine. */
  readonly caBundle?: string;
}

/**
 * Posts a review to a webhook and resolves with the parsed answer. Rejects with `AbortedError` when the control plane
 * stops, and else with a CodedError `webhook-failed`, whose message says why in upstream's words.
 */
export type CallWebhook = (place: WebhookPlace, review: object, timeoutMs: number) => Promise<unknown>;

interface WebhookClientDeps {
  readonly post: PostCall;
  readonly resolveHost: ResolveHost;
  readonly reader: Pick<ResourceReader, "get">;
  readonly clock: Pick<Clock, "setTimer">;
  /** True for an address to which the endpoints of a service may lead: their author could otherwise name any server. */
  mayReach(address: string): boolean;
  /** Fires when the control plane stops. */
  readonly signal: AbortSignal;
  /** 0…1, exclusive: chooses the endpoint of a service. */
  random(): number;
}

/** An object has three megabytes at most, and a patch of all of it, in base64, a third more. */
const MAX_ANSWER_BYTES = 6 * 1024 * 1024;
/** Twice what the objects of one review hold that is as long as reviews are. */
const MAX_ANSWER_VALUES = 250_000;
/** The start of a refusal is shown, as upstream shows it. */
const MAX_SHOWN = 1_024;
const HTTPS_PORT = 443;
/** So many calls are under way at once; further ones wait, and their time runs. */
const MAX_CALLS = 256;

/** The client of all webhooks. */
export function createWebhookClient(deps: WebhookClientDeps): CallWebhook {
  const limiter = createLimiter(MAX_CALLS);
  return async (place, review, timeoutMs) => {
    const seconds = Math.ceil(timeoutMs / 1000);
    const { server, path } = serverOf(place);
    const url = `https://${server}${path}?timeout=${seconds}s`;
    const post = async (signal: AbortSignal) => await postReview(deps, place, { url: new URL(url), review, signal });
    try {
      const limit = { timeoutMs, signal: deps.signal, what: "the call" };
      const answer = await withDeadline(deps.clock, limit, async (signal) => {
        return await limiter.run(async () => await post(signal), signal);
      });
      return readAnswer(answer);
    } catch (error) {
      if (isAbort(error)) throw error;
      if (codeOf(error) === "webhook-failed") throw error;
      const why = codeOf(error) === "timed-out" ? "context deadline exceeded" : messageOf(error);
      throw failed(`Post ${JSON.stringify(url)}: ${why}`, error);
    }
  };
}

const failed = (message: string, cause?: unknown) => new CodedError("webhook-failed", message, { cause });

function serverOf({ url, service }: WebhookPlace): { server: string; path: string } {
  if (service !== undefined) {
    const { namespace, name, path = "", port = HTTPS_PORT } = service;
    return { server: `${name}.${namespace}.svc:${port}`, path: path.startsWith("/") ? path : `/${path}` };
  }
  if (url === undefined || !URL.canParse(url)) {
    throw failed("webhook configuration must have either service or URL");
  }
  const { host, pathname } = new URL(url);
  return { server: host, path: pathname };
}

async function postReview(
  { post, resolveHost, reader, random, mayReach }: WebhookClientDeps,
  { service, caBundle }: WebhookPlace,
  { url, review, signal }: { url: URL; review: object; signal: AbortSignal },
): Promise<PostAnswer> {
  const serverName = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? HTTPS_PORT : Number(url.port);
  const endpoint =
    service === undefined ? { host: serverName, port } : findServiceEndpoint({ reader, random }, { ...service, port });
  const [address] = await resolveHost(endpoint.host, signal);
  if (address === undefined) throw new Error(`lookup ${endpoint.host}: no such host`);
  if (service !== undefined && !mayReach(address)) throw new Error(`dial tcp ${address}: address not allowed`);
  const text = JSON.stringify(review);
  return await post(
    {
      address,
      port: endpoint.port,
      serverName,
      target: `${url.pathname}${url.search}`,
      headers: {
        host: url.host,
        accept: "application/json, */*",
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(text)),
        "user-agent": "kube-apiserver-admission",
      },
      text,
      ca: caBundle === undefined || caBundle === "" ? undefined : Buffer.from(caBundle, "base64").toString(),
      maxBytes: MAX_ANSWER_BYTES,
    },
    signal,
  );
}

function readAnswer({ status, text }: PostAnswer): unknown {
  if (status < 200 || status > 299) throw failed(describeStatus(status, text));
  const excess = findJsonExcess(text, { maxValues: MAX_ANSWER_VALUES });
  if (excess !== undefined) throw failed(`the answer holds ${excess}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    const shown = text.slice(0, MAX_SHOWN);
    throw failed(`couldn't get version/kind; json parse error: ${messageOf(error)}: ${JSON.stringify(shown)}`, error);
  }
}

/** The words of `NewGenericServerResponse`, in k8s.io/apimachinery/pkg/api/errors. */
function describeStatus(status: number, text: string): string {
  const shown = text.slice(0, MAX_SHOWN).trim();
  const unknown = shown === "" ? "unknown" : shown;
  if (status === 404) return "the server could not find the requested resource";
  if (status === 401) return "the server has asked for the client to provide credentials";
  if (status === 403) return `forbidden: ${unknown}`;
  if (status === 429) return "the server has received too many requests and has asked us to try again later";
  if (status === 503) return "the server is currently unable to handle the request";
  if (status === 504) return "the server was unable to return a response in the time allotted";
  if (status >= 500) {
    return `an error on the server (${JSON.stringify(unknown)}) has prevented the request from succeeding`;
  }
  return `the server responded with the status code ${status} but did not return more information`;
}
