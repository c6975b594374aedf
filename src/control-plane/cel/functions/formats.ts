import {
  checkDns1035Label,
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  checkQualifiedName,
} from "../../../api/validation/names.ts";
import { member, type Overload, objectArg, plain, sizeOf, stringArg } from "../overload.ts";
import * as types from "../types.ts";
import { type CelValue, celList, NONE, optionalOf } from "../values.ts";
import { parseDate, parseTimestamp } from "./time-text.ts";

const { STRING } = types;
/** The type of `format.dns1123Label()`. */
export const FORMAT = types.opaqueType("kubernetes.NamedFormat");

type Check = (text: string) => string[];

const unless =
  (isRight: (text: string) => boolean, problem: string): Check =>
  (text) =>
    isRight(text) ? [] : [problem];
/** A prefix, to which a generated name is added, may end with a dash. */
const prefixOf =
  (check: Check): Check =>
  (text) =>
    check(text.replace(/-$/, "a"));

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const isBase64 = (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

/** The formats by the names that expressions have for them. */
const FORMATS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["dns1123Label", checkDnsLabel],
  ["dns1123Subdomain", checkDnsSubdomain],
  ["dns1035Label", checkDns1035Label],
  ["qualifiedName", checkQualifiedName],
  ["dns1123LabelPrefix", prefixOf(checkDnsLabel)],
  ["dns1123SubdomainPrefix", prefixOf(checkDnsSubdomain)],
  ["dns1035LabelPrefix", prefixOf(checkDns1035Label)],
  ["labelValue", checkLabelValue],
  ["uri", unless((text) => text.startsWith("/") || URL.canParse(text), "invalid URI for request")],
  ["uuid", unless((text) => UUID.test(text), "does not match the UUID format")],
  ["byte", unless(isBase64, "invalid base64")],
  ["date", unless((text) => parseDate(text) !== undefined, "invalid date")],
  ["datetime", unless((text) => parseTimestamp(text) !== undefined, "invalid datetime")],
]);

/** About what the longest pattern of a format costs for each character. */
const PATTERN_COST = 16;
const validateCost = (args: readonly CelValue[]) => Math.ceil((1 + sizeOf(args[1])) * 0.1) * PATTERN_COST;

/** Kubernetes' named formats. */
export const FORMAT_FUNCTIONS: readonly Overload[] = [
  ...[...FORMATS.keys()].map((name) => plain(`format.${name}`, [[], FORMAT], () => ({ kind: "format", name }))),
  plain("format.named", [[STRING], types.optionalType(FORMAT)], ([name]) => {
    return FORMATS.has(stringArg(name)) ? optionalOf({ kind: "format", name: stringArg(name) }) : NONE;
  }),
  member(
    "validate",
    [[FORMAT, STRING], types.optionalType(types.listType(STRING))],
    ([format, text]) => {
      const problems = FORMATS.get(objectArg("format", format).name)?.(stringArg(text)) ?? [];
      return problems.length === 0 ? NONE : optionalOf(celList(problems));
    },
    validateCost,
  ),
];
