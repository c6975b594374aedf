import { isApiError } from "../../api/api-error.ts";
import type { KubeResource } from "../../api/kube-resource.ts";
import type { Clock } from "../../base/clock.ts";
import { type KubeList, KubeUnreachableError, type ListOptions } from "../port.ts";
import type { Caller } from "./caller.ts";
import { readList } from "./read-list.ts";
import { collectionPath, withQuery } from "./request-path.ts";

/** As client-go's pager asks for. */
const PAGE_SIZE = 500;
/** Ten thousand services have a sixth of that, and their slices with 100,000 endpoints a third. */
const MAX_LIST_BYTES = 128 * 1024 * 1024;
const MAX_ITEMS = 50_000;
/** Five times the pages of so many objects: a server that goes on for ever is not taken for an API server. */
const MAX_PAGES = 1_000;

/**
 * A whole list, page by page. From a server's cache (`resourceVersion` given) it comes at once, as client-go asks for it.
 * When the pages expire in the middle, all is read again in one piece.
 */
export async function listPages<T>(
  { caller, clock }: { caller: Pick<Caller, "call">; clock: Clock },
  resource: KubeResource<T>,
  options: ListOptions & { timeoutMs: number },
): Promise<KubeList<T>> {
  const { namespace, fieldSelector, labelSelector, resourceVersion, signal } = options;
  const until = clock.monotonic() + options.timeoutMs;
  const path = collectionPath(resource, namespace);
  const items: T[] = [];
  let bytes = 0;
  const readPage = async (limit: number | undefined, token: string | undefined) => {
    const query = {
      fieldSelector,
      labelSelector,
      // The token stands for a revision already.
      resourceVersion: token === undefined ? resourceVersion : undefined,
      limit: limit?.toString(),
      continue: token,
    };
    const request = { method: "GET", path: withQuery(path, query) } as const;
    const timeoutMs = Math.max(0, until - clock.monotonic());
    const body = await caller.call(request, { signal, timeoutMs }, MAX_LIST_BYTES - bytes);
    bytes += body.length;
    const page = await readList(resource, body, MAX_ITEMS - items.length);
    for (const item of page.items) items.push(item);
    return page;
  };

  // Beside a revision, a limit would mean exactly that revision, which the server may have compacted.
  const pageSize = (resourceVersion ?? "") === "" ? PAGE_SIZE : undefined;
  let page = await readPage(pageSize, undefined);
  for (let pages = 1; page.next !== ""; pages++) {
    const before = page.next;
    try {
      page = await readPage(pageSize, before);
    } catch (error) {
      if (!isApiError(error, "Expired") && !isApiError(error, "Gone")) throw error;
      items.length = 0;
      bytes = 0;
      page = await readPage(undefined, undefined);
    }
    if (page.next === before || pages >= MAX_PAGES) {
      throw new KubeUnreachableError("unreachable", `GET ${path}: the list never ends`);
    }
  }
  return { items, resourceVersion: page.resourceVersion };
}
