import { ApiError, badRequestError, forbiddenError } from "../../api/api-error.ts";
import { formatFieldError } from "../../api/field-error.ts";
import { apiVersionOf, isKubeObject, isRecord, type KubeObject } from "../../api/object.ts";
import { hasProtobufForm } from "../../api/protobuf/encode-protobuf.ts";
import { invalid } from "../../api/validation/problems.ts";
import { sleep } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { ServedAnswer, ServedRequest } from "../../host/http-server.ts";
import { accessDeniedError } from "../access/denial.ts";
import type { RequestAudit } from "../audit/request-audit.ts";
import type { ComputedObjects } from "../ports/computed-objects.ts";
import type { ConnectHandler } from "../ports/connect.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { Authorize } from "../ports/request.ts";
import { groupResource, type ResourceKind, type Subresource, type Verb } from "../ports/resource-kind.ts";
import type { User } from "../ports/user.ts";
import { admitAction } from "../registry/admit.ts";
import { createObject } from "../registry/create.ts";
import { type PatchType, patchObject } from "../registry/patch.ts";
import { getObject, listObjects } from "../registry/read.ts";
import type { RegistryDeps } from "../registry/registry-deps.ts";
import { deleteObject } from "../registry/remove.ts";
import type { RequestContext } from "../registry/request-context.ts";
import { selectionOf } from "../registry/selection.ts";
import { showAll } from "../registry/shown.ts";
import { updateObject } from "../registry/update.ts";
import { connectOptionsOf } from "./connect-options.ts";
import { type AnswerForm, encodeList, encodeObject, encodeStored, encodeValue } from "./encode.ts";
import { acceptedForm } from "./media-type.ts";
import { deleteOptionsOf, listQueryOf, refuseForce, writeQueryOf } from "./query-options.ts";
import { contentTypeOf, readParsedBody, syntaxOf } from "./request-body.ts";
import type { ResourceTarget } from "./request-path.ts";
import { serveComputed } from "./serve-computed.ts";
import { serveWatch, type WatchDeps } from "./serve-watch.ts";

/** A request for a resource, authenticated and allowed. */
interface ResourceRequest {
  readonly request: ServedRequest;
  readonly target: ResourceTarget;
  readonly user: User;
  /** The record of the request; undefined where there is none. */
  readonly audit?: RequestAudit | undefined;
  warn(message: string): void;
}

/** A subresource that is an action and no part of its object: `binding`, `eviction`, `token`, `scale`. */
export type SubresourceHandler = (call: SubresourceCall) => Promise<SubresourceAnswer>;

export interface SubresourceCall {
  readonly kind: ResourceKind;
  readonly target: ResourceTarget;
  readonly context: RequestContext;
  /** The parsed body, undefined for GET. */
  readonly body: unknown;
  readonly query: URLSearchParams;
  /** For PATCH: how the body says what it changes. */
  readonly patchType: PatchType | undefined;
  /** True where an apply takes over what others own. */
  readonly force: boolean;
}

/** An object, or the text of an answer that is no object. */
interface SubresourceAnswer {
  readonly status: number;
  readonly value: unknown;
}

export interface ResourceDeps {
  readonly registry: RegistryDeps;
  readonly clock: Clock;
  /** Told of each request again when its body is there, because other requests were served meanwhile. */
  noteRequest(request: ServedRequest): void;
  readonly watch: WatchDeps;
  /** By group resource and subresource: `pods/binding`, or `scale` for whatever has it; create-only kinds have "" as theirs: `tokenreviews.authentication.k8s.io/`. */
  readonly handlers: ReadonlyMap<string, SubresourceHandler>;
  /** By group resource and subresource, too: the handlers that lead to a node or a pod. */
  readonly connects: ReadonlyMap<string, ConnectHandler>;
  /** By group resource: the kinds whose objects are made for those who read them. */
  readonly computed: ReadonlyMap<string, ComputedObjects>;
  /** Asked again when an update or apply turns out to be a creation. */
  readonly authorize: Authorize;
}

