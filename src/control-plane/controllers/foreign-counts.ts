import { isRecord } from "../../api/object.ts";
import { tryParseJson } from "../../base/parse-json.ts";
import type { User } from "../ports/user.ts";
import { countName } from "../quota/usage-rule.ts";
import type { ForeignServers } from "./foreign-content.ts";

/** In whose name objects are counted. */
const USER: User = {
  username: "system:serviceaccount:kube-system:resourcequota-controller",
  groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
};

const PAGE = 500;
/** More objects than on so many pages are not counted. */
const MAX_PAGES = 100;

interface Counted {
  readonly namespace: string;
  /** The names of a quota: `count/widgets.example.com`. Others are left out. */
  readonly names: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * How many objects the API servers of others have in the namespace, of what the names say. What no server tells is left
 * out. Rejects with `AbortedError` only.
 */
export async function countForeign(
  servers: ForeignServers,
  { namespace, names, signal }: Counted,
): Promise<Readonly<Record<string, string>>> {
  const counts: Record<string, string> = {};
  for (const { group, version, resources = [] } of servers.foreignResources()) {
    for (const { name, namespaced, verbs } of resources) {
      const counted = countName(`${name}.${group}`);
      if (!namespaced || !verbs.includes("list") || counted in counts || !names.includes(counted)) continue;
      const path = `namespaces/${namespace}/${name}`;
      const read = (query: string) => servers.readForeign({ group, version, path: path + query, user: USER }, signal);
      const count = await countPages(read);
      if (count !== undefined) counts[counted] = String(count);
    }
  }
  return counts;
}

/** Undefined where a page cannot be read. */
async function countPages(read: (query: string) => ReturnType<ForeignServers["readForeign"]>) {
  let count = 0;
  let from = "";
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await read(`?limit=${PAGE}${from}`);
    const list = answer.kind === "answered" && answer.status === 200 ? tryParseJson(answer.text) : undefined;
    if (!isRecord(list) || !Array.isArray(list["items"])) return undefined;
    const { continue: next, remainingItemCount: left } = isRecord(list["metadata"]) ? list["metadata"] : {};
    count += list["items"].length;
    if (typeof next !== "string" || next === "") return count;
    if (typeof left === "number" && Number.isSafeInteger(left) && left >= 0) return count + left;
    from = `&continue=${encodeURIComponent(next)}`;
  }
  return undefined;
}
