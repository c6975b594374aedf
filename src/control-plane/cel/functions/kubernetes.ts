import { formatQuantity, parseQuantity } from "../../../api/quantity.ts";
import { compareBig, compareSemver } from "../equality.ts";
import { intArg, member, type Overload, objectArg, plain, stringArg, traversal } from "../overload.ts";
import * as types from "../types.ts";
import { type CelValue, celList, celMap, failure, type SemverValue, type UrlValue } from "../values.ts";
import { isUrl, parseUrl } from "./parse-url.ts";

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
  if (new RegExp(pattern).test(text)) return failure("unable to parse quantity's suffix");
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

const urlArg = (value: CelValue | undefined) => objectArg("url", value);

const URL_PARTS: Readonly<Record<string, (url: UrlValue) => string>> = {
  getScheme: ({ scheme }) => scheme,
  getHost: ({ host }) => host,
  getHostname: ({ hostname }) => hostname,
  getPort: ({ port }) => port,
  getEscapedPath: ({ path }) => path,
};

const URLS = [
  plain(
    "url",
    [[STRING], URL_TYPE],
    ([text]) => {
      const url = parseUrl(stringArg(text));
      if (!("problem" in url)) return url;
      const shown = JSON.stringify(stringArg(text));
      return failure(`URL parse error during conversion from string: parse ${shown}: ${url.problem}`);
    },
    traversal,
  ),
  plain("isURL", [[STRING], BOOL], ([text]) => isUrl(stringArg(text)), traversal),
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
  const [major = "", minor, ...patch] = text.replace(/^v/, "").split(".");
  // What is short has no pre-release and no build: `1-rc` is no version.
  if (patch.length === 0 && /[-+]/.test(minor ?? major)) return "";
  const parts = [major, minor ?? "0", patch.length === 0 ? "0" : patch.join(".")];
  return parts.map((part) => part.replace(/^0+(?=\d)/, "")).join(".");
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
