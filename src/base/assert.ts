/** Thrown when the program contradicts itself. Never caught to continue: it ends the process with its message. */
class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** Stays on in production. `message` says which invariant broke, not what the condition was. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Ends every `switch` over a union: the compiler proves it unreachable, the run time says so if data lied. */
export function assertNever(value: never, what: string): never {
  throw new AssertionError(`unexpected ${what}: ${JSON.stringify(value)}`);
}
