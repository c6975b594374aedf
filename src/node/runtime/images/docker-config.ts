import type { Secret } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";
import { tryParseJson } from "../../../base/parse-json.ts";
import { hashCredentials, type RegistryEntry } from "./pull-credentials.ts";

/** The entries, or an error that contains nothing of the content. */
type DockerConfig = { ok: true; entries: RegistryEntry[] } | { ok: false; error: string };

/** The limit of an encoded configuration, in characters. Kubernetes limits a secret to 1 MiB. */
const MAX_CONFIG_CHARS = 2 * 1024 * 1024;

/**
 * Reads an image pull secret: `kubernetes.io/dockerconfigjson` or the older `kubernetes.io/dockercfg`. A secret of
 * another type holds no credentials. Follows pkg/credentialprovider (config.go, secrets.go).
 */
export function readPullSecret({ type, data = {} }: Secret): DockerConfig {
  if (type === "kubernetes.io/dockerconfigjson") return readEncoded(data[".dockerconfigjson"], readDockerConfigJson);
  if (type === "kubernetes.io/dockercfg") return readEncoded(data[".dockercfg"], readDockercfg);
  return { ok: true, entries: [] };
}

function readEncoded(encoded: string | undefined, read: (text: string) => DockerConfig): DockerConfig {
  if (encoded === undefined || encoded === "") return { ok: true, entries: [] };
  if (encoded.length > MAX_CONFIG_CHARS) return { ok: false, error: "is too long" };
  return read(Buffer.from(encoded, "base64").toString("utf8"));
}

/** `config.json`: registries below `auths`. */
export function readDockerConfigJson(text: string): DockerConfig {
  const root = tryParseJson(text);
  return isRecord(root) ? readRegistries(root["auths"] ?? {}) : { ok: false, error: "is not a JSON object" };
}

/** The older `.dockercfg`: registries at the top. */
export function readDockercfg(text: string): DockerConfig {
  const root = tryParseJson(text);
  return isRecord(root) ? readRegistries(root) : { ok: false, error: "is not a JSON object" };
}

function readRegistries(registries: unknown): DockerConfig {
  if (!isRecord(registries)) return { ok: false, error: "has no object of registries" };
  const entries: RegistryEntry[] = [];
  for (const [key, value] of Object.entries(registries)) {
    const entry = readEntry(key, value);
    if (entry === undefined) return { ok: false, error: `has an entry that cannot be read (${quoteKey(key)})` };
    entries.push(entry);
  }
  return { ok: true, entries };
}

/** Quotes a registry's key, so that the entry can be found. A key that cannot be a registry might be a misplaced secret. */
function quoteKey(key: string): string {
  return /^[\w.:/*-]{1,255}$/.test(key) ? `"${key}"` : "its name is no registry's";
}

/** Reads one entry. `auth` wins over a user name and password beside it. */
function readEntry(key: string, entry: unknown): RegistryEntry | undefined {
  if (!isRecord(entry)) return undefined;
  const { username = "", password = "", auth = "", identitytoken: identityToken = "" } = entry;
  if (typeof username !== "string" || typeof password !== "string") return undefined;
  if (typeof auth !== "string" || typeof identityToken !== "string") return undefined;
  const basic = auth === "" ? { username, password } : decodeAuth(auth);
  if (basic === undefined) return undefined;
  const email = typeof entry["email"] === "string" ? entry["email"] : "";
  const hash = hashCredentials({ ...basic, email, identityToken });
  // Beside a token, the user name is a placeholder, which a runtime would prefer to the token; so it is left out.
  const isToken = identityToken !== "" && basic.password === "";
  return {
    key,
    credentials: isToken ? { username: "", password: "", identityToken } : { ...basic, identityToken },
    hash,
  };
}

/** base64 of `user:password`, with or without padding. */
function decodeAuth(auth: string): { username: string; password: string } | undefined {
  const text = auth.trim();
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const decoded = Buffer.from(text, "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  return colon < 0 ? undefined : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}
