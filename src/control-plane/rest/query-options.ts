import { badRequestError } from "../../api/api-error.ts";
import { isRecord } from "../../api/object.ts";
import type { DeleteOptions } from "../registry/remove.ts";
import { isTrue } from "./request-path.ts";

/** `metav1.ListOptions` of a query. */
export interface ListQuery {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly limit: number;
  readonly continueToken: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
  /** 0: none was given. */
  readonly timeoutSeconds: number;
}

/** Throws BadRequest for numbers that are none, and for parameters that do not go together. */
export function listQueryOf(query: URLSearchParams, { isWatch }: { isWatch: boolean }): ListQuery {
  const text = (name: string) => query.get(name) ?? "";
  const sendInitialEvents = query.has("sendInitialEvents") ? isTrue(query.get("sendInitialEvents")) : undefined;
  const options: ListQuery = {
    labelSelector: text("labelSelector"),
    fieldSelector: text("fieldSelector"),
    limit: integerOf(query, "limit"),
    continueToken: text("continue"),
    resourceVersion: text("resourceVersion"),
    resourceVersionMatch: text("resourceVersionMatch"),
    allowWatchBookmarks: query.has("allowWatchBookmarks") && isTrue(query.get("allowWatchBookmarks")),
    sendInitialEvents,
    timeoutSeconds: integerOf(query, "timeoutSeconds"),
  };
  checkInitialEvents(options, isWatch);
  return options;
}

function checkInitialEvents(options: ListQuery, isWatch: boolean): void {
  const { sendInitialEvents, resourceVersionMatch } = options;
  if (sendInitialEvents === undefined) {
    if (isWatch && resourceVersionMatch !== "") {
      throw badRequestError(
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      );
    }
    return;
  }
  if (!isWatch) throw badRequestError("sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
  if (resourceVersionMatch !== "NotOlderThan") {
    throw badRequestError(
      "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
    );
  }
}

function integerOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (text === "") return 0;
  if (!/^-?\d{1,15}$/.test(text)) throw badRequestError(`${name}: Invalid value: "${text}": must be an integer`);
  return Math.max(0, Number(text));
}

/** The options of a write. Throws BadRequest for values that are not known. */
export function writeQueryOf(query: URLSearchParams, userAgent: string) {
  const dryRun = query.getAll("dryRun");
  if (dryRun.some((value) => value !== "All" && value !== "")) {
    throw badRequestError(`dryRun: Unsupported value: ${JSON.stringify(dryRun[0])}: supported values: "All"`);
  }
  return {
    dryRun: dryRun.includes("All"),
    fieldManager: query.get("fieldManager") ?? ownerByAgent(userAgent),
    givenFieldManager: query.get("fieldManager") ?? "",
    fieldValidation: fieldValidationOf(query.get("fieldValidation") ?? ""),
    force: isTrue(query.get("force")) && query.has("force"),
  };
}

/** Who does not name itself is known by the beginning of its user agent, as upstream. */
const ownerByAgent = (userAgent: string) => (userAgent.split("/", 1)[0] ?? "").slice(0, 128) || "unknown";

function fieldValidationOf(text: string): "Ignore" | "Warn" | "Strict" {
  if (text === "") return "Warn";
  if (text === "Ignore" || text === "Warn" || text === "Strict") return text;
  throw badRequestError(`fieldValidation: Unsupported value: "${text}": supported values: "Ignore", "Strict", "Warn"`);
}

/** `metav1.DeleteOptions` of the body, or of the query where there is none. Throws BadRequest. */
export function deleteOptionsOf(body: unknown, query: URLSearchParams): DeleteOptions & { dryRun: boolean } {
  const given = isRecord(body) ? body : {};
  const seconds = given["gracePeriodSeconds"] ?? secondsOf(query);
  if (seconds !== undefined && (typeof seconds !== "number" || !Number.isInteger(seconds))) {
    throw badRequestError(`gracePeriodSeconds: Invalid value: ${JSON.stringify(seconds)}: must be an integer`);
  }
  const dryRun = [given["dryRun"] ?? query.getAll("dryRun")].flat();
  return {
    gracePeriodSeconds: seconds,
    propagationPolicy: propagationOf(given, query),
    preconditions: preconditionsOf(given["preconditions"]),
    dryRun: dryRun.includes("All"),
  };
}

function secondsOf(query: URLSearchParams): number | undefined {
  const text = query.get("gracePeriodSeconds");
  if (text === null || text === "") return undefined;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

function propagationOf(body: Readonly<Record<string, unknown>>, query: URLSearchParams) {
  const policy = body["propagationPolicy"] ?? query.get("propagationPolicy") ?? undefined;
  const orphan = body["orphanDependents"] ?? query.get("orphanDependents") ?? undefined;
  if (orphan !== undefined && policy !== undefined) {
    throw badRequestError("orphanDependents and deletionPropagation cannot be both set");
  }
  if (orphan !== undefined) return orphan === true || orphan === "true" ? "Orphan" : "Background";
  if (policy === undefined || policy === "Background" || policy === "Foreground" || policy === "Orphan") return policy;
  const supported = 'supported values: "Background", "Foreground", "Orphan"';
  throw badRequestError(`propagationPolicy: Unsupported value: ${JSON.stringify(policy)}: ${supported}`);
}

function preconditionsOf(value: unknown) {
  if (!isRecord(value)) return undefined;
  const text = (name: string) => (typeof value[name] === "string" ? value[name] : undefined);
  return { uid: text("uid"), resourceVersion: text("resourceVersion") };
}
