/** What makes two attempts at one decision differ although they are made on the same state. */
export interface Chance {
  /** At least 0, less than 1. */
  number(): number;
  uuid(): string;
  /** Milliseconds since the epoch. */
  now(): number;
}
