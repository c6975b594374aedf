import { formatQuantity, parseQuantity } from "../../../api/quantity.ts";
import { compareBig, compareSemver } from "../equality.ts";
import { intArg, member, type Overload, objectArg, plain, stringArg, traversal } from "../overload.ts";
import * as types from "../types.ts";
import { type CelValue, celList, celMap, failure, type SemverValue, type UrlValue } from "../values.ts";

const { BOOL, DOUBLE, INT, STRING } = types;
/** The type of `quantity(…)`. */
export const QUANTITY = types.opaqueType("kubernetes.Quantity");
/** The type of `url(…)`. */
export const URL_TYPE = types.opaqueType("kubernetes.URL");
/** The type of `semver(…)`. */
export const SEMVER = types.opaqueType("kubernetes.Semver");

const NANOS = 1_000_000_000n;
const nanosArg = (value: CelValue | undefined) => objectArg("quantity", value).nanos;
const quantityOf = (nanos: bigint): CelValue => ({ kind: "quantity", nanos });
const isWhole = (nanos: bigint) => nanos % NANOS === 0n && nanos / NANOS < 2n ** 63n && nanos / NANOS >= -(2n ** 63n);

function toQuantity(text: string): CelValue {
  const parsed = parseQuantity(text);
  if (parsed) return quantityOf(parsed.nanos);
  const pattern = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";
  return failure(`quantities must match the regular expression '${pattern}'`);
}

const QUANTITIES = [
  plain("quantity", [[STRING], QUANTITY], ([text]) => toQuantity(stringArg(text)), traversal),
  plain("isQuantity", [[STRING], BOOL], ([text]) => parseQuantity(stringArg(text)) !== undefined, traversal),
  member("sign", [[QUANTITY], INT], ([a]) => BigInt(compareBig(nanosArg(a), 0n))),
  plain("sign", [[QUANTITY], INT], ([a]) => BigInt(compareBig(nanosArg(a), 0n))),
  member("isGreaterThan", [[QUANTITY, QUANTITY], BOOL], ([a, b]) => nanosArg(a) > nanosArg(b)),
  member("isLessThan", [[QUANTITY, QUANTITY], BOOL], ([a, b]) => nanosArg(a) < nanosArg(b)),
  member("compareTo", [[QUANTITY, QUANTITY], INT], ([a, b]) => BigInt(compareBig(nanosArg(a), nanosArg(b)))),
  member("asApproximateFloat", [[QUANTITY], DOUBLE], ([a]) => Number(nanosArg(a)) / 1e9),
  member("asInteger", [[QUANTITY], INT], ([a]) => {
    return isWhole(nanosArg(a)) ? nanosArg(a) / NANOS : failure("cannot convert value to integer");
  }),
  member("isInteger", [[QUANTITY], BOOL], ([a]) => isWhole(nanosArg(a))),
  member("add", [[QUANTITY, QUANTITY], QUANTITY], ([a, b]) => quantityOf(nanosArg(a) + nanosArg(b))),
  member("add", [[QUANTITY, INT], QUANTITY], ([a, b]) => quantityOf(nanosArg(a) + intArg(b) * NANOS)),
  member("sub", [[QUANTITY, QUANTITY], QUANTITY], ([a, b]) => quantityOf(nanosArg(a) - nanosArg(b))),
  member("sub", [[QUANTITY, INT], QUANTITY], ([a, b]) => quantityOf(nanosArg(a) - intArg(b) * NANOS)),
  plain("string", [[QUANTITY], STRING], ([a]) => formatQuantity({ nanos: nanosArg(a), format: "DecimalSI" })),
];

