/**
 * A failure with a code from a documented union, for callers that decide by the code and for people who read the
 * message. Expected outcomes are return values, not errors. An abort is neither (see `isAbort`).
 */
export class CodedError<Code extends string> extends Error {
  override readonly name: string = "CodedError";
  readonly code: Code;

  constructor(code: Code, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The `code` of a thrown CodedError or Node.js system error (`ENOENT`, …), if it has one. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}

const NO_SPACE: readonly unknown[] = ["ENOSPC", "EDQUOT", "SQLITE_FULL", "no-space"];

/** True for an error whose reason, in itself, in a cause or in one of several, is a disk or a quota that is full. */
export function isNoSpace(thrown: unknown): boolean {
  if (NO_SPACE.includes(codeOf(thrown))) return true;
  if (thrown instanceof AggregateError && thrown.errors.some(isNoSpace)) return true;
  return thrown instanceof Error && thrown.cause !== undefined && isNoSpace(thrown.cause);
}

/**
 * Runs every step even when some fail, then throws the failures: nothing for none, the error itself for one, an
 * AggregateError for more. It is for teardown, where stopping at the first error would leak the rest.
 */
export async function runAll(steps: ReadonlyArray<() => Promise<void> | void>, what: string): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  throwJoined(failures, what);
}

/** Throws nothing for an empty list, the error itself for one, an AggregateError naming `what` for more. */
export function throwJoined(failures: readonly unknown[], what: string): void {
  if (failures.length === 0) return;
  if (failures.length === 1) throw failures[0];
  throw new AggregateError(failures, `${what}: ${failures.map(messageOf).join("; ")}`);
}
