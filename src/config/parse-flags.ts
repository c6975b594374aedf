import type { Flag } from "./flag-types.ts";
import { KUBELET_FLAGS } from "./flags.ts";

/** A command line that was understood, or its one error in pflag's words. */
type ParsedFlags =
  | {
      ok: true;
      /** The values by name. A flag given several times has all of its values or the last, depending on its type. */
      values: ReadonlyMap<string, unknown>;
      /** The arguments that are no flags. */
      rest: readonly string[];
      /** The notices about deprecated flags and flags without effect in this build: one sentence each, once. */
      notices: readonly string[];
    }
  | { ok: false; error: string };

const BY_NAME: ReadonlyMap<string, Flag> = new Map(KUBELET_FLAGS.map((flag) => [flag.name, flag]));
const BY_SHORTHAND: ReadonlyMap<string, Flag> = new Map(
  KUBELET_FLAGS.flatMap((flag) => (flag.shorthand === undefined ? [] : [[flag.shorthand, flag] as const])),
);

interface Cursor {
  readonly argv: readonly string[];
  next: number;
  readonly values: Map<string, unknown>;
}

/**
 * Reads a command line as pflag does: `--flag=value`, `--flag value`, `--bool`, `--bool=false`, `-v=4`, `-v 4`, `-v4`;
 * flags may follow other arguments; `--` ends them; `_` in a name counts as `-`.
 */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const cursor: Cursor = { argv, next: 0, values: new Map() };
  const rest: string[] = [];
  while (cursor.next < argv.length) {
    const argument = argv[cursor.next++] ?? "";
    if (argument === "--") {
      rest.push(...argv.slice(cursor.next));
      break;
    }
    if (!argument.startsWith("-") || argument === "-") {
      rest.push(argument);
      continue;
    }
    const error = argument.startsWith("--") ? parseLong(argument, cursor) : parseShort(argument, cursor);
    if (error !== undefined) return { ok: false, error };
  }
  return { ok: true, values: cursor.values, rest, notices: noticesOf(cursor.values) };
}

function parseLong(argument: string, cursor: Cursor): string | undefined {
  const [, written = "", assigned] = /^--([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
  if (written === "" || written.startsWith("-")) return `bad flag syntax: ${argument}`;
  const name = written.replaceAll("_", "-");
  const flag = BY_NAME.get(name);
  if (flag === undefined) return `unknown flag: --${name}`;
  const text = assigned ?? flag.type.withoutValue ?? cursor.argv[cursor.next++];
  return text === undefined ? `flag needs an argument: --${name}` : setFlag(flag, text, cursor);
}

/** `-vh` is `-v h` when v takes a value, and two flags when it takes none. */
function parseShort(argument: string, cursor: Cursor): string | undefined {
  for (let at = 1; at < argument.length; at++) {
    const letter = argument.charAt(at);
    const flag = BY_SHORTHAND.get(letter);
    if (flag === undefined) return `unknown shorthand flag: '${letter}' in ${argument}`;
    const after = argument.slice(at + 1);
    if (after.startsWith("=")) return setFlag(flag, after.slice(1), cursor);
    if (flag.type.withoutValue === undefined) {
      const text = after === "" ? cursor.argv[cursor.next++] : after;
      return text === undefined ? `flag needs an argument: '${letter}' in ${argument}` : setFlag(flag, text, cursor);
    }
    const error = setFlag(flag, flag.type.withoutValue, cursor);
    if (error !== undefined) return error;
  }
  return undefined;
}

function setFlag(flag: Flag, text: string, cursor: Cursor): string | undefined {
  const parsed = flag.type.parse(text, cursor.values.get(flag.name));
  if (parsed.ok) {
    cursor.values.set(flag.name, parsed.value);
    return undefined;
  }
  const shown = flag.shorthand === undefined ? `--${flag.name}` : `-${flag.shorthand}, --${flag.name}`;
  return `invalid argument ${JSON.stringify(text)} for "${shown}" flag: ${parsed.reason}`;
}

function noticesOf(values: ReadonlyMap<string, unknown>): string[] {
  const notices: string[] = [];
  for (const [name, value] of values) {
    const flag = BY_NAME.get(name);
    if (flag?.deprecated !== undefined) notices.push(`Flag --${name} has been deprecated, ${flag.deprecated}`);
    // A flag that is switched off needs no notice.
    if (value === false) continue;
    if (flag?.effect === "ignored") notices.push(`Flag --${name} is accepted but has no effect`);
  }
  return notices;
}
