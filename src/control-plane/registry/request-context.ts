import type { User } from "../ports/user.ts";

/** Of one request, what does not depend on its verb. */
export interface RequestContext {
  readonly user: User;
  /** Everything but the write. */
  readonly dryRun: boolean;
  /** Whose the changed fields are, in managedFields. */
  readonly fieldManager: string;
  /** What to do about unknown and duplicate fields. */
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  /** What the body says twice, for whoever decodes it: `duplicate field "spec.a"`. */
  readonly duplicates?: readonly string[];
  /** Adds a Warning header to the answer. */
  warn(message: string): void;
}