const PATCH_TYPES: ReadonlyMap<string, PatchType> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
  ["application/apply-patch+yaml", "apply"],
]);

/** Answers a request for a resource. Throws an ApiError for each failure. */
export async function serveResource(deps: ResourceDeps, asked: ResourceRequest): Promise<ServedAnswer> {
  const kind = deps.registry.kinds.find(asked.target.group, asked.target.version, asked.target.resource);
  if (kind === undefined) throw noSuchResource();
  const { deprecation } = kind.strategy;
  if (deprecation !== undefined) asked.warn(deprecation);
  const call = { ...asked, target: targetInScope(kind, asked.target) };
  const { target } = call;
  const connect = deps.connects.get(`${groupResource(kind)}/${target.subresource}`);
  if (connect !== undefined && target.name !== "") {
    await admitConnection(deps, kind, call);
    return connectTo(deps, connect, call);
  }
  // One slash at the end is accepted.
  if (target.rest !== "" && target.rest !== "/") throw noSuchResource();
  const ownHandler = deps.handlers.get(`${groupResource(kind)}/${target.subresource}`);
  const handler = ownHandler ?? deps.handlers.get(target.subresource);
  // Reviews, bindings, evictions and tokens are answers to a question; a scale, which any kind may have, is an object.
  const wanted = wantedForm(call, kind, { now: deps.clock.now(), table: ownHandler === undefined });
  if (target.subresource === "") {
    if (!isServed(kind.verbs, target.verb) || isMisplaced(kind, target)) throw notAllowed();
    const computed = deps.computed.get(groupResource(kind));
    if (computed) return await serveComputed(computed, { kind, ...call, wanted, pause: pauseOf(deps.clock) });
    return handler ? serveHandler(deps, handler, { kind, call, wanted }) : serveObject(deps, kind, call, { wanted });
  }
  const subresource = kind.subresources.find(({ name }) => name === target.subresource);
  if (subresource === undefined || target.name === "") throw noSuchResource();
  if (!isServed(subresource.verbs, target.verb)) throw notAllowed();
  if (handler) return serveHandler(deps, handler, { kind, call, wanted });
  return serveObject(deps, kind, call, { wanted, subresource });
}

async function admitConnection(
  { registry }: ResourceDeps,
  kind: ResourceKind,
  { request, target, user, warn, audit }: ResourceRequest,
): Promise<void> {
  const { subresource, namespace, name } = target;
  // Only webhooks of users have a say in connections.
  const admission = registry.admission.filter(({ forRequest }) => forRequest?.() !== undefined);
  const object = connectOptionsOf(kind, target, request.query);
  if (admission.length === 0 || object === undefined) return;
  const asked = { kind, subresource, namespace, name, user, object, current: undefined, dryRun: false };
  const told = { warn, annotate: audit?.annotate };
  await admitAction({ ...registry, admission }, { operation: "CONNECT", ...asked, ...told });
}

async function connectTo(
  { authorize }: ResourceDeps,
  connect: ConnectHandler,
  { request, target, user }: ResourceRequest,
): Promise<ServedAnswer> {
  const { isResource: _resource, rest, ...access } = target;
  const { group, resource, namespace, name } = access;
  return await connect({
    request,
    namespace,
    name,
    rest,
    requireVerb(verb) {
      if (verb === access.verb) return;
      const { allowed, reason } = authorize({ ...access, user, verb });
      // The message is the reason alone, as in pkg/registry/core/pod/rest/authorize.go.
      if (!allowed) throw forbiddenError({ group, resource }, name, reason);
    },
  });
}

/**
 * A namespace counts as being in itself while the request is authorized, so that its own roles apply to it; it is
 * stored in none. Throws NotFound for other kinds that are in no namespace and are asked for in one.
 */
function targetInScope(kind: ResourceKind, target: ResourceTarget): ResourceTarget {
  if (kind.namespaced || target.namespace === "") return target;
  if (groupResource(kind) !== "namespaces" || target.namespace !== target.name) throw noSuchResource();
  return { ...target, namespace: "" };
}

