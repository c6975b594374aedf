import type { KubeResource } from "../../api/kube-resource.ts";
import { isRecord } from "../../api/object.ts";
import { KubeUnreachableError } from "../port.ts";
import { excerptOf } from "./answer-error.ts";
import { findItems } from "./find-items.ts";
import { nextTurn } from "./next-turn.ts";
import { parseAnswer } from "./parse-answer.ts";
import { readAs } from "./read-object.ts";

/** One page of a list, or the whole of it. */
interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** "" on the last page. */
  readonly next: string;
}

/** The bytes of items that are read in one go; then everything else has its turn. */
const TURN_BYTES = 512 * 1024;
const BOUNDS = {
  /** No object that a node reads is as long. */
  maxItemBytes: 8 * 1024 * 1024,
  /** The list's kind and metadata. */
  maxFieldBytes: 64 * 1024,
  maxFields: 100,
};
/** A revision, and the token of a page, come back in a path. */
const MAX_REVISION_LENGTH = 1_024;
const MAX_TOKEN_LENGTH = 8 * 1_024;

/**
 * Reads a list item by item, and lets everything else have its turn in between: the lists of a large cluster have a
 * hundred megabytes. Throws KubeUnreachableError for another answer, and for one of more than `maxItems`.
 */
export async function readList<T>(resource: KubeResource<T>, body: Buffer, maxItems: number): Promise<ListPage<T>> {
  const items: T[] = [];
  const finding = findItems(body, BOUNDS);
  let turnEndsAt = TURN_BYTES;
  for (;;) {
    const found = finding.next();
    if (found.done === true) {
      const rest = readRest(resource, found.value);
      if (rest !== undefined) return { items, ...rest };
      throw refuse(resource, excerptOf(body));
    }
    const { start, end } = found.value;
    if (items.length >= maxItems) throw refuse(resource, `it has more than ${maxItems} items`);
    items.push(readAs(resource, parseAnswer(body.subarray(start, end)), () => "an item of the list"));
    if (end < turnEndsAt) continue;
    turnEndsAt = end + TURN_BYTES;
    await nextTurn();
  }
}

function refuse(resource: KubeResource<unknown>, why: string): KubeUnreachableError {
  return new KubeUnreachableError("unreachable", `the server's answer is no ${resource.kind}List: ${why}`);
}

/** Undefined where the rest of a list is not that of this kind. */
function readRest(
  resource: KubeResource<unknown>,
  text: string | undefined,
): Omit<ListPage<unknown>, "items"> | undefined {
  const list = text === undefined ? undefined : parseAnswer(Buffer.from(text));
  if (!isRecord(list) || list["kind"] !== `${resource.kind}List`) return undefined;
  const { metadata, items = null } = list;
  // An empty list may be written as null.
  if (!isRecord(metadata) || (items !== null && !Array.isArray(items))) return undefined;
  const resourceVersion = String(metadata["resourceVersion"] ?? "");
  const next = String(metadata["continue"] ?? "");
  const isShort = resourceVersion.length <= MAX_REVISION_LENGTH && next.length <= MAX_TOKEN_LENGTH;
  return isShort ? { resourceVersion, next } : undefined;
}