/** A URL as Go's `url.ParseRequestURI` takes it: absolute, or a path from the root. */
function parseUrl(text: string): UrlValue | undefined {
  const isPath = text.startsWith("/");
  const isPlain = /^[\x21-\x7e\u0080-\uffff]+$/.test(text) && !/%(?![0-9a-fA-F]{2})/.test(text);
  if (!isPlain || (!isPath && !/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\//.test(text))) return undefined;
  const [, scheme = "", authority = "", path = "", query = ""] =
    /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/.exec(text) ?? [];
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const [, hostname = "", port = ""] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(host) ?? [];
  if (host !== "" && hostname === "" && port === "") return undefined;
  const bare = hostname.replace(/^\[|\]$/g, "");
  return { kind: "url", text, scheme: scheme.toLowerCase(), host, hostname: bare, port, path, query: readQuery(query) };
}

function readQuery(query: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) values.set(name, [...(values.get(name) ?? []), value]);
  return values;
}

const urlArg = (value: CelValue | undefined) => objectArg("url", value);

const URL_PARTS: Readonly<Record<string, (url: UrlValue) => string>> = {
  getScheme: ({ scheme }) => scheme,
  getHost: ({ host }) => host,
  getHostname: ({ hostname }) => hostname,
  getPort: ({ port }) => port,
  getEscapedPath: ({ path }) => encodeURI(path).replaceAll("%25", "%"),
};

const URLS = [
  plain(
    "url",
    [[STRING], URL_TYPE],
    ([text]) => {
      const shown = JSON.stringify(stringArg(text));
      return (
        parseUrl(stringArg(text)) ??
        failure(`URL parse error during conversion from string: parse ${shown}: invalid URI for request`)
      );
    },
    traversal,
  ),
  plain("isURL", [[STRING], BOOL], ([text]) => parseUrl(stringArg(text)) !== undefined, traversal),
  ...Object.entries(URL_PARTS).map(([name, part]) => member(name, [[URL_TYPE], STRING], ([url]) => part(urlArg(url)))),
  member("getQuery", [[URL_TYPE], types.mapType(STRING, types.listType(STRING))], ([url]) => {
    return celMap([...urlArg(url).query].map(([name, values]) => [name, celList(values)] as const));
  }),
];

const IDENTIFIERS = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";
const SEMANTIC = new RegExp(
  `^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-(${IDENTIFIERS}))?(?:\\+(${IDENTIFIERS}))?$`,
);

/** The semantic version that the text is; undefined for any other text. */
export function parseSemver(text: string): SemverValue | undefined {
  const [whole, major = "", minor = "", patch = "", prerelease, build = ""] = SEMANTIC.exec(text) ?? [];
  if (whole === undefined || text.length > 256) return undefined;
  const parts = prerelease === undefined ? [] : prerelease.split(".");
  if (parts.some((part) => /^0\d+$/.test(part))) return undefined;
  return { kind: "semver", major: BigInt(major), minor: BigInt(minor), patch: BigInt(patch), prerelease: parts, build };
}

/** Makes a version of what is nearly one: without a leading v and leading zeros, with what is missing as zeros. */
function normalize(text: string): string {
  const [, core = "", rest = ""] = /^v?([^-+]*)(.*)$/.exec(text) ?? [];
  const parts = core.split(".").map((part) => part.replace(/^0+(?=\d)/, ""));
  while (parts.length < 3) parts.push("0");
  return parts.join(".") + rest;
}

const readSemver = (text: CelValue | undefined, lenient: CelValue | undefined) =>
  parseSemver(lenient === true ? normalize(stringArg(text)) : stringArg(text));

const semverArg = (value: CelValue | undefined) => objectArg("semver", value);
const order = (a: CelValue | undefined, b: CelValue | undefined) => compareSemver(semverArg(a), semverArg(b));

const SEMVERS = [
  ...[[STRING], [STRING, BOOL]].flatMap((args) => [
    plain(
      "semver",
      [args, SEMVER],
      ([text, lenient]) => {
        return readSemver(text, lenient) ?? failure(`invalid semantic version: ${stringArg(text)}`);
      },
      traversal,
    ),
    plain("isSemver", [args, BOOL], ([text, lenient]) => readSemver(text, lenient) !== undefined, traversal),
  ]),
  member("isGreaterThan", [[SEMVER, SEMVER], BOOL], ([a, b]) => order(a, b) > 0),
  member("isLessThan", [[SEMVER, SEMVER], BOOL], ([a, b]) => order(a, b) < 0),
  member("compareTo", [[SEMVER, SEMVER], INT], ([a, b]) => BigInt(Math.sign(order(a, b)))),
  member("major", [[SEMVER], INT], ([a]) => semverArg(a).major),
  member("minor", [[SEMVER], INT], ([a]) => semverArg(a).minor),
  member("patch", [[SEMVER], INT], ([a]) => semverArg(a).patch),
];

/** Kubernetes' functions of quantities, URLs and semantic versions. */
export const KUBERNETES_FUNCTIONS: readonly Overload[] = [...QUANTITIES, ...URLS, ...SEMVERS];
