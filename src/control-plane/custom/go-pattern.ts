/**
 * A pattern as CRDs write it (Go's RE2 syntax), compiled for JavaScript. What both understand differently is rewritten;
 * what RE2 does not have (looking around, references to groups) is refused as kube-apiserver refuses it. Not the same:
 * RE2 takes time in proportion to the text, whereas here a careless pattern (`(a+)+$`) can take long; whoever writes CRDs
 * administers the cluster.
 */
export type CompiledPattern = { readonly regExp: RegExp } | { readonly problem: string };

const UNSUPPORTED = /\(\?(?:=|!|<=|<!)|\\[1-9]/;

/** Patterns repeat over objects; a cluster has few of them. */
const compiled = new Map<string, CompiledPattern>();
const MAX_COMPILED = 2_000;

/** The pattern, ready to test with; it matches anywhere in a text unless it says otherwise. */
export function compilePattern(pattern: string): CompiledPattern {
  const known = compiled.get(pattern);
  if (known) return known;
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  const result = compile(pattern);
  compiled.set(pattern, result);
  return result;
}

function compile(pattern: string): CompiledPattern {
  const unsupported = UNSUPPORTED.exec(withoutClasses(pattern));
  if (unsupported) {
    return { problem: `error parsing regexp: invalid or unsupported Perl syntax: \`${unsupported[0]}\`` };
  }
  const [, flags = "", rest = ""] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [undefined, "", pattern];
  const source = translate(rest);
  // With the u flag code points are characters, as in Go. It is strict about escapes, so some patterns go without.
  return (
    tryCompile(source, `u${flags}`) ?? tryCompile(source, flags) ?? { problem: `error parsing regexp: \`${pattern}\`` }
  );
}

function tryCompile(source: string, flags: string): CompiledPattern | undefined {
  try {
    return { regExp: new RegExp(source, flags) };
  } catch {
    return undefined;
  }
}

/** Escaped characters and character classes blanked out: what is left is syntax. */
function withoutClasses(pattern: string): string {
  return pattern.replaceAll(/\\[^1-9]|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/g, " ");
}

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

function translate(pattern: string): string {
  return pattern
    .replaceAll(/\[:(\w+):\]/g, (whole, name: string) => POSIX_CLASSES[name] ?? whole)
    .replaceAll("(?P<", "(?<")
    .replaceAll(/(?<!\\)((?:\\\\)*)\\z/g, "$1$")
    .replaceAll(/(?<!\\)((?:\\\\)*)\\A/g, "$1^")
    .replaceAll(/(?<!\\)((?:\\\\)*)\\([pP])([A-Z])/g, "$1\\$2{$3}")
    .replaceAll(/(?<!\\)((?:\\\\)*)\\x\{([0-9A-Fa-f]+)\}/g, "$1\\u{$2}");
}
