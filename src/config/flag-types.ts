import { isIP } from "node:net";
import { isRecord } from "../api/object.ts";
import type { Effect } from "./codec.ts";
import { formatDuration, parseDuration } from "./duration.ts";

/** One flag of the kubelet command. */
export interface Flag {
  readonly name: string;
  /** One letter, as in `-v`. */
  readonly shorthand?: string;
  readonly type: FlagType;
  readonly help: string;
  /** The value where the flag is not given; help shows it. */
  readonly initial: unknown;
  /** The replacement of a deprecated flag; the flag works as before. */
  readonly deprecated?: string;
  /** The path of the KubeletConfiguration field that it sets; undefined for flags that no file can replace. */
  readonly field?: string;
  readonly effect: Effect;
}

/** Converts a flag's text to a value, and shows a value as a default; the types are pflag's and kubelet's own. */
export interface FlagType {
  /** The name that help shows; empty for a boolean. */
  readonly name: string;
  /** The value of the flag without `=`; undefined where the flag takes the next argument. */
  readonly withoutValue?: string;
  /** `previous` is the value of an earlier occurrence on the same command line. */
  parse(text: string, previous: unknown): FlagParse;
  /** The text after `default`; undefined where the value is the type's zero and is not shown. */
  show(value: unknown): string | undefined;
}

type FlagParse = { ok: true; value: unknown } | { ok: false; reason: string };

const parsed = (value: unknown): FlagParse => ({ ok: true, value });
const refused = (reason: string): FlagParse => ({ ok: false, reason });

const TRUE = ["1", "t", "T", "true", "TRUE", "True"];
const FALSE = ["0", "f", "F", "false", "FALSE", "False"];

export const BOOL_FLAG: FlagType = {
  name: "",
  withoutValue: "true",
  parse(text) {
    if (TRUE.includes(text)) return parsed(true);
    if (FALSE.includes(text)) return parsed(false);
    return refused(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
  },
  show: (value) => (value === true ? "true" : undefined),
};

/** `least` is the lowest value of the Go type of this name. */
function integerFlag(name: string, limit: number, least: number = -limit): FlagType {
  return {
    name,
    parse(text) {
      const number = parseInteger(text);
      const call = `strconv.Parse${least === 0 ? "Uint" : "Int"}: parsing ${JSON.stringify(text)}`;
      if (number === undefined || (least === 0 && /^[+-]/.test(text))) return refused(`${call}: invalid syntax`);
      const fits = number >= least && number < limit && Number.isSafeInteger(number);
      return fits ? parsed(number) : refused(`${call}: value out of range`);
    },
    show: (value) => (typeof value === "number" && value !== 0 ? String(value) : undefined),
  };
}

/** Parses as Go's base 0 does: decimal, 0x, 0o or a leading 0, 0b, with underscores between digits. */
function parseInteger(text: string): number | undefined {
  const match = /^([+-]?)(0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+|\d[\d_]*)$/.exec(text);
  if (match === null) return undefined;
  const digits = (match[2] ?? "").replaceAll("_", "").toLowerCase();
  const number = /^0[0-7]/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
  return match[1] === "-" && number !== 0 ? -number : number;
}

export const INT32_FLAG: FlagType = integerFlag("int32", 2 ** 31);
export const INT_FLAG: FlagType = integerFlag("int", 2 ** 63);
/** klog's verbosity, which is never below 0. */
export const LEVEL_FLAG: FlagType = integerFlag("Level", 2 ** 31, 0);

const showText = (value: unknown) => (typeof value === "string" && value !== "" ? JSON.stringify(value) : undefined);

export const STRING_FLAG: FlagType = { name: "string", parse: (text) => parsed(text), show: showText };

/** A value of type pflag.Value shows its default without quotes. */
export const IP_FLAG: FlagType = {
  name: "string",
  parse: (text) => (isIP(text) === 0 ? refused(`${JSON.stringify(text)} is not a valid IP address`) : parsed(text)),
  show: (value) => (typeof value === "string" && value !== "" ? value : undefined),
};

/** The value is in milliseconds. */
export const DURATION_FLAG: FlagType = {
  name: "duration",
  parse(text) {
    const ms = parseDuration(text);
    return ms === undefined ? refused(`time: invalid duration ${JSON.stringify(text)}`) : parsed(ms);
  },
  show: (value) => (typeof value === "number" && value !== 0 ? formatDuration(value) : undefined),
};

/** The items are separated by commas and quoted as in CSV; every further occurrence adds to them. */
export const STRINGS_FLAG: FlagType = {
  name: "strings",
  parse(text, previous) {
    const items = splitCsv(text);
    if (items === undefined) return refused('parse error on line 1: bare " in non-quoted field');
    return parsed([...(Array.isArray(previous) ? previous : []), ...items]);
  },
  show: (value) => (Array.isArray(value) && value.length > 0 ? `[${value.join(",")}]` : undefined),
};

function splitCsv(text: string): string[] | undefined {
  if (text === "") return [];
  const items: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = field.exec(text);
    if (match === null) return undefined;
    items.push(match[1] === undefined ? (match[2] ?? "") : match[1].replaceAll('""', '"'));
    if (match[3] === "") return items;
  }
}

