import { isApiError } from "../api/api-error.ts";
import type { KubeResource } from "../api/kube-resource.ts";
import { isRecord } from "../api/object.ts";
import { checkDnsSubdomain } from "../api/validation/names.ts";
import { isAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { codeOf, messageOf } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { explainByApi } from "../cluster/explain/explain-by-api.ts";
import type { HttpHandler, ServedAnswer, ServedRequest } from "../host/http-server.ts";
import type { KubeDoor } from "../kube/http/create-kube-door.ts";
import type { KubeClient } from "../kube/port.ts";
import { createExecPermits, isPodName, parseExecPermit } from "./exec-permits.ts";
import { refuse, refuseStranger, SECURITY_HEADERS, showsToken } from "./guard-requests.ts";
import { createLiveFeeds } from "./live-feed.ts";
import { openLog, openTerminal } from "./open-streams.ts";
import { readNodeUse } from "./read-node-use.ts";
import { type PageFiles, servePage } from "./serve-page.ts";

interface DashboardDeps {
  /** Everything is asked with the rights of this client and this door, which are those of one user. */
  readonly client: KubeClient;
  readonly door: KubeDoor;
  readonly clock: Clock;
  readonly random: Random;
  /** A name that nobody can guess. */
  randomName(): string;
}

interface DashboardOptions {
  readonly files: PageFiles;
  /** Who shows it may do here what the client may do. */
  readonly token: string;
  /** The API server, for people. */
  readonly server: string;
  /** The port at which this server listens. */
  port(): number;
}

type Route = (request: ServedRequest) => Promise<ServedAnswer> | ServedAnswer;

const MAX_BODY_BYTES = 64 * 1024;

/**
 * The server of the page: its files, and a closed list of questions that are asked of the API server. Nothing else of the
 * API can be reached through it, and no question changes anything but a terminal, which has its own confirmation.
 */
export function createDashboard(deps: DashboardDeps, options: DashboardOptions): HttpHandler {
  const routes = createRoutes(deps, options);
  const permits = createExecPermits(deps.clock, deps.randomName);

  const grant = async (request: ServedRequest): Promise<ServedAnswer> => {
    const body = await request.readBody(MAX_BODY_BYTES);
    const permit = parseExecPermit(body.toString("utf8"));
    if (permit === undefined) return refuse(400, "This is no pod, container and command.");
    return answerJson({ name: permits.grant(permit) });
  };

  const answer = async (request: ServedRequest): Promise<ServedAnswer> => {
    const { method, path } = request;
    const terminal = /^\/exec\/([\w-]+)$/.exec(path)?.[1];
    if (terminal !== undefined) {
      const permit = permits.take(terminal);
      if (permit === undefined) return refuse(403, "This terminal was not confirmed, or its time is over.");
      return await openTerminal(deps.door, permit, request);
    }
    const file = method === "GET" ? servePage(options.files, path) : undefined;
    if (file !== undefined) return file;
    const isExec = path === "/exec";
    const route = isExec ? grant : routes.get(path);
    if (route === undefined) return refuse(404, "There is no such page.");
    if (!showsToken(request, options.token)) return refuse(401, "This link is not valid any more.");
    if (method !== (isExec ? "POST" : "GET")) return refuse(405, "This is not how this page is asked.");
    return await route(request);
  };

  return async (request) => {
    const given = refuseStranger(request, options.port()) ?? (await answer(request).catch(explainFailure));
    return { ...given, headers: { ...SECURITY_HEADERS, ...given.headers } };
  };
}

function createRoutes(
  { client, door, clock, random }: DashboardDeps,
  { server }: DashboardOptions,
): Map<string, Route> {
  const feeds = createLiveFeeds({ client, clock, random });
  return new Map<string, Route>([
    ["/live", () => feeds() ?? refuse(503, "Too many pages are open.")],
    ["/whoami", async () => answerJson({ server, user: await readUser(client) })],
    [
      "/usage",
      async ({ query, signal }) => {
        const node = query.get("node") ?? "";
        if (checkDnsSubdomain(node).length > 0) return refuse(400, "node: this is no name of a node.");
        return answerJson(await readNodeUse({ client, now: () => clock.now() }, node, signal));
      },
    ],
    [
      "/explain",
      async ({ query }) => {
        const asked = podOf(query);
        return asked === undefined ? refusePod() : answerJson(await explainByApi(client, asked));
      },
    ],
    [
      "/logs",
      async (request) => {
        const asked = podOf(request.query);
        return asked === undefined ? refusePod() : await openLog(door, asked, request);
      },
    ],
  ]);
}

const refusePod = () => refuse(400, "namespace, name: these are no names of a pod.");

function podOf(query: URLSearchParams): { namespace: string; name: string } | undefined {
  const [namespace = "", name = ""] = [query.get("namespace") ?? "", query.get("name") ?? ""];
  return isPodName(namespace, name) ? { namespace, name } : undefined;
}

const SELF_REVIEWS: KubeResource<unknown> = {
  ...{ group: "authentication.k8s.io", version: "v1", plural: "selfsubjectreviews", kind: "SelfSubjectReview" },
  ...{ namespaced: false, read: (value) => value },
};

/** As whom the API server knows the client; "" where it does not tell. */
async function readUser(client: Pick<KubeClient, "create">): Promise<string> {
  const question = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: {} };
  const answer = await client.create(SELF_REVIEWS, question).catch(() => undefined);
  const status = isRecord(answer) && isRecord(answer["status"]) ? answer["status"] : {};
  const username = isRecord(status["userInfo"]) ? status["userInfo"]["username"] : undefined;
  return typeof username === "string" ? username : "";
}

function answerJson(value: object): ServedAnswer {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

/** What the API server refuses keeps its status, but 401: that is for a page whose own token has ended. */
function explainFailure(error: unknown): ServedAnswer {
  if (isAbort(error)) throw error;
  if (isApiError(error)) {
    if (error.code !== 401) return refuse(error.code, messageOf(error));
    return refuse(403, `The API server does not know your credentials any more: ${messageOf(error)}`);
  }
  if (codeOf(error) === "not-found") return refuse(404, messageOf(error));
  if (codeOf(error) === "body-too-large") return refuse(413, messageOf(error));
  if (codeOf(error) === "body-in-pieces") return refuse(400, messageOf(error));
  return refuse(502, messageOf(error));
}
