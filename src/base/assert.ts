/**
 * It is thrown when the program contradicts itself. It is never caught to continue: it ends the process with its
 * message.
 */
class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** The check stays on in production. `message` says which invariant broke, not what the condition was. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/**
 * It ends every `switch` over a union. The compiler proves it unreachable, and it throws at run time if the data does
 * not fit the types.
 */
export function assertNever(value: never, what: string): never {
  throw new AssertionError(`unexpected ${what}: ${JSON.stringify(value)}`);
}
