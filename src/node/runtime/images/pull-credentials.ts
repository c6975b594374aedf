import { createHash } from "node:crypto";

/** What a registry is told. Never logged, never part of a message. */
interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
  /** Exchanged for a token at the registry's token service; in place of a password. */
  readonly identityToken: string;
}

/** One registry's credentials, under the key that their configuration gives them: a host, with or without scheme and path. */
export interface RegistryEntry {
  readonly key: string;
  readonly credentials: RegistryCredentials;
  /** Tells whether credentials are the same ones without telling what they are; as `hashCredentials` makes it. */
  readonly hash: string;
}

/** Whose credentials they are, and so who may use an image that was pulled with them. */
export type CredentialSource =
  | { readonly kind: "node" }
  | ({ readonly kind: "secret" } & SourceObject)
  | ({ readonly kind: "serviceAccount" } & SourceObject);

/** A Kubernetes object that credentials came from. */
export interface SourceObject {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Credentials that may open an image's repository. */
export interface PullCredentials extends Pick<RegistryEntry, "credentials" | "hash"> {
  readonly source: CredentialSource;
}

/** What goes into the hash, as a configuration says it. */
interface HashedFields {
  readonly username: string;
  readonly password: string;
  readonly email?: string;
  readonly identityToken?: string;
}

/**
 * SHA-256 of the credentials as Go writes them in JSON (pkg/credentialprovider/keyring.go, hashAuthConfig): it stands in
 * the records of pulled images, where a Go kubelet must find its own hash again.
 */
export function hashCredentials({ username, password, email = "", identityToken = "" }: HashedFields): string {
  const fields = { username, password, email, identitytoken: identityToken };
  const present = Object.entries(fields).filter(([, value]) => value !== "");
  return createHash("sha256")
    .update(formatAsGo(Object.fromEntries(present)))
    .digest("hex");
}

/** Go's encoder also escapes what could end a script element, and two separators that JavaScript once took for line ends. */
function formatAsGo(value: object): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
