import { isRecord } from "../../api/object.ts";
import { decodeProtobuf } from "../../api/protobuf/decode-protobuf.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { AnswerBody, ServedAnswer, ServedRequest } from "../../host/http-server.ts";
import type { AccessAttributes } from "../ports/request.ts";
import type { User } from "../ports/user.ts";
import { type AuditedObject, type AuditFacts, formatAuditEvent, withoutFieldOwners } from "./audit-event.ts";
import type { AuditSink } from "./audit-log.ts";
import type { AuditPolicy, AuditStage } from "./audit-policy.ts";
import { findAuditRule } from "./match-audit-rule.ts";

/** Records requests as a policy says. */
export interface AuditTrail {
  /** Begins the record of a request by its user; undefined where nothing of it is recorded. */
  begin(request: ServedRequest, asked: AuditedAccess): RequestAudit | undefined;
  /** Records a request of somebody who could not prove who they are, with its answer. */
  refuse(request: ServedRequest, asked: AuditedAccess, answer: ServedAnswer): void;
}

interface AuditedAccess {
  readonly auditId: string;
  /** The user is whoever sent the request, also where it impersonates another. */
  readonly attributes: AccessAttributes;
}

/** The record of one request. */
export interface RequestAudit {
  /** Notes as whom the request is served. */
  impersonate(user: User): void;
  /** Adds an annotation; the first of a key counts. */
  annotate(key: string, value: string): void;
  /** Notes the object or the patch that was sent, once it is read. */
  body(value: unknown): void;
  /** Records the answer, at its end where it lasts. Returns it, or one that records its own end. */
  answer(answer: ServedAnswer): ServedAnswer;
  /** Records that the request failed by a bug. */
  fail(error: unknown): void;
}

const LASTING_VERBS = new Set(["watch", "proxy"]);
const LASTING_SUBRESOURCES = new Set(["attach", "exec", "log", "portforward", "proxy"]);
const MAX_ANNOTATIONS = 100;
/** Nobody reads more of these; a client may send headers of any length. */
const MAX_TEXT = 8 * 1024;

/** Creates the trail that leads into a sink. */
export function createAuditTrail(
  { sink, clock }: { readonly sink: AuditSink; readonly clock: Pick<Clock, "now"> },
  policy: AuditPolicy,
): AuditTrail {
  return {
    begin(request, asked) {
      const rule = findAuditRule(policy, asked.attributes);
      if (rule === undefined) return undefined;
      const record = createRecord({ sink, clock }, rule, firstFacts(request, asked, clock.now()));
      record.emit("RequestReceived");
      return requestAudit(record, asked.attributes);
    },
    refuse(request, asked, answer) {
      const rule = findAuditRule(policy, asked.attributes);
      if (rule === undefined) return;
      const facts = { ...firstFacts(request, asked, clock.now()), user: undefined };
      const record = createRecord({ sink, clock }, rule, facts);
      record.set({ status: statusOf(answer.status, readAnswer(answer, false)) });
      record.emit("ResponseStarted");
    },
  };
}

interface AuditRecord {
  readonly rule: NonNullable<ReturnType<typeof findAuditRule>>;
  readonly annotations: Map<string, string>;
  facts(): AuditFacts;
  set(facts: Partial<AuditFacts>): void;
  emit(stage: AuditStage): void;
}

function createRecord(
  { sink, clock }: { readonly sink: AuditSink; readonly clock: Pick<Clock, "now"> },
  rule: AuditRecord["rule"],
  first: Omit<AuditFacts, "annotations" | "level">,
): AuditRecord {
  const annotations = new Map<string, string>();
  let facts: AuditFacts = { ...first, level: rule.level, annotations };
  return {
    rule,
    annotations,
    facts: () => facts,
    set(more) {
      facts = { ...facts, ...more };
    },
    emit(stage) {
      if (!rule.omitStages.includes(stage)) sink.write(formatAuditEvent(facts, stage, clock.now()));
    },
  };
}

function firstFacts(
  request: ServedRequest,
  { auditId, attributes }: AuditedAccess,
  now: number,
): Omit<AuditFacts, "annotations" | "level"> {
  const { path, rawQuery } = request;
  return {
    auditID: auditId,
    requestURI: (rawQuery === "" ? path : `${path}?${rawQuery}`).slice(0, MAX_TEXT),
    verb: attributes.verb,
    user: attributes.user,
    impersonatedUser: undefined,
    sourceIPs: request.remoteAddress === "" ? [] : [request.remoteAddress],
    userAgent: (request.header("user-agent")[0] ?? "").slice(0, MAX_TEXT),
    target: "resource" in attributes ? attributes : undefined,
    status: undefined,
    requestObject: undefined,
    responseObject: undefined,
    receivedAt: now,
  };
}

