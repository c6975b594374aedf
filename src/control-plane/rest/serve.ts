import { ApiError, isApiError } from "../../api/api-error.ts";
import { isAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { AnswerHeaders, HttpHandler, ServedAnswer, ServedRequest } from "../../host/http-server.ts";
import { AUTHENTICATED } from "../access/authenticate.ts";
import { accessDeniedError } from "../access/denial.ts";
import type { RequestUsers } from "../access/request-user.ts";
import type { AuditTrail, RequestAudit } from "../audit/request-audit.ts";
import type { Admitted, FlowControl } from "../flow-control/flow-control.ts";
import type { AccessAttributes, Authorize } from "../ports/request.ts";
import type { User } from "../ports/user.ts";
import { encodeValue } from "./encode.ts";
import { acceptedPlainForm } from "./media-type.ts";
import type { RequestObserver } from "./observe-requests.ts";
import { type PathTarget, parseRequestTarget, type RequestTarget } from "./request-path.ts";
import { checkTimeout } from "./request-timeout.ts";
import { isLasting, listWorkOf } from "./request-work.ts";
import { type ResourceDeps, serveResource } from "./serve-resource.ts";

/** Answers a path that is no resource: health, version, discovery, documents. Undefined for an unknown path. */
export type ServePath = (request: ServedRequest, target: PathTarget, user: User) => Promise<ServedAnswer | undefined>;

interface ServeDeps {
  /** A request without any credentials is the anonymous user's. */
  users: RequestUsers;
  /** Records requests. Default: nobody asks for a record. */
  audit?: AuditTrail | undefined;
  authorize: Authorize;
  flowControl: Pick<FlowControl, "classify" | "enter">;
  /** Passes requests for the groups of other API servers on; undefined for those that are answered here. */
  forward(request: ServedRequest, target: RequestTarget, user: User): Promise<ServedAnswer> | undefined;
  resources: ResourceDeps;
  servePath: ServePath;
  observer: RequestObserver;
  /** Told of each request before anything is done for it. */
  noteRequest(request: ServedRequest): void;
  clock: Clock;
  log: Log;
  newRequestId(): string;
}

/** The number of warnings that the headers of an answer hold at most; more are left out. */
const MAX_WARNINGS = 20;

/** The API server as a function of a request: it authenticates, authorizes and then answers. */
export function createApiHandler(deps: ServeDeps): HttpHandler {
  return async (request) => {
    deps.noteRequest(request);
    const startMs = deps.clock.monotonic();
    const warnings = new Set<string>();
    const target = parseRequestTarget(request.method, request.path, request.query);
    const requestId = deps.newRequestId();
    const headers: Record<string, string> = { "audit-id": requestId };
    const asked = {
      ...{ target, requestId },
      warn: (message: string) => warnings.add(message),
      tag: (more: Readonly<Record<string, string>>) => Object.assign(headers, more),
    };
    const answer = await answerSafely(deps, request, asked);
    deps.observer.observe(target, answer.status, (deps.clock.monotonic() - startMs) / 1000);
    if (answer.status >= 400) recordRefusal(deps.log, request, answer.status);
    return withHeaders(answer, [...warnings], headers);
  };
}

/** Logs a request that was refused, for those who ask why a client does not get on. */
function recordRefusal(log: Log, request: ServedRequest, code: number): void {
  const { method, path, query } = request;
  const [agent = ""] = request.header("user-agent");
  log.debug("a request was refused", { method, path, query: query.toString(), code, agent });
}

/** The answer to a client that has left, by the code that proxies write into their logs then. */
const CLIENT_GONE: ServedAnswer = { status: 499, headers: {}, body: "" };

interface Asked {
  readonly target: RequestTarget;
  readonly requestId: string;
  /** Adds headers to whatever is answered. */
  tag(headers: Readonly<Record<string, string>>): void;
  warn(message: string): void;
}

async function answerSafely(deps: ServeDeps, request: ServedRequest, asked: Asked): Promise<ServedAnswer> {
  const auditId = asked.requestId;
  const user = provenUser(deps, request);
  if ("refusal" in user) {
    const answer = encodeFailure(deps, request, user.refusal);
    deps.audit?.refuse(request, { auditId, attributes: attributesOf(request, asked.target, NOBODY) }, answer);
    return answer;
  }
  const attributes = attributesOf(request, asked.target, user);
  const audit = deps.audit?.begin(request, { auditId, attributes });
  try {
    const served = await answer(deps, request, { ...asked, user, audit });
    return audit?.answer(served) ?? served;
  } catch (error) {
    const failed = encodeFailure(deps, request, error);
    if (audit === undefined) return failed;
    if (isApiError(error) || failed === CLIENT_GONE) return audit.answer(failed);
    audit.fail(error);
    return failed;
  }
}

/** Whoever failed to prove who they are: no rule about users is about them. */
const NOBODY: User = { username: "", groups: [] };

function provenUser({ users }: ServeDeps, request: ServedRequest): User | { readonly refusal: unknown } {
  try {
    return users.authenticate(request);
  } catch (refusal) {
    return { refusal };
  }
}

function encodeFailure(deps: ServeDeps, request: ServedRequest, error: unknown): ServedAnswer {
  if (isApiError(error)) return encodeError(error, request);
  if (isAbort(error) && request.signal.aborted) return CLIENT_GONE;
  deps.log.error("a request failed in a way that is a bug", {
    method: request.method,
    path: request.path,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  return encodeError(new ApiError("InternalError", `Internal error occurred: ${messageOf(error)}`), request);
}

interface Proven extends Asked {
  /** Whoever sent the request, before it impersonates another. */
  readonly user: User;
  readonly audit: RequestAudit | undefined;
}

async function answer(deps: ServeDeps, request: ServedRequest, proven: Proven): Promise<ServedAnswer> {
  const { target, audit } = proven;
  checkTimeout(request, target);
  if (proven.user.groups.includes(AUTHENTICATED)) request.vouch(proven.user.username);
  const user = deps.users.impersonate(proven.user, request);
  if (user !== proven.user) audit?.impersonate(user);
  const attributes = attributesOf(request, target, user);
  const admitted = await admit(deps, request, { attributes, proven });
  try {
    const served = await answerAdmitted(deps, request, { ...proven, user, attributes });
    return admitted?.leaveAfter(served) ?? served;
  } catch (error) {
    admitted?.leave();
    throw error;
  }
}

/** Waits until the priority level of the request lets it in; undefined where nothing limits it. */
async function admit(
  { flowControl, resources }: ServeDeps,
  { query, signal }: ServedRequest,
  { attributes: asked, proven }: { attributes: AccessAttributes; proven: Proven },
): Promise<Admitted | undefined> {
  const flow = isLasting(asked) ? undefined : flowControl.classify(asked);
  if (flow === undefined) return undefined;
  proven.tag({
    "x-kubernetes-pf-flowschema-uid": flow.schema.uid,
    "x-kubernetes-pf-prioritylevel-uid": flow.level.uid,
  });
  return await flowControl.enter({ flow, asked, signal, ...listWorkOf(resources, proven.target, query) });
}

async function answerAdmitted(
  deps: ServeDeps,
  request: ServedRequest,
  { target, warn, audit, user, attributes }: Proven & { attributes: AccessAttributes },
): Promise<ServedAnswer> {
  const decision = deps.authorize(attributes);
  audit?.annotate("authorization.k8s.io/decision", decision.allowed ? "allow" : "forbid");
  audit?.annotate("authorization.k8s.io/reason", decision.reason);
  if (!decision.allowed) throw accessDeniedError(attributes, decision.reason);
  const forwarded = deps.forward(request, target, user);
  if (forwarded !== undefined) return await forwarded;
  if (target.isResource) return serveResource(deps.resources, { request, target, user, warn, audit });
  const served = await deps.servePath(request, target, user);
  if (served === undefined) throw new ApiError("NotFound", "the server could not find the requested resource");
  return served;
}

function attributesOf(request: ServedRequest, target: RequestTarget, user: User): AccessAttributes {
  if (!target.isResource) return { user, verb: target.verb, path: target.path };
  const { verb, group, version, resource, subresource, namespace, name } = target;
  const fieldSelector = request.query.get("fieldSelector") ?? "";
  const access = { user, verb, group, version, resource, subresource, namespace, name };
  return fieldSelector === "" ? access : { ...access, fieldSelector };
}

function encodeError(error: ApiError, request: ServedRequest): ServedAnswer {
  const answer = encodeValue(error.code, error.status, acceptedPlainForm(request.header("accept").join(",")));
  const { retryAfterSeconds } = error.details;
  const retry = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { ...answer, headers: { ...answer.headers, ...retry } };
}

/** Node writes headers as Latin-1: the bytes of UTF-8, given as Latin-1, arrive as the UTF-8 that clients expect. */
function headerText(text: string): string {
  return Buffer.from(text.replaceAll("\u007f", "\\u007f")).toString("latin1");
}

function withHeaders(answer: ServedAnswer, warnings: readonly string[], own: AnswerHeaders): ServedAnswer {
  const unique = [...new Set(warnings)].slice(0, MAX_WARNINGS);
  const warning = unique.map((message) => `299 - ${headerText(JSON.stringify(message))}`);
  return {
    ...answer,
    headers: {
      "cache-control": "no-cache, private",
      ...answer.headers,
      ...own,
      ...(warning.length > 0 && { warning }),
    },
  };
}