function isServed(verbs: readonly Verb[], verb: string): boolean {
  return verbs.some((served) => served === verb);
}

/** Objects are created in a collection and changed one by one. A collection is deleted within one namespace. */
function isMisplaced({ namespaced }: ResourceKind, { verb, namespace, name }: ResourceTarget): boolean {
  if (verb === "deletecollection") return namespaced && namespace === "";
  return verb === "create" ? name !== "" : (verb === "update" || verb === "patch") && name === "";
}

function noSuchResource(): ApiError {
  return new ApiError("NotFound", "the server could not find the requested resource");
}

function notAllowed(): ApiError {
  return new ApiError("MethodNotAllowed", "the server does not allow this method on the requested resource");
}

function wantedForm(
  { request, target }: ResourceRequest,
  kind: ResourceKind,
  { now, table }: { now: number; table: boolean },
): AnswerForm {
  // No part of a custom resource is given in protobuf, not even its scale, as upstream.
  const protobuf = hasProtobufForm({ apiVersion: apiVersionOf(kind), kind: kind.kind });
  const offer = { protobuf, stream: target.verb === "watch", table };
  const accept = request.header("accept").join(",");
  const form = acceptedForm(accept, offer);
  return { form, includeObject: form.as === "Table" ? includedObject(request.query) : "Metadata", now };
}

function includedObject(query: URLSearchParams): AnswerForm["includeObject"] {
  const include = query.get("includeObject") || "Metadata";
  if (include === "None" || include === "Object" || include === "Metadata") return include;
  const detail = "must be 'Metadata', 'Object', 'None', or empty";
  const problem = formatFieldError(invalid("includeObject", include, detail));
  throw badRequestError(`Unable to convert to Table as requested: ${problem}`);
}

async function serveObject(
  deps: ResourceDeps,
  kind: ResourceKind,
  call: ResourceRequest,
  { wanted, subresource }: { wanted: AnswerForm; subresource?: Subresource },
): Promise<ServedAnswer> {
  const { verb } = call.target;
  switch (verb) {
    case "get":
      return await answerStored(200, kind, getObject(deps.registry.store, kind, call.target), wanted);
    case "list":
    case "watch":
      return serveMany(deps, kind, call, wanted);
    case "create":
      return serveCreate(deps, kind, call, wanted);
    case "update":
    case "patch":
      return serveChange(deps, kind, call, { wanted, subresource });
    case "delete":
      return serveDelete(deps, kind, call, wanted);
    case "deletecollection":
      return serveDeleteAll(deps, kind, call, wanted);
    default:
      throw notAllowed();
  }
}

async function serveMany(
  deps: ResourceDeps,
  kind: ResourceKind,
  { request, target }: ResourceRequest,
  wanted: AnswerForm,
): Promise<ServedAnswer> {
  const isWatch = target.verb === "watch";
  const given = listQueryOf(request.query, { isWatch });
  // A watch of one object by its path is a watch with a selector.
  const named = [given.fieldSelector, `metadata.name=${target.name}`].filter((part) => part !== "").join(",");
  const query = target.name === "" ? given : { ...given, fieldSelector: named };
  const { namespace } = target;
  if (!isWatch) {
    const listed = await listObjects(deps.registry.store, { kind, namespace, ...query });
    return await encodeList(listed.kind, listed, wanted, pauseOf(deps.clock));
  }
  // Selectors are checked before the answer begins to stream.
  selectionOf(kind, { label: query.labelSelector, field: query.fieldSelector });
  return serveWatch(deps.watch, { kind, namespace, query, wanted });
}

/** Lets the event loop serve other requests: a timer of zero fires after them. */
const pauseOf = (clock: Pick<Clock, "setTimer">) => async () => await sleep(clock, 0);

const bodyWork = ({ clock, noteRequest }: ResourceDeps) => ({ pause: pauseOf(clock), noteRequest });

function contextOf(call: ResourceRequest): RequestContext & ReturnType<typeof writeQueryOf> {
  const { request, target, user, warn, audit } = call;
  const userAgent = request.header("user-agent")[0] ?? "";
  const options = writeQueryOf(request.query, { verb: target.verb, userAgent });
  return { user, userAgent, warn, annotate: audit?.annotate, ...options };
}

