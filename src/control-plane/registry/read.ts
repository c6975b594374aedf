import { ApiError, badRequestError, expiredError, notFoundError } from "../../api/api-error.ts";
import type { ObjectStore, StoredObject } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { keysOf } from "./keys.ts";
import { type Selection, selectionOf } from "./selection.ts";
import { showAll } from "./shown.ts";

interface ListRequest {
  readonly kind: ResourceKind;
  /** "" for all namespaces. */
  readonly namespace: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** The most objects of a page; 0 for no limit. */
  readonly limit: number;
  readonly continueToken: string;
  /** The revision to read at; "" and "0" for the present state. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
}

/** A page of a list. */
export interface Listed {
  readonly items: readonly StoredObject[];
  readonly metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
}

/** The object, durable. Throws NotFound. */
export function getObject(
  store: ObjectStore,
  kind: ResourceKind,
  { namespace, name }: { namespace: string; name: string },
): StoredObject {
  const stored = store.get(keysOf(kind).of(namespace, name));
  if (stored === undefined) throw notFoundError({ group: kind.group, resource: kind.plural }, name);
  return stored;
}

/**
 * A page of objects, exactly as they were at one revision, and the kind in whose form they are. Rejects with an ApiError:
 * BadRequest, Expired (410), Timeout (a future one), InternalError (one cannot be converted).
 */
export async function listObjects(store: ObjectStore, request: ListRequest): Promise<Listed & { kind: ResourceKind }> {
  const { kind, limit } = request;
  const selectors = { label: request.labelSelector, field: request.fieldSelector };
  const selection = selectionOf(kind, selectors);
  const page = startOfPage(store, request);
  const prefix = keysOf(kind).prefix(request.namespace);
  const list = store.list(prefix, page.revision);
  if (list === undefined) throw page.expired;
  const rest = page.afterKey === "" ? list.items : itemsAfter(list.items, page.afterKey);
  const shown = await showAll(kind, isConverted(kind) ? worthConverting(rest, selection, limit) : rest);
  const matching = selectItems(
    shown.items,
    shown.kind === kind ? selection : selectionOf(shown.kind, selectors),
    limit,
  );
  const isCut = limit > 0 && matching.length > limit;
  const items = isCut ? matching.slice(0, limit) : matching;
  const lastKey = items.at(-1)?.key ?? "";
  const remaining = selection.isEverything && isCut ? { remainingItemCount: rest.length - items.length } : {};
  const next = isCut ? { continue: encodeContinue({ revision: list.revision, afterKey: lastKey }), ...remaining } : {};
  return { kind: shown.kind, items, metadata: { resourceVersion: String(list.revision), ...next } };
}

const isConverted = ({ storedAs }: ResourceKind) => storedAs?.conversion !== undefined;

/** The objects of which the selection can be told without their content: conversion may change what the others are selected by. */
function worthConverting(items: readonly StoredObject[], { isEverything, name }: Selection, limit: number) {
  if (isEverything) return limit > 0 ? items.slice(0, limit + 1) : items;
  return name === undefined ? items : items.filter(({ key }) => key.endsWith(`/${name}`));
}

/** Selects up to one object more than the limit, which shows that there are more. */
function selectItems(items: readonly StoredObject[], selection: Selection, limit: number): readonly StoredObject[] {
  const enough = limit > 0 ? limit + 1 : Number.POSITIVE_INFINITY;
  if (selection.isEverything) return items.slice(0, Math.min(enough, items.length));
  const matching: StoredObject[] = [];
  for (const item of items) {
    if (selection.name !== undefined && !item.key.endsWith(`/${selection.name}`)) continue;
    if (selection.matches(item)) matching.push(item);
    if (matching.length === enough) break;
  }
  return matching;
}

function itemsAfter(items: readonly StoredObject[], key: string): readonly StoredObject[] {
  const index = items.findIndex((item) => item.key > key);
  return index === -1 ? [] : items.slice(index);
}

interface PageStart {
  /** The revision to read at; undefined for the present state. */
  readonly revision: number | undefined;
  readonly afterKey: string;
  /** The answer when that revision is not kept any more. */
  readonly expired: ApiError;
}

const EXPIRED_TOKEN =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
  "deleted between the time the first chunk was returned and now may show up in the list.";
/** A token with this revision goes on with the present state. */
const PRESENT = -1;

function startOfPage(store: ObjectStore, request: ListRequest): PageStart {
  const { continueToken, resourceVersion, resourceVersionMatch } = request;
  if (continueToken !== "") {
    if (resourceVersion !== "" && resourceVersion !== "0") {
      throw badRequestError("specifying resource version is not allowed when using continue");
    }
    const { revision, afterKey } = decodeContinue(continueToken);
    const expired = expiredError(EXPIRED_TOKEN, encodeContinue({ revision: PRESENT, afterKey }));
    return { revision: revision === PRESENT ? undefined : revision, afterKey, expired };
  }
  const isAny = resourceVersion === "" || resourceVersion === "0";
  const wanted = isAny ? 0 : parseResourceVersion(resourceVersion);
  if (wanted > store.revision) throw tooLargeError(wanted, store.revision);
  const isExact = resourceVersionMatch === "Exact";
  const expired = expiredError("The resourceVersion for the provided list is too old.");
  return { revision: isExact ? wanted : undefined, afterKey: "", expired };
}

/** The revision in a query's `resourceVersion`. Throws BadRequest when the text is no revision. */
export function parseResourceVersion(text: string): number {
  const revision = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(revision)) {
    throw badRequestError(
      `resourceVersion: Invalid value: "${text}": must be a decimal revision that this server gave`,
    );
  }
  return revision;
}

/**
 * The error for a revision of the future, perhaps of another server. Clients try again, and list anew if that does not
 * help.
 */
function tooLargeError(wanted: number, current: number): ApiError {
  return new ApiError("Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

interface ContinueToken {
  readonly revision: number;
  readonly afterKey: string;
}

/** The token for the next page. It is opaque to clients, and has upstream's form with our keys. */
function encodeContinue({ revision, afterKey }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start: afterKey })).toString("base64url");
}

function decodeContinue(token: string): ContinueToken {
  const invalid = badRequestError("continue key is not valid: it must be what an earlier list of this server returned");
  try {
    const value: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (typeof value === "object" && value !== null && "rv" in value && "start" in value) {
      const { rv, start } = value;
      if (typeof rv === "number" && Number.isSafeInteger(rv) && typeof start === "string") {
        return { revision: rv, afterKey: start };
      }
    }
  } catch {
    throw invalid;
  }
  throw invalid;
}
