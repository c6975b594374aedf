import type { Secret } from "../../api/gen/types.ts";
import { isRecord } from "../../api/object.ts";

/** What a registry is told. Never logged, never part of a message. */
export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
  /** Exchanged for a token at the registry's token service; in place of a password. */
  readonly identityToken: string;
}

/** One registry's credentials, under the key that the secret gives them: a host, with or without scheme and path. */
export interface RegistryEntry {
  readonly key: string;
  readonly credentials: RegistryCredentials;
}

/** The error says what is wrong without a word of the content. */
export type DockerConfig = { ok: true; entries: RegistryEntry[] } | { ok: false; error: string };

/** Kubernetes limits a secret to 1 MiB; what comes from elsewhere is held to the same. */
const MAX_CONFIG_CHARS = 2 * 1024 * 1024;

/**
 * Reads an image pull secret: `kubernetes.io/dockerconfigjson` or the older `kubernetes.io/dockercfg`. A secret of
 * another type holds no credentials. Follows pkg/credentialprovider (config.go, secrets.go).
 */
export function readDockerConfig({ type, data = {} }: Secret): DockerConfig {
  if (type === "kubernetes.io/dockerconfigjson") return parse(data[".dockerconfigjson"], (root) => root["auths"]);
  if (type === "kubernetes.io/dockercfg") return parse(data[".dockercfg"], (root) => root);
  return { ok: true, entries: [] };
}

function parse(encoded: string | undefined, auths: (root: Record<string, unknown>) => unknown): DockerConfig {
  if (encoded === undefined || encoded === "") return { ok: true, entries: [] };
  if (encoded.length > MAX_CONFIG_CHARS) return { ok: false, error: "is too long" };
  const root = parseJson(Buffer.from(encoded, "base64").toString("utf8"));
  if (!isRecord(root)) return { ok: false, error: "is not a JSON object" };
  const registries = auths(root) ?? {};
  if (!isRecord(registries)) return { ok: false, error: "has no object of registries" };
  const entries: RegistryEntry[] = [];
  for (const [key, value] of Object.entries(registries)) {
    const credentials = readCredentials(value);
    if (credentials === undefined) return { ok: false, error: `has an entry that cannot be read (${quoteKey(key)})` };
    entries.push({ key, credentials });
  }
  return { ok: true, entries };
}

/** The parser's own message would quote what it stumbled over. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Registries are named, so that the entry can be found; what is too odd to be one might be a slip of the pen. */
function quoteKey(key: string): string {
  return /^[\w.:/*-]{1,255}$/.test(key) ? `"${key}"` : "its name is no registry's";
}

/** `auth` wins over a user name and password beside it. */
function readCredentials(entry: unknown): RegistryCredentials | undefined {
  if (!isRecord(entry)) return undefined;
  const { username = "", password = "", auth = "", identitytoken: identityToken = "" } = entry;
  if (typeof username !== "string" || typeof password !== "string") return undefined;
  if (typeof auth !== "string" || typeof identityToken !== "string") return undefined;
  const basic = auth === "" ? { username, password } : decodeAuth(auth);
  if (basic === undefined) return undefined;
  // Beside a token stands a placeholder for the user, which a runtime would prefer over the token.
  const isToken = identityToken !== "" && basic.password === "";
  return isToken ? { username: "", password: "", identityToken } : { ...basic, identityToken };
}

/** base64 of `user:password`, with or without padding. */
function decodeAuth(auth: string): { username: string; password: string } | undefined {
  const text = auth.trim();
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const decoded = Buffer.from(text, "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  return colon < 0 ? undefined : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}