/** The pairs are separated by commas. Every further occurrence adds to them, and the last of one key wins. */
function pairsFlag<T>(options: {
  name: string;
  separator: string;
  expected: string;
  convert: (value: string, key: string) => { ok: true; value: T } | { ok: false; reason: string };
}): FlagType {
  return {
    name: options.name,
    parse(text, previous) {
      const entries: Array<[string, unknown]> = isRecord(previous) ? Object.entries(previous) : [];
      for (const pair of text.split(",")) {
        if (pair === "") continue;
        const at = pair.indexOf(options.separator);
        if (at < 0) return refused(`malformed pair, expect ${options.expected}`);
        const key = pair.slice(0, at).trim();
        const converted = options.convert(pair.slice(at + 1).trim(), key);
        if (!converted.ok) return converted;
        entries.push([key, converted.value]);
      }
      return parsed(Object.fromEntries(entries));
    },
    show(value) {
      const pairs = isRecord(value) ? Object.entries(value) : [];
      const shown = pairs
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => `${key}${options.separator}${String(item)}`);
      return shown.length === 0 ? undefined : shown.join(",");
    },
  };
}

const asIs = (text: string) => ({ ok: true as const, value: text });

export const MAP_FLAG: FlagType = pairsFlag({
  name: "mapStringString",
  separator: "=",
  expected: "string=string",
  convert: asIs,
});

/** Eviction thresholds: `memory.available<100Mi`. */
export const THRESHOLDS_FLAG: FlagType = pairsFlag({
  name: "mapStringString",
  separator: "<",
  expected: "string<string",
  convert: asIs,
});

export const FEATURE_GATES_FLAG: FlagType = pairsFlag({
  name: "mapStringBool",
  separator: "=",
  expected: "string=bool",
  convert(text, key) {
    const result = BOOL_FLAG.parse(text, undefined);
    if (result.ok) return { ok: true, value: result.value === true };
    return { ok: false, reason: `invalid value of ${key}: ${text}, err: ${result.reason}` };
  },
});

/**
 * HTTP headers have the form `Name:value`. Every further occurrence adds to them, also to the values of one name, in
 * order.
 */
export const HEADERS_FLAG: FlagType = {
  name: "colonSeparatedMultimapStringString",
  parse(text, previous) {
    const headers = new Map<string, readonly string[]>();
    for (const [name, values] of isRecord(previous) ? Object.entries(previous) : []) {
      if (Array.isArray(values)) headers.set(name, values);
    }
    for (const pair of text.split(",")) {
      if (pair === "") continue;
      const at = pair.indexOf(":");
      if (at < 0) return refused("malformed pair, expect string:string");
      const name = pair.slice(0, at).trim();
      headers.set(name, [...(headers.get(name) ?? []), pair.slice(at + 1).trim()]);
    }
    return parsed(Object.fromEntries(headers));
  },
  show: () => undefined,
};

/** Taints have the form `key=value:effect`, separated by commas; every further occurrence adds to them. */
export const TAINTS_FLAG: FlagType = {
  name: "[]v1.Taint",
  parse(text, previous) {
    const taints: unknown[] = Array.isArray(previous) ? [...previous] : [];
    for (const spec of text.split(",")) {
      if (spec === "") continue;
      const match = /^([^=:]+)(?:=([^=:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(spec);
      if (match === null)
        return refused(`invalid taint spec: ${spec}, expect key=value:NoSchedule, PreferNoSchedule or NoExecute`);
      taints.push({ key: match[1], value: match[2] ?? "", effect: match[3], timeAdded: undefined });
    }
    return parsed(taints);
  },
  show: () => undefined,
};

/** `0:memory=1Gi,hugepages-1M=2Gi;1:memory=1Gi`: a node and what to reserve on it; every further occurrence adds. */
export const RESERVED_MEMORY_FLAG: FlagType = {
  name: "reserved-memory",
  parse(text, previous) {
    const nodes: unknown[] = Array.isArray(previous) ? [...previous] : [];
    for (const part of text.split(";")) {
      const match = /^(\d{1,9}):(.+)$/.exec(part.trim());
      const limits = match === null ? undefined : MAP_FLAG.parse(match[2] ?? "", undefined);
      if (match === null || limits === undefined || !limits.ok) {
        return refused(`the format is "<NUMA node>:<type>=<quantity>,…", got ${JSON.stringify(part)}`);
      }
      nodes.push({ numaNode: Number(match[1]), limits: limits.value });
    }
    return parsed(nodes);
  },
  show: () => undefined,
};

export const VMODULE_FLAG: FlagType = {
  name: "pattern=N,...",
  parse(text) {
    const modules: Array<{ filePattern: string; verbosity: number }> = [];
    for (const pair of text.split(",")) {
      if (pair === "") continue;
      const match = /^([^=]+)=(\d{1,9})$/.exec(pair);
      if (match === null) return refused(`${JSON.stringify(pair)} does not have the pattern=N format`);
      modules.push({ filePattern: match[1] ?? "", verbosity: Number(match[2]) });
    }
    return parsed(modules);
  },
  show: () => undefined,
};

export const QUANTITY_FLAG: FlagType = {
  name: "quantity",
  parse: (text) =>
    /^\d+(\.\d+)?([kKMGTPE]i?)?$/.test(text)
      ? parsed(text)
      : refused("quantities must match a number like 512, 1K or 2Ki"),
  show: (value) => (typeof value === "string" && value !== "0" ? value : undefined),
};

/** `--version`, `--version=raw`, `--version=false`. */
export const VERSION_FLAG: FlagType = {
  name: "version[=true]",
  withoutValue: "true",
  parse(text) {
    if (text === "raw" || /^v\d+\.\d+\.\d+/.test(text)) return parsed(text);
    const result = BOOL_FLAG.parse(text, undefined);
    return result.ok ? parsed(result.value === true ? "true" : "false") : result;
  },
  show: () => undefined,
};
