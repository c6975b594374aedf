import type { AnswerHeaders, Page, ServedRequest } from "../../host/http-server.ts";
import type { NodeEndpoint } from "./node-api.ts";

/** What a page tells: a text for people, and the fields of an object for programs. */
interface ComponentPageContent {
  text(): string;
  fields(): Readonly<Record<string, unknown>>;
}

interface ComponentPageOptions {
  readonly path: "/flagz" | "/statusz";
  readonly kind: "Flagz" | "Statusz";
}

const NOT_FOUND: Page = { status: 404, body: "404 page not found\n" };
const GROUP = "config.k8s.io";
const VERSIONS = ["v1beta1", "v1alpha1"] as const;
const WARNING =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for " +
  "debugging purposes only.";

/**
 * Creates a page of the component itself in upstream's forms (apiserver/pkg/server/flagz, statusz): text, or JSON for who
 * names group, version and kind in the Accept header.
 */
export function createComponentPage(
  { path, kind }: ComponentPageOptions,
  { text, fields }: ComponentPageContent,
): NodeEndpoint {
  return (request) => {
    if (request.path !== path) return NOT_FOUND;
    const form = chooseForm(request, kind);
    if (form === "text") {
      const body = `\nkubelet ${path.slice(1)}\n${WARNING}\n\n${text()}`;
      return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body };
    }
    if (form === undefined) {
      const kinds = VERSIONS.map((version) => `application/json;v=${version};g=${GROUP};as=${kind}`);
      return { status: 406, body: `only the following media types are accepted: text/plain, ${kinds.join(", ")}\n` };
    }
    const object = { kind, apiVersion: `${GROUP}/${form}`, metadata: { name: "kubelet" }, ...fields() };
    return { status: 200, headers: jsonHeaders(form, path), body: `${JSON.stringify(object)}\n` };
  };
}

function jsonHeaders(version: (typeof VERSIONS)[number], path: string): AnswerHeaders {
  const headers = { "content-type": "application/json" };
  if (version === "v1beta1") return headers;
  const warning = `This version of the ${path.slice(1)} endpoint is deprecated. Please use a newer version.`;
  return { ...headers, warning: `299 - "${warning}"` };
}

/** The first form of the Accept header that there is; undefined where there is none of them. */
function chooseForm(
  request: Pick<ServedRequest, "header">,
  kind: string,
): "text" | (typeof VERSIONS)[number] | undefined {
  const accept = request.header("accept").join(",");
  if (accept.trim() === "") return "text";
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const named = new Map(parameters.map((parameter) => parameter.split("=", 2).map((part) => part.trim())).map(pair));
    if (!named.has("as")) {
      if (["text/plain", "text/*", "*/*"].includes(type)) return "text";
      continue;
    }
    const version = VERSIONS.find((each) => each === named.get("v"));
    const isKind = named.get("as") === kind.toLowerCase() && named.get("g") === GROUP;
    if (type === "application/json" && isKind && version !== undefined) return version;
  }
  return undefined;
}

function pair([name = "", value = ""]: readonly string[]): [string, string] {
  return [name, value];
}