function requestAudit(record: AuditRecord, attributes: AccessAttributes): RequestAudit {
  const { rule, annotations } = record;
  const shown = (value: unknown) => JSON.stringify(rule.omitManagedFields ? withoutFieldOwners(value) : value);
  return {
    impersonate: (impersonatedUser) => record.set({ impersonatedUser }),
    annotate(key, value) {
      if (annotations.size < MAX_ANNOTATIONS && !annotations.has(key)) annotations.set(key, value);
    },
    body(value) {
      const { target } = record.facts();
      if (target !== undefined && attributes.verb !== "patch") record.set({ target: withIdentity(target, value) });
      if (rule.level === "Request" || rule.level === "RequestResponse") record.set({ requestObject: shown(value) });
    },
    answer(answer) {
      const sent = readAnswer(answer, rule.level === "RequestResponse");
      record.set({ status: statusOf(answer.status, sent) });
      if (isLasting(attributes)) record.emit("ResponseStarted");
      if (rule.level === "RequestResponse" && sent !== undefined) record.set({ responseObject: shown(sent) });
      return atEnd(answer, () => record.emit("ResponseComplete"));
    },
    fail(error) {
      const message = `APIServer panic'd: ${messageOf(error)}`;
      record.set({ status: { status: "Failure", message, reason: "InternalError", code: 500 } });
      record.emit("Panic");
    },
  };
}

function isLasting(attributes: AccessAttributes): boolean {
  if (LASTING_VERBS.has(attributes.verb)) return true;
  return "resource" in attributes && LASTING_SUBRESOURCES.has(attributes.subresource);
}

/** The reference with what the sent object says of itself, where the path does not. */
function withIdentity(target: AuditedObject, value: unknown): AuditedObject {
  const metadata = isRecord(value) && isRecord(value["metadata"]) ? value["metadata"] : {};
  const textOf = (name: string) => (typeof metadata[name] === "string" ? metadata[name].slice(0, MAX_TEXT) : "");
  const { uid = textOf("uid"), resourceVersion = textOf("resourceVersion") } = target;
  return { ...target, name: target.name || textOf("name"), uid, resourceVersion };
}

/** The status of the answer: of a Status all that it says, and of anything else its code. */
function statusOf(code: number, sent: unknown): object {
  if (!isRecord(sent) || sent["kind"] !== "Status") return { code };
  const { status, message, reason, details } = sent;
  return Object.fromEntries(
    Object.entries({ status, message, reason, details, code }).filter(([, value]) => value !== undefined),
  );
}

/** A status is small. Other answers are read only where they are to be recorded, and never as streams. */
const MAX_STATUS_BYTES = 64 * 1024;

function readAnswer({ headers = {}, body }: ServedAnswer, readsAll: boolean): unknown {
  const bytes = bytesOf(body);
  if (bytes === undefined || bytes.length === 0) return undefined;
  const type = String(headers["content-type"] ?? "");
  try {
    if (type.startsWith("application/vnd.kubernetes.protobuf")) {
      return readsAll || bytes.length <= MAX_STATUS_BYTES ? decodeProtobuf(bytes) : undefined;
    }
    if (!type.startsWith("application/json")) return undefined;
    const isStatus = bytes.length <= MAX_STATUS_BYTES && bytes.subarray(0, 200).includes('"Status"');
    return readsAll || isStatus ? JSON.parse(bytes.toString()) : undefined;
  } catch {
    // What cannot be read is not recorded; the answer goes out as it is.
    return undefined;
  }
}

function bytesOf(body: AnswerBody): Buffer | undefined {
  if (typeof body === "string") return Buffer.from(body);
  if (Buffer.isBuffer(body)) return body;
  return isChunks(body) ? Buffer.concat([...body]) : undefined;
}

const isChunks = (body: AnswerBody): body is readonly Buffer[] => Array.isArray(body);

/** The answer, which calls `onEnd` once when it is over. */
function atEnd(answer: ServedAnswer, onEnd: () => void): ServedAnswer {
  const { body } = answer;
  if (typeof body === "string" || Buffer.isBuffer(body) || isChunks(body)) {
    onEnd();
    return answer;
  }
  if ("stream" in body) {
    return {
      ...answer,
      body: {
        stream(writer) {
          writer.signal.addEventListener("abort", onEnd, { once: true });
          if (writer.signal.aborted) onEnd();
          body.stream(writer);
        },
      },
    };
  }
  if ("source" in body) {
    body.source.once("close", onEnd);
    return answer;
  }
  if ("produce" in body) {
    return { ...answer, body: { produce: async (writer) => await body.produce(writer).finally(onEnd) } };
  }
  return { ...answer, body: { takeOver: async (socket) => await body.takeOver(socket).finally(onEnd) } };
}
