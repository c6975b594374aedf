import { isRecord } from "../../../api/object.ts";
import { tryParseJson } from "../../../base/parse-json.ts";
import { parseDuration } from "../../../config/duration.ts";

/** The request to a plugin. */
export interface ProviderRequest {
  /** The repository, without tag and digest. */
  readonly image: string;
  readonly serviceAccount?:
    | { readonly token: string; readonly annotations: Readonly<Record<string, string>> }
    | undefined;
}

/** The answer of a plugin. */
export interface ProviderResponse {
  /** The scope in which the credentials are valid and by which they are cached: `Image`, `Registry` or `Global`. */
  readonly cacheKeyType: string;
  /** Undefined means that the configuration's duration holds. */
  readonly cacheDurationMs: number | undefined;
  readonly registries: readonly ProvidedRegistry[];
}

/** Credentials under the registry that they are for, as a Docker configuration names it. */
export interface ProvidedRegistry {
  readonly key: string;
  readonly username: string;
  readonly password: string;
}

/** Encodes a `CredentialProviderRequest` as a plugin reads it. */
export function encodeProviderRequest(apiVersion: string, { image, serviceAccount }: ProviderRequest): string {
  const { token = "", annotations = {} } = serviceAccount ?? {};
  const request = {
    kind: "CredentialProviderRequest",
    apiVersion,
    image,
    ...(token !== "" && { serviceAccountToken: token }),
    ...(Object.keys(annotations).length > 0 && { serviceAccountAnnotations: annotations }),
  };
  return `${JSON.stringify(request)}\n`;
}

/**
 * Decodes a `CredentialProviderResponse` strictly. An error quotes nothing of what was printed, because it may be
 * credentials.
 */
export function decodeProviderResponse(apiVersion: string, printed: string): ProviderResponse {
  const object = tryParseJson(printed);
  if (!isRecord(object)) throw new Error("error reading GVK from response: it is not a JSON object");
  const { apiVersion: actual = "", ...fields } = object;
  if (actual !== apiVersion) {
    const shown = typeof actual === "string" ? actual.slice(0, 100) : "";
    const expected = `expected apiVersion:${apiVersion}, actual apiVersion:${shown}`;
    throw new Error(`apiVersion from credential plugin response did not match ${expected}`);
  }
  const response = readFields(fields);
  if (response === undefined) throw new Error("error decoding credential provider plugin response from stdout");
  return response;
}

function readFields(fields: Record<string, unknown>): ProviderResponse | undefined {
  const { kind, cacheKeyType = "", cacheDuration, auth, ...unknown } = fields;
  if (kind !== "CredentialProviderResponse" || Object.keys(unknown).length > 0) return undefined;
  if (typeof cacheKeyType !== "string" || !isRecord(auth ?? {})) return undefined;
  const isGiven = cacheDuration !== undefined && cacheDuration !== null;
  const cacheDurationMs = typeof cacheDuration === "string" ? parseDuration(cacheDuration) : undefined;
  if (isGiven && cacheDurationMs === undefined) return undefined;
  const registries: ProvidedRegistry[] = [];
  for (const [key, value] of Object.entries(auth ?? {})) {
    if (!isRecord(value)) return undefined;
    const { username = "", password = "", ...others } = value;
    if (typeof username !== "string" || typeof password !== "string" || Object.keys(others).length > 0)
      return undefined;
    registries.push({ key, username, password });
  }
  return { cacheKeyType, cacheDurationMs, registries };
}
