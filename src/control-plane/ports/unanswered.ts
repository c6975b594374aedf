/**
 * Thrown by a decision that must ask somebody outside of this process first. The decision is made again, on the state of
 * that time, when `ask` has resolved; nothing was written.
 */
export class UnansweredError extends Error {
  override readonly name = "UnansweredError";
  readonly ask: () => Promise<void>;

  constructor(ask: () => Promise<void>) {
    super("a decision waits for an answer");
    this.ask = ask;
  }
}
