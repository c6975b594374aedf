import type { ResourceReader } from "../ports/resources.ts";
import type { User } from "../ports/user.ts";
import type { TokenIssuer } from "./service-account-tokens.ts";

/**
 * The result of a login with a token: `none` for a token that this way of login does not know, `refused` with a reason
 * for one that is no longer valid.
 */
export type TokenLogin =
  | { readonly kind: "user"; readonly user: User; readonly audiences: readonly string[] }
  | { readonly kind: "refused"; readonly problem: string }
  | { readonly kind: "none" };

/** The dependencies of the ways to log in with a token. */
export interface LoginDeps {
  readonly reader: ResourceReader;
  readonly tokens: TokenIssuer;
  /** Milliseconds since the epoch. */
  now(): number;
}