/** The parsed body, and the keys that its text has twice: decoding reports them besides its own warnings. */
async function readBody(
  deps: ResourceDeps,
  { request, audit }: ResourceRequest,
): Promise<{ body: unknown; duplicates: readonly string[] }> {
  const { value, duplicates } = await readParsedBody(request, syntaxOf(contentTypeOf(request)), bodyWork(deps));
  if (value === undefined) throw badRequestError("the body of the request is empty: an object is expected");
  audit?.body(value);
  return { body: value, duplicates };
}

async function readCheckedBody(deps: ResourceDeps, call: ResourceRequest, context: RequestContext): Promise<unknown> {
  const { body, duplicates } = await readBody(deps, call);
  reportDuplicates(duplicates, context);
  return body;
}

function reportDuplicates(duplicates: readonly string[], { fieldValidation, warn }: RequestContext): void {
  if (duplicates.length === 0 || fieldValidation === "Ignore") return;
  if (fieldValidation === "Strict") throw badRequestError(`strict decoding error: ${duplicates.join(", ")}`);
  for (const duplicate of duplicates) warn(duplicate);
}

async function serveCreate(
  deps: ResourceDeps,
  kind: ResourceKind,
  call: ResourceRequest,
  wanted: AnswerForm,
): Promise<ServedAnswer> {
  const options = contextOf(call);
  const { body, duplicates } = await readBody(deps, call);
  const context = { ...options, duplicates };
  const { namespace } = call.target;
  if (kind.namespaced && namespace === "") throw notAllowed();
  const stored = await createObject(deps.registry, { kind, namespace, body, context });
  return await answerStored(201, kind, stored, wanted);
}

/** The answer with an object of the store, which is shown in the version that was asked for. */
async function answerStored(
  status: number,
  kind: ResourceKind,
  stored: StoredObject,
  wanted: AnswerForm,
): Promise<ServedAnswer> {
  const { kind: shownKind, items } = await showAll(kind, [stored]);
  return encodeStored(status, shownKind, items[0] ?? stored, wanted);
}

async function serveChange(
  deps: ResourceDeps,
  kind: ResourceKind,
  call: ResourceRequest,
  { wanted, subresource }: { wanted: AnswerForm; subresource: Subresource | undefined },
): Promise<ServedAnswer> {
  const { target } = call;
  const { namespace, name } = target;
  const context = contextOf(call);
  const authorizeCreation = () => {
    const { isResource: _resource, rest: _rest, ...asked } = target;
    const attributes = { ...asked, user: call.user, verb: "create" };
    const { allowed, reason } = deps.authorize(attributes);
    if (!allowed) throw accessDeniedError(attributes, reason);
  };
  const place = { kind, namespace, name, subresource, authorizeCreation };
  if (target.verb === "update") {
    const { body, duplicates } = await readBody(deps, call);
    const updated = await updateObject(deps.registry, {
      ...place,
      context: { ...context, duplicates },
      change: () => body,
    });
    return await answerStored(updated.isCreated ? 201 : 200, kind, updated.stored, wanted);
  }
  const { type, body, duplicates } = await readPatch(deps, call);
  const patched = await patchObject(deps.registry, {
    ...place,
    type,
    body,
    force: context.force,
    context: { ...context, fieldManager: fieldOwnerOf(context, type), duplicates },
  });
  return await answerStored(patched.isCreated ? 201 : 200, kind, patched.stored, wanted);
}

/** Who comes to own what changes. An apply has to name its manager, and the user agent does not stand in for it. */
function fieldOwnerOf(
  { fieldManager, givenFieldManager }: { readonly fieldManager: string; readonly givenFieldManager: string },
  type: PatchType | undefined,
): string {
  return type === "apply" ? givenFieldManager : fieldManager;
}

