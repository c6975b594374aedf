import { badRequestError, invalidError } from "../../api/api-error.ts";
import type { FieldError } from "../../api/field-error.ts";
import { isRecord } from "../../api/object.ts";
import { forbidden, invalid, tooLong, unsupported } from "../../api/validation/problems.ts";
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
  /** 0 where none was given. */
  readonly timeoutSeconds: number;
}

/** Throws BadRequest for a number that cannot be read, and Invalid for parameters that contradict each other. */
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
  refuse("ListOptions", isWatch ? watchProblems(options) : listProblems(options));
  return options;
}

/** Options are objects too: their problems are told as those of any object. */
function refuse(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidError({ group: "meta.k8s.io", kind }, "", errors);
}

const MATCH = "resourceVersionMatch";

function listProblems(options: ListQuery): FieldError[] {
  const { resourceVersion, resourceVersionMatch: match, continueToken, sendInitialEvents } = options;
  const errors: FieldError[] = [];
  if (match !== "") {
    if (resourceVersion === "")
      errors.push(forbidden(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`));
    if (continueToken !== "") errors.push(forbidden(MATCH, `${MATCH} is forbidden when continue is provided`));
    if (match !== "Exact" && match !== "NotOlderThan")
      errors.push(unsupported(MATCH, match, ["Exact", "NotOlderThan", ""]));
    if (match === "Exact" && resourceVersion === "0") {
      errors.push(forbidden(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`));
    }
  }
  if (sendInitialEvents !== undefined) {
    errors.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return errors;
}

function watchProblems({ resourceVersionMatch: match, continueToken, sendInitialEvents }: ListQuery): FieldError[] {
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    errors.push(forbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`));
  }
  if (match === "") return errors;
  if (sendInitialEvents === undefined) {
    errors.push(forbidden(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`));
  }
  if (match !== "NotOlderThan") errors.push(unsupported(MATCH, match, ["NotOlderThan"]));
  if (continueToken !== "") errors.push(forbidden(MATCH, `${MATCH} is forbidden when continue is provided`));
  return errors;
}

function integerOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (text === "") return 0;
  if (!/^-?\d{1,15}$/.test(text)) throw badRequestError(`${name}: Invalid value: "${text}": must be an integer`);
  return Math.max(0, Number(text));
}

/** The kind of options that a request has, by its verb. */
const OPTIONS_KINDS: Readonly<Record<string, string>> = {
  create: "CreateOptions",
  update: "UpdateOptions",
  patch: "PatchOptions",
};

/** The options of a write. Throws Invalid for values that are not known. */
export function writeQueryOf(query: URLSearchParams, { verb, userAgent }: { verb: string; userAgent: string }) {
  const dryRun = query.getAll("dryRun");
  const fieldValidation = query.get("fieldValidation") || "Warn";
  const owner = query.get("fieldManager") ?? "";
  refuse(OPTIONS_KINDS[verb] ?? "", [
    ...ownerProblems(owner),
    ...dryRunProblems(dryRun),
    ...(isFieldValidation(fieldValidation)
      ? []
      : [unsupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"])]),
  ]);
  return {
    dryRun: dryRun.includes("All"),
    fieldManager: owner === "" ? ownerOf(userAgent) : owner,
    givenFieldManager: owner,
    fieldValidation: isFieldValidation(fieldValidation) ? fieldValidation : "Warn",
    force: isTrue(query.get("force")) && query.has("force"),
  } as const;
}

const MAX_OWNER_BYTES = 128;

/** A client that names no manager is known by the beginning of its user agent, as upstream. */
const ownerOf = (userAgent: string) => (userAgent.split("/", 1)[0] ?? "").slice(0, MAX_OWNER_BYTES) || "unknown";

function ownerProblems(owner: string): FieldError[] {
  const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(owner);
  const isLong = Buffer.byteLength(owner) > MAX_OWNER_BYTES;
  return [
    ...(isLong ? [tooLong("fieldManager", MAX_OWNER_BYTES)] : []),
    ...(unprintable ? [invalid("fieldManager", owner, `invalid character (at position ${unprintable.index})`)] : []),
  ];
}

function dryRunProblems(dryRun: readonly unknown[]): FieldError[] {
  return dryRun.every((value) => value === "All") ? [] : [unsupported("dryRun", dryRun, ["All"])];
}

function isFieldValidation(text: string): text is "Ignore" | "Warn" | "Strict" {
  return text === "Ignore" || text === "Warn" || text === "Strict";
}

/** Throws Invalid where `force` is given outside of server-side apply. */
export function refuseForce(query: URLSearchParams): void {
  refuse("PatchOptions", query.has("force") ? [forbidden("force", "may not be specified for non-apply patch")] : []);
}

/** `metav1.DeleteOptions` of the body, or of the query where there is no body. Throws BadRequest, Invalid. */
export function deleteOptionsOf(body: unknown, query: URLSearchParams): DeleteOptions & { dryRun: boolean } {
  const given = isRecord(body) ? body : {};
  const seconds = given["gracePeriodSeconds"] ?? secondsOf(query);
  if (seconds !== undefined && (typeof seconds !== "number" || !Number.isInteger(seconds))) {
    throw badRequestError(`gracePeriodSeconds: Invalid value: ${JSON.stringify(seconds)}: must be an integer`);
  }
  const dryRun = [given["dryRun"] ?? query.getAll("dryRun")].flat();
  const policy = given["propagationPolicy"] ?? query.get("propagationPolicy") ?? undefined;
  const orphan = given["orphanDependents"] ?? query.get("orphanDependents") ?? undefined;
  refuse("DeleteOptions", [...policyProblems(policy, orphan), ...dryRunProblems(dryRun)]);
  return {
    gracePeriodSeconds: seconds,
    propagationPolicy: propagationOf(policy, orphan),
    preconditions: preconditionsOf(given["preconditions"]),
    dryRun: dryRun.includes("All"),
  };
}

function secondsOf(query: URLSearchParams): number | undefined {
  const text = query.get("gracePeriodSeconds");
  if (text === null || text === "") return undefined;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

function policyProblems(policy: unknown, orphan: unknown): FieldError[] {
  if (policy === undefined) return [];
  const path = "propagationPolicy";
  return [
    ...(orphan === undefined
      ? []
      : [invalid(path, policy, "orphanDependents and deletionPropagation cannot be both set")]),
    ...(isPolicy(policy) ? [] : [unsupported(path, policy, ["Foreground", "Background", "Orphan", "nil"])]),
  ];
}

/** The policy, or the one that the older field `orphanDependents` stands for. */
function propagationOf(policy: unknown, orphan: unknown): DeleteOptions["propagationPolicy"] {
  if (orphan !== undefined) return orphan === true || orphan === "true" ? "Orphan" : "Background";
  return isPolicy(policy) ? policy : undefined;
}

function isPolicy(value: unknown): value is NonNullable<DeleteOptions["propagationPolicy"]> {
  return value === "Background" || value === "Foreground" || value === "Orphan";
}

function preconditionsOf(value: unknown) {
  if (!isRecord(value)) return undefined;
  const text = (name: string) => (typeof value[name] === "string" ? value[name] : undefined);
  return { uid: text("uid"), resourceVersion: text("resourceVersion") };
}
