import { parseFieldSelector } from "../../api/selectors/field-selector.ts";

/** The target that the path and method of a request name. */
export type RequestTarget = ResourceTarget | PathTarget;

export interface ResourceTarget {
  readonly isResource: true;
  /** create, get, list, watch, update, patch, delete, deletecollection. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** "" for a cluster-wide kind, and across all namespaces. */
  readonly namespace: string;
  /** "" for all. */
  readonly name: string;
  /** The rest of the path from the slash after the subresource on, escaped as sent: the path of a proxy request. */
  readonly rest: string;
}

/** Health, discovery, documents. */
export interface PathTarget {
  readonly isResource: false;
  readonly verb: string;
  readonly path: string;
}

const VERBS: ReadonlyMap<string, string> = new Map([
  ["POST", "create"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);
/** Subresources of a namespace; any other word after its name is a resource in it. */
const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

/** Reads `/api/v1/namespaces/a/pods/b/log` and the like. Query parameters decide between get, list and watch. */
export function parseRequestTarget(method: string, path: string, query: URLSearchParams): RequestTarget {
  // One slash at the end is accepted, as upstream does. An empty part between two slashes names nothing.
  const parts = path.replace(/\/$/, "").split("/").slice(1);
  const groupVersion = groupVersionOf(parts);
  const pathTarget: PathTarget = { isResource: false, verb: method.toLowerCase(), path };
  if (groupVersion === undefined) return pathTarget;
  const { group, version } = groupVersion;
  const decoded = groupVersion.rest.map(decodePart);
  const isLegacyWatch = decoded[0] === "watch";
  const placed = placeOf(isLegacyWatch ? decoded.slice(1) : decoded);
  if (placed === undefined) return pathTarget;
  const { restLength, ...named } = placed;
  const namingLength = parts.length - restLength;
  if (parts.slice(0, namingLength).includes("")) return pathTarget;
  const place: Place = {
    ...named,
    rest: path
      .split("/")
      .slice(namingLength + 1)
      .map((part) => `/${part}`)
      .join(""),
  };
  // A path with a name reads the object; only the older path with `watch` in it watches it.
  const isWatch = isLegacyWatch || (place.name === "" && isTrue(query.get("watch")));
  const verb = verbOf(method, place, { isWatch });
  const name = place.name === "" && MANY.has(verb) ? selectedName(query.get("fieldSelector") ?? "") : place.name;
  return { isResource: true, verb, group, version, ...place, name };
}

/** A user who may read one object may ask for it by a selector, too: `kubectl get -w` does, and a kubelet. */
const MANY = new Set(["list", "watch", "deletecollection"]);

/** The name that a field selector asks for; "" for any name, and for text that is no selector. */
function selectedName(selector: string): string {
  try {
    const { requirements } = parseFieldSelector(selector);
    return requirements.find(({ field, operator }) => field === "metadata.name" && operator === "=")?.value ?? "";
  } catch {
    return "";
  }
}

function groupVersionOf(parts: readonly string[]): { group: string; version: string; rest: string[] } | undefined {
  const [first, second, third, ...more] = parts;
  if (first === "api" && second !== undefined && third !== undefined) {
    return { group: "", version: second, rest: [third, ...more] };
  }
  if (first === "apis" && second !== undefined && third !== undefined && more.length > 0) {
    return { group: second, version: third, rest: more };
  }
  return undefined;
}

/** A name that is not URL-encoded correctly is taken as it stands: it will not be found. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type Place = Pick<ResourceTarget, "resource" | "subresource" | "namespace" | "name" | "rest">;

/** How many parts of the path follow what it names. */
type NamedPlace = Omit<Place, "rest"> & { readonly restLength: number };

function placeOf(parts: readonly string[]): NamedPlace | undefined {
  const [first, second = "", third, ...more] = parts;
  if (first === undefined) return undefined;
  const isInNamespace = first === "namespaces" && third !== undefined && !NAMESPACE_SUBRESOURCES.has(third);
  if (!isInNamespace) return describePlace(first === "namespaces" ? second : "", parts);
  return describePlace(second, [third, ...more]);
}

function describePlace(namespace: string, parts: readonly string[]): NamedPlace {
  const [resource = "", name = "", subresource = "", ...rest] = parts;
  return { resource, name, subresource, namespace, restLength: rest.length };
}

function verbOf(method: string, { name }: Pick<Place, "name">, { isWatch }: { isWatch: boolean }): string {
  if (method === "GET" || method === "HEAD") {
    if (isWatch) return "watch";
    return name === "" ? "list" : "get";
  }
  if (method === "DELETE" && name === "") return "deletecollection";
  return VERBS.get(method) ?? method.toLowerCase();
}

/** As Go's ParseBool reads a query parameter; anything else counts as false, an empty value as true. */
export function isTrue(text: string | null): boolean {
  return text !== null && ["", "1", "t", "T", "true", "TRUE", "True"].includes(text);
}
