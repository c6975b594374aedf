/**
 * One step of a fake container's process, read from its command: `sleep 5`, `false`, or `sh -c` with a small part of
 * the shell's language: `;`, `&&`, `||`, `&`, `wait`, `exec`, `trap '…' TERM`, `while true; do …; done`, `echo … >
 * /path`. This module is pure; `runFakeProcess` carries the steps out.
 */
export type Step = { when?: "success" | "failure" } & Action;

type Action =
  /** Without a code the process exits with the status of the step that ran last. */
  | { do: "exit"; code: number | undefined }
  /** Ends the step with this status, and the script goes on. */
  | { do: "status"; code: number }
  /**
   * If the sleep is interruptible, a trap runs at once and not only when the time is over, as after `sleep 9 & wait`.
   */
  | { do: "sleep"; ms: number; interruptible: boolean }
  | { do: "print"; text: string; path: string | undefined }
  | { do: "trap"; steps: Step[] }
  | { do: "loop"; steps: Step[] };

const FOREVER = Number.POSITIVE_INFINITY;
const NOT_FOUND = 127;

/** Undefined where there is no such program, so that the container cannot start. */
export function readCommand(argv: readonly string[]): Step[] | undefined {
  const [program = "", ...args] = argv;
  const name = program.replace(/^(\/usr)?\/bin\//, "");
  switch (name) {
    case "true":
    case ":":
      return [{ do: "status", code: 0 }];
    case "false":
      return [{ do: "status", code: 1 }];
    case "sleep":
      return [sleepStep(args)];
    case "echo":
      return [{ do: "print", text: args.join(" "), path: undefined }];
    case "httpd":
    case "pause":
    case "tail":
      return [{ do: "sleep", ms: FOREVER, interruptible: false }];
    case "sh":
      return readShell(args);
    default:
      return undefined;
  }
}

/** A shell without a script reads its standard input, which is empty. */
function readShell(args: readonly string[]): Step[] {
  const [option, script] = args;
  return option === "-c" && script !== undefined ? readScript(script) : [{ do: "status", code: 0 }];
}

function readScript(script: string): Step[] {
  return new ScriptReader(splitTokens(script)).readSteps();
}

type Token = { operator: string } | { word: string };

const TOKEN = /\s*(?:(&&|\|\||;|&|>)|((?:'[^']*'|"[^"]*"|[^\s;&|>'"])+))/y;
function splitTokens(script: string): Token[] {
  const text = script.trim().replaceAll(/\s*\n\s*/g, ";");
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let from = 0; from < text.length; from = TOKEN.lastIndex) {
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`the fake shell cannot read ${JSON.stringify(text.slice(from))}`);
    const [, operator, word] = match;
    if (operator !== undefined) tokens.push({ operator });
    else if (word !== undefined) tokens.push({ word: word.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2") });
  }
  return tokens;
}

/** Reads one script from left to right. */
class ScriptReader {
  #tokens: readonly Token[];
  #next = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** Reads the steps up to the end, or to `done`. */
  readSteps(): Step[] {
    const steps: Step[] = [];
    let when: Step["when"];
    while (this.#next < this.#tokens.length) {
      const words = this.#readWords();
      if (words[0] === "done") break;
      const path = this.#readRedirection();
      const end = this.#readOperator();
      const background = end === "&";
      for (const step of this.#readStatement(words, { path, background })) steps.push(when ? { ...step, when } : step);
      when = end === "&&" ? "success" : end === "||" ? "failure" : undefined;
    }
    return steps;
  }

  #readStatement(words: string[], how: { path: string | undefined; background: boolean }): Step[] {
    const [name = "", ...args] = words;
    switch (name) {
      case "":
      case "wait":
        return [];
      case "exec":
        return [...this.#readStatement(args, how), { do: "exit", code: undefined }];
      case "exit":
        return [{ do: "exit", code: args[0] === undefined ? undefined : Number(args[0]) }];
      case "trap":
        return [{ do: "trap", steps: readScript(args[0] ?? "") }];
      case "while": {
        const first = this.#readWords();
        if (args[0] !== "true" && args[0] !== ":") throw new Error("the fake shell knows `while true` only");
        return [{ do: "loop", steps: this.#readBody(first) }];
      }
      default:
        return this.#readProgram(words, how);
    }
  }

  #readBody(first: string[]): Step[] {
    if (first[0] !== "do") throw new Error("the fake shell expects `do`");
    const inner = new ScriptReader([...first.slice(1).map((word) => ({ word })), ...this.#tokens.slice(this.#next)]);
    const steps = inner.readSteps();
    this.#next += inner.#next - (first.length - 1);
    return steps;
  }

  #readProgram(words: string[], how: { path: string | undefined; background: boolean }): Step[] {
    const steps = readCommand(words) ?? [{ do: "status", code: NOT_FOUND }];
    return steps.map((step) => {
      if (step.do === "sleep") return { ...step, interruptible: how.background };
      if (step.do === "print") return { ...step, path: how.path };
      return step;
    });
  }

  #readWords(): string[] {
    const words: string[] = [];
    for (let token = this.#tokens[this.#next]; token && "word" in token; token = this.#tokens[this.#next]) {
      words.push(token.word);
      this.#next++;
    }
    return words;
  }

  #readRedirection(): string | undefined {
    const token = this.#tokens[this.#next];
    if (!token || !("operator" in token) || token.operator !== ">") return undefined;
    this.#next++;
    const [path] = this.#readWords();
    if (path === undefined) throw new Error("the fake shell expects a path after >");
    return path;
  }

  #readOperator(): string | undefined {
    const token = this.#tokens[this.#next];
    if (!token || !("operator" in token)) return undefined;
    this.#next++;
    return token.operator;
  }
}

const UNIT_MS: Record<string, number> = { "": 1_000, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function sleepStep([duration = ""]: readonly string[]): Step {
  const match = /^([\d.]+)([smhd]?)$/.exec(duration);
  if (duration === "infinity" || duration === "inf") return { do: "sleep", ms: FOREVER, interruptible: false };
  if (match === null) return { do: "status", code: 1 };
  return { do: "sleep", ms: Number(match[1]) * (UNIT_MS[match[2] ?? ""] ?? 0), interruptible: false };
}
