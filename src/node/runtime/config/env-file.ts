/** What an env file declares, down to the first line that breaks its rules. */
export interface EnvFile {
  readonly values: ReadonlyMap<string, string>;
  /** Tells the line that cannot be read, counted from 1, and nothing of the file's content. */
  readonly error: string | undefined;
}

/** An empty line, a comment, or a declaration: its name and its value. */
const LINE = /[ \t]*(?:([^\s=#](?:[^=\n]*[^\s=])?)='([^'\0]*)'[ \t\r]*(?:[ \t]#[^\n]*)?|(?:#[^\n]*)?\r?)(?:\n|$)/y;

/**
 * Reads an env file, in time that grows with its length. A line is empty, a comment that begins with `#`, or
 * `NAME='VALUE'`, each with blanks before it, and blanks and a comment behind it. A value may span lines and holds any
 * character but a quote, which nothing escapes: a POSIX shell that sources the file gets the same values. The first
 * declaration of a name counts. Follows pkg/kubelet/util/env.
 */
export function parseEnvFile(text: string): EnvFile {
  const values = new Map<string, string>();
  let place = 0;
  while (place < text.length) {
    LINE.lastIndex = place;
    const found = LINE.exec(text);
    if (found === null) return { values, error: explain(text, place) };
    const [, name, value = ""] = found;
    if (name !== undefined && !values.has(name)) values.set(name, value);
    place = LINE.lastIndex;
  }
  return { values, error: undefined };
}

/** Says what is wrong with the line that begins at `place`. */
function explain(text: string, place: number): string {
  const line = text.slice(0, place).split("\n").length;
  return `invalid environment variable format at line ${line}: ${findProblem(text.slice(place).trimStart())}`;
}

function findProblem(rest: string): string {
  const [declared = ""] = rest.split("\n", 1);
  const equals = declared.indexOf("=");
  if (equals === -1) return "it must be NAME='VALUE'";
  if (equals === 0) return "there is no name before '='";
  if (/\s/.test(declared.charAt(equals - 1))) return "whitespace before '=' is not allowed";
  if (declared.charAt(equals + 1) !== "'") return "value must be enclosed in single quotes";
  const closing = rest.indexOf("'", equals + 2);
  if (closing === -1) return "unclosed single quote";
  return rest.slice(0, closing).includes("\0") ? "value contains a NUL byte" : "unexpected content after closing quote";
}
