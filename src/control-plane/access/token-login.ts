import type { ResourceReader } from "../ports/resources.ts";
import type { User } from "../ports/user.ts";
import type { TokenIssuer } from "./service-account-tokens.ts";

/** Whose a token is: `none` when it is nobody's that we know of, `refused` when it was, with why not any more. */
export type TokenLogin =
  | { readonly kind: "user"; readonly user: User; readonly audiences: readonly string[] }
  | { readonly kind: "refused"; readonly problem: string }
  | { readonly kind: "none" };

/** What a way to log in by a token works with. */
export interface LoginDeps {
  readonly reader: ResourceReader;
  readonly tokens: TokenIssuer;
  /** Milliseconds since the epoch. */
  now(): number;
}