async function readPatch(
  deps: ResourceDeps,
  call: ResourceRequest,
): Promise<{ type: PatchType; body: unknown; duplicates: readonly string[] }> {
  const contentType = contentTypeOf(call.request);
  const type = PATCH_TYPES.get(contentType);
  if (type === undefined) {
    const accepted = [...PATCH_TYPES.keys()].join(", ");
    const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
    throw new ApiError("UnsupportedMediaType", message);
  }
  if (type !== "apply") refuseForce(call.request.query);
  const { value, duplicates } = await readParsedBody(call.request, type === "apply" ? "yaml" : "json", bodyWork(deps));
  if (value === undefined) throw badRequestError("the body of the request is empty: a patch is expected");
  call.audit?.body(value);
  return { type, body: value, duplicates };
}

async function readDeleteOptions(deps: ResourceDeps, { request, audit }: ResourceRequest) {
  const { value } = await readParsedBody(request, syntaxOf(contentTypeOf(request)), bodyWork(deps));
  if (value !== undefined) audit?.body(value);
  return deleteOptionsOf(value, request.query);
}

async function serveDelete(
  deps: ResourceDeps,
  kind: ResourceKind,
  call: ResourceRequest,
  wanted: AnswerForm,
): Promise<ServedAnswer> {
  const { namespace, name } = call.target;
  const options = await readDeleteOptions(deps, call);
  const context: RequestContext = { ...contextOf(call), dryRun: options.dryRun };
  const { stored, isGone } = await deleteObject(deps.registry, { kind, namespace, name, options, context });
  if (!isGone || kind.strategy.returnsDeleted) return await answerStored(200, kind, stored, wanted);
  return encodeValue(200, deletedStatus(kind, stored.object), wanted.form);
}

function deletedStatus(kind: ResourceKind, { metadata }: KubeObject): object {
  const { name, uid } = metadata;
  const details = { name, ...(kind.group !== "" && { group: kind.group }), kind: kind.plural, uid };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

async function serveDeleteAll(
  deps: ResourceDeps,
  kind: ResourceKind,
  call: ResourceRequest,
  wanted: AnswerForm,
): Promise<ServedAnswer> {
  const { request, target } = call;
  const options = await readDeleteOptions(deps, call);
  const context: RequestContext = { ...contextOf(call), dryRun: options.dryRun };
  const query = listQueryOf(request.query, { isWatch: false });
  const listed = await listObjects(deps.registry.store, { kind, namespace: target.namespace, ...query });
  const deletions = listed.items.map(async (item) => {
    const { namespace = "", name = "" } = item.object.metadata;
    try {
      await deleteObject(deps.registry, { kind, namespace, name, options, context });
    } catch (error) {
      // The object is gone already: another request was faster.
      if (!(error instanceof ApiError) || error.reason !== "NotFound") throw error;
    }
  });
  await Promise.all(deletions);
  return await encodeList(listed.kind, listed, wanted, pauseOf(deps.clock));
}

async function serveHandler(
  deps: ResourceDeps,
  handler: SubresourceHandler,
  { kind, call, wanted }: { kind: ResourceKind; call: ResourceRequest; wanted: AnswerForm },
): Promise<ServedAnswer> {
  const { request, target } = call;
  const context = contextOf(call);
  const hasBody = request.method === "POST" || request.method === "PUT";
  const patch = target.verb === "patch" ? await readPatch(deps, call) : undefined;
  reportDuplicates(patch?.duplicates ?? [], context);
  const body = patch?.body ?? (hasBody ? await readCheckedBody(deps, call, context) : undefined);
  const answer = await handler({
    kind,
    target,
    context: { ...context, fieldManager: fieldOwnerOf(context, patch?.type) },
    body,
    query: request.query,
    patchType: patch?.type,
    force: context.force,
  });
  const { status, value } = answer;
  if (isKubeObject(value)) return encodeObject(status, kind, value, wanted);
  return isRecord(value) ? encodeValue(status, value, wanted.form) : encodeText(answer);
}

function encodeText({ status, value }: SubresourceAnswer): ServedAnswer {
  return { status, headers: { "content-type": "text/plain" }, body: String(value) };
}
