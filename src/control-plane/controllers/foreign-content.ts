import type { APIResource } from "../../api/gen/types.ts";
import { isRecord } from "../../api/object.ts";
import { tryParseJson } from "../../base/parse-json.ts";
import type { ForeignQuestion, ForeignResources, ReadForeign } from "../ports/foreign-reads.ts";
import type { User } from "../ports/user.ts";

/** The API servers of others, which may have objects in our namespaces. */
export interface ForeignServers {
  readonly readForeign: ReadForeign;
  /** All that are registered, the preferred version of a group first. */
  foreignResources(): readonly ForeignResources[];
}

/** What is left with the API servers of others, of a namespace that is being emptied. */
interface ForeignContent {
  readonly resources: ReadonlyMap<string, number>;
  readonly finalizers: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
  /** Groups and versions of servers that do not say what they have: `things.example.com/v1`. */
  readonly undiscovered: readonly string[];
}

/** Aggregated API servers give this user the right to delete in the role that upstream's controller has. */
const USER: User = {
  username: "system:serviceaccount:kube-system:namespace-controller",
  groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
};

/** How many objects of a kind are looked at in one go. The others are, once these are gone. */
const MAX_LISTED = 500;

interface Emptying extends ForeignServers {
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/**
 * Asks the API servers of others to delete what they have in the namespace, and counts what is left
 * (`deleteAllContentForGroupVersionResource`). Rejects with `AbortedError` only.
 */
export async function emptyForeign(emptying: Emptying): Promise<ForeignContent> {
  const resources = new Map<string, number>();
  const finalizers = new Map<string, number>();
  const failures: string[] = [];
  const versions = emptying.foreignResources();
  const seen = new Set<string>();
  for (const served of versions) {
    for (const resource of (served.resources ?? []).filter(isEmptied)) {
      const name = `${resource.name}.${served.group}`;
      // Several versions have the same objects.
      if (seen.has(name)) continue;
      seen.add(name);
      const found = await emptyOne(emptying, served, resource);
      if (found.failure !== undefined) failures.push(found.failure);
      // Whoever cannot be reached is not asked for the rest, or one server would hold all namespaces up.
      if (found.isSilent === true) break;
      if (found.items.length > 0) resources.set(name, found.items.length);
      for (const finalizer of found.items.flatMap(finalizersOf)) {
        finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
      }
    }
  }
  const silent = versions.filter((served) => served.resources === undefined);
  return { resources, finalizers, failures, undiscovered: silent.map(({ group, version }) => `${group}/${version}`) };
}

function isEmptied({ name, namespaced, verbs }: APIResource): boolean {
  return namespaced && !name.includes("/") && verbs.includes("delete") && verbs.includes("list");
}

interface Found {
  readonly items: readonly object[];
  readonly failure?: string;
  /** The server did not answer. */
  readonly isSilent?: boolean;
}

async function emptyOne(
  { readForeign, namespace, signal }: Emptying,
  { group, version }: ForeignResources,
  { name, verbs }: APIResource,
): Promise<Found> {
  const path = `namespaces/${namespace}/${name}`;
  const ask = async (suffix: string, method?: ForeignQuestion["method"]) => {
    const question = { group, version, path: `${path}${suffix}`, user: USER, ...(method && { method }) };
    return await readForeign(question, signal);
  };
  const listed = async (): Promise<Found> => {
    const answer = await ask(`?limit=${MAX_LISTED}`);
    if (answer.kind === "answered" && answer.status < 300) return { items: itemsOf(answer.text) };
    return isNothing(answer) ? { items: [] } : { items: [], ...failureOf(answer) };
  };
  const policy = "propagationPolicy=Background";
  const isTogether = verbs.includes("deletecollection");
  const before = isTogether ? undefined : await listed();
  const targets = before === undefined ? [`?${policy}`] : before.items.map((item) => `/${nameOf(item)}?${policy}`);
  if (before?.isSilent === true) return before;
  let failed: Failure | undefined;
  for (const target of targets) {
    const answer = await ask(target, "DELETE");
    if (answer.kind === "answered" && (answer.status < 300 || isNothing(answer))) continue;
    failed ??= failureOf(answer);
    if (failed.isSilent) return { items: [], ...failed };
  }
  return { ...(await listed()), ...failed };
}

type Answer = Awaited<ReturnType<ReadForeign>>;

/** There is nothing of the kind, or nothing that could be deleted. */
function isNothing(answer: Answer): boolean {
  return answer.kind === "answered" && (answer.status === 404 || answer.status === 405);
}

interface Failure {
  readonly failure: string;
  readonly isSilent: boolean;
}

function failureOf(answer: Answer): Failure {
  if (answer.kind === "answered") return { failure: refusalIn(answer), isSilent: false };
  const unserved = "the server is currently unable to handle the request";
  return { failure: answer.kind === "failed" ? answer.message : unserved, isSilent: true };
}

function refusalIn(answer: Extract<Answer, { kind: "answered" }>): string {
  const status = tryParseJson(answer.text);
  const { message } = isRecord(status) ? status : {};
  return typeof message === "string" ? message : `the API server answered ${answer.status}`;
}

function itemsOf(text: string): readonly Record<string, unknown>[] {
  const list = tryParseJson(text);
  return isRecord(list) && Array.isArray(list["items"]) ? list["items"].filter(isRecord) : [];
}

function metadataOf(item: object): Record<string, unknown> {
  return isRecord(item) && isRecord(item["metadata"]) ? item["metadata"] : {};
}

const nameOf = (item: object) => encodeURIComponent(String(metadataOf(item)["name"]));

function finalizersOf(item: object): string[] {
  const { finalizers } = metadataOf(item);
  return Array.isArray(finalizers) ? finalizers.map(String) : [];
}
