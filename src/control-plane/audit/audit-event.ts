import { isRecord } from "../../api/object.ts";
import type { ResourceAccess } from "../ports/request.ts";
import type { User } from "../ports/user.ts";
import type { AuditLevel, AuditStage } from "./audit-policy.ts";

/** What is known of a request so far; an event tells it at one stage. */
export interface AuditFacts {
  readonly auditID: string;
  readonly level: AuditLevel;
  readonly requestURI: string;
  readonly verb: string;
  /** Empty before somebody has proven who they are. */
  readonly user: User | undefined;
  readonly impersonatedUser: User | undefined;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  /** Undefined for a path that is no resource. */
  readonly target: AuditedObject | undefined;
  readonly status: object | undefined;
  /** JSON of one line. */
  readonly requestObject: string | undefined;
  readonly responseObject: string | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly annotations: ReadonlyMap<string, string>;
}

/** The object that a request is about. */
export interface AuditedObject
  extends Pick<ResourceAccess, "group" | "version" | "resource" | "subresource" | "namespace" | "name"> {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** An object with more bytes than this is left out of its event, which says so. */
const MAX_OBJECT_BYTES = 1024 * 1024;
const TRUNCATED = "audit.k8s.io/truncated";

/** The event of `audit.k8s.io/v1` as a line of JSON, without the line's end. */
export function formatAuditEvent(facts: AuditFacts, stage: AuditStage, at: number): string {
  const { level, auditID, requestURI, verb, user, impersonatedUser, sourceIPs, userAgent, target, status } = facts;
  const objects = Object.entries({ requestObject: facts.requestObject, responseObject: facts.responseObject });
  const kept = objects.filter(([, text]) => text !== undefined && Buffer.byteLength(text) <= MAX_OBJECT_BYTES);
  const isTruncated = objects.some(([, text]) => text !== undefined && Buffer.byteLength(text) > MAX_OBJECT_BYTES);
  const annotations = Object.fromEntries([...facts.annotations, ...(isTruncated ? [[TRUNCATED, "true"]] : [])]);
  const head = JSON.stringify({
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level,
    auditID,
    stage,
    requestURI,
    verb,
    user: user === undefined ? {} : shownUser(user),
    ...(impersonatedUser && { impersonatedUser: shownUser(impersonatedUser) }),
    ...(sourceIPs.length > 0 && { sourceIPs }),
    ...(userAgent !== "" && { userAgent }),
    ...(target && { objectRef: shownTarget(target) }),
    ...(status && { responseStatus: { metadata: {}, ...status } }),
  });
  const tail = JSON.stringify({
    requestReceivedTimestamp: microTime(facts.receivedAt),
    stageTimestamp: microTime(at),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  });
  // The objects are text already: they are put between the others as they are.
  const middle = kept.map(([name, text]) => `,"${name}":${text}`).join("");
  return `${head.slice(0, -1)}${middle},${tail.slice(1)}`;
}

function shownUser({ username, uid = "", groups, extra }: User): object {
  return { username, ...(uid !== "" && { uid }), ...(groups.length > 0 && { groups }), ...(extra && { extra }) };
}

function shownTarget(target: AuditedObject): object {
  const { resource, namespace, name, uid = "", group, version, resourceVersion = "", subresource } = target;
  const fields = { resource, namespace, name, uid, apiGroup: group, apiVersion: version, resourceVersion, subresource };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
}

const microTime = (ms: number) => new Date(ms).toISOString().replace("Z", "000Z");

/** The value without the managed fields of the object or of the objects of a list. */
export function withoutFieldOwners(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { metadata, items } = value;
  const kept = isRecord(metadata) ? { metadata: withoutKey(metadata, "managedFields") } : {};
  return { ...value, ...kept, ...(Array.isArray(items) && { items: items.map(withoutFieldOwners) }) };
}

function withoutKey(record: Readonly<Record<string, unknown>>, key: string): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}
