import { isIP } from "node:net";
import type { UrlValue } from "../values.ts";

/** Why a text is no URL, in the words of Go's `net/url`. */
interface UrlProblem {
  readonly problem: string;
}

interface UrlParts {
  readonly scheme: string;
  /** What follows a scheme without a slash: `mailto:` has it. */
  readonly opaque: string;
  readonly userinfo: string;
  readonly host: string;
  readonly hasAuthority: boolean;
  readonly path: string;
  readonly query: string | undefined;
}

/** A URL as Go's `url.ParseRequestURI` takes it, and then as `url.Parse` reads it: only the latter knows fragments. */
export function parseUrl(text: string): UrlValue | UrlProblem {
  const asRequest = readParts(text, { isRequest: true });
  if ("problem" in asRequest) return asRequest;
  const fragmentAt = text.indexOf("#");
  const fragment = fragmentAt === -1 ? "" : text.slice(fragmentAt);
  const parts = readParts(fragmentAt === -1 ? text : text.slice(0, fragmentAt), { isRequest: false });
  if ("problem" in parts) return parts;
  return problemOfEscapes(fragment) ?? urlOf(parts, fragment);
}

/** Whether Go's `url.ParseRequestURI` takes the text. */
export const isUrl = (text: string) => !("problem" in readParts(text, { isRequest: true }));

function urlOf({ scheme, opaque, userinfo, host, hasAuthority, path, query }: UrlParts, fragment: string): UrlValue {
  const portAt = host.lastIndexOf(":");
  const hasPort = portAt !== -1 && isPort(host.slice(portAt));
  const name = hasPort ? host.slice(0, portAt) : host;
  const escapedPath = escapePath(path);
  const place = hasAuthority ? `//${userinfo}${host}` : "";
  const shown = `${scheme === "" ? "" : `${scheme}:`}${opaque}${place}${escapedPath}`;
  return {
    ...{ kind: "url", text: `${shown}${query === undefined ? "" : `?${query}`}${fragment}`, scheme, host },
    hostname: /^\[.*\]$/s.test(name) ? name.slice(1, -1) : name,
    port: hasPort ? host.slice(portAt + 1) : "",
    path: escapedPath,
    query: readQuery(query ?? ""),
  };
}

function readParts(text: string, { isRequest }: { isRequest: boolean }): UrlParts | UrlProblem {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for.
  if (/[\u0000-\u001f\u007f]/.test(text)) return { problem: "net/url: invalid control character in URL" };
  if (text === "") return isRequest ? { problem: "empty url" } : withoutAuthority({ scheme: "", rest: "" });
  if (text === "*") return withoutAuthority({ scheme: "", rest: "*" });
  if (text.startsWith(":")) return { problem: "missing protocol scheme" };
  const [written = "", scheme = ""] = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text) ?? [];
  const rest = text.slice(written.length);
  if (!rest.startsWith("/")) {
    if (scheme !== "") return withoutAuthority({ scheme, rest, isOpaque: true });
    if (isRequest) return { problem: "invalid URI for request" };
  }
  const hasAuthority = rest.startsWith("//") && (scheme !== "" || (!isRequest && !rest.startsWith("///")));
  if (!hasAuthority) return checked(withoutAuthority({ scheme, rest }));
  const [, authority = "", after = ""] = /^\/\/([^/?]*)(.*)$/s.exec(rest) ?? [];
  const read = readAuthority(authority);
  return "problem" in read ? read : checked({ ...withoutAuthority({ scheme, rest: after }), ...read, hasAuthority });
}

function withoutAuthority({
  scheme,
  rest,
  isOpaque = false,
}: {
  scheme: string;
  rest: string;
  isOpaque?: boolean;
}): UrlParts {
  const queryAt = rest.indexOf("?");
  const before = queryAt === -1 ? rest : rest.slice(0, queryAt);
  return {
    ...{ scheme: scheme.toLowerCase(), userinfo: "", host: "", hasAuthority: false },
    ...{ opaque: isOpaque ? before : "", path: isOpaque ? "" : before },
    query: queryAt === -1 ? undefined : rest.slice(queryAt + 1),
  };
}

const checked = (parts: UrlParts) => problemOfEscapes(parts.path) ?? parts;

function problemOfEscapes(text: string): UrlProblem | undefined {
  const [, broken] = /(%(?![0-9a-fA-F]{2}).{0,2})/su.exec(text) ?? [];
  return broken === undefined ? undefined : { problem: `invalid URL escape ${JSON.stringify(broken)}` };
}

function readAuthority(authority: string): Pick<UrlParts, "host" | "userinfo"> | UrlProblem {
  const at = authority.lastIndexOf("@");
  const host = readHost(authority.slice(at + 1));
  if (typeof host !== "string" || at === -1) return typeof host === "string" ? { host, userinfo: "" } : host;
  const userinfo = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo)) return { problem: "net/url: invalid userinfo" };
  return problemOfEscapes(userinfo) ?? { host, userinfo: `${userinfo}@` };
}

function readHost(host: string): string | UrlProblem {
  const open = host.lastIndexOf("[");
  if (open === -1) {
    const colon = host.indexOf(":");
    const port = colon === -1 ? "" : host.slice(colon);
    if (!isPort(port)) return { problem: `invalid port ${JSON.stringify(port)} after host` };
    return unescapeHost(host);
  }
  const close = host.lastIndexOf("]");
  if (close === -1) return { problem: "missing ']' in host" };
  const port = host.slice(close + 1);
  if (!isPort(port)) return { problem: `invalid port ${JSON.stringify(port)} after host` };
  const [address = "", ...zone] = host.slice(open + 1, close).split("%25");
  // Only an address of IPv6 is in brackets, and nothing stands before them.
  if (open > 0 || isIP(address) !== 6) return { problem: "invalid host" };
  return `[${[address, ...zone].join("%")}]${port}`;
}

const isPort = (text: string) => /^(:\d*)?$/.test(text);

/** What may stand in a host as it is. */
const HOST_CHARACTERS = /^[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"\u0080-\u{10ffff}]$/u;

function unescapeHost(host: string): string | UrlProblem {
  const broken = problemOfEscapes(host);
  if (broken) return broken;
  // Only what is not ASCII is escaped in a host, and the percent sign itself.
  const [ascii] = /%(?!25)[0-7]./s.exec(host) ?? [];
  if (ascii !== undefined) return { problem: `invalid URL escape ${JSON.stringify(ascii)}` };
  const strange = [...host].find((character) => character !== "%" && !HOST_CHARACTERS.test(character));
  if (strange !== undefined) return { problem: `invalid character ${JSON.stringify(strange)} in host name` };
  return unescapeBytes(host);
}

/** The text with its escapes as what they are; those of no UTF-8 as U+FFFD. */
function unescapeBytes(text: string): string {
  if (!text.includes("%")) return text;
  const parts = text.split(/%([0-9a-fA-F]{2})/);
  return Buffer.concat(parts.map((part, index) => Buffer.from(part, index % 2 === 1 ? "hex" : "utf8"))).toString();
}

/** The path as it was written where that is escaped well, else escaped. */
function escapePath(path: string): string {
  if (/^[A-Za-z0-9\-._~!$&'()*+,;=:@/[\]%]*$/.test(path) || path === "*") return path;
  const kept = /[A-Za-z0-9\-._~$&+,/:;=@]/;
  const escapeByte = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return [...unescapeBytes(path)]
    .map((character) => (kept.test(character) ? character : [...Buffer.from(character)].map(escapeByte).join("")))
    .join("");
}

/** Pairs that are not escaped well, or have a semicolon, are left out. */
function readQuery(query: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";") || problemOfEscapes(pair)) continue;
    const equals = pair.indexOf("=");
    const [name, value] = equals === -1 ? [pair, ""] : [pair.slice(0, equals), pair.slice(equals + 1)];
    const unescaped = unescapeBytes(name.replaceAll("+", " "));
    values.set(unescaped, [...(values.get(unescaped) ?? []), unescapeBytes(value.replaceAll("+", " "))]);
  }
  return values;
}
