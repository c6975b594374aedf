import { isRecord } from "../api/object.ts";

/** The sanitizer of CSI's own programs writes the same text. */
const REDACTED = "***stripped***";

/**
 * The tokens of the pod's service account, by audience, stand in the volume's context or, from 1.35, among its secrets.
 */
const TOKENS_KEY = "csi.storage.k8s.io/serviceAccount.tokens";

/**
 * Returns the text without any value of the request's secrets and tokens, wherever it stands and however short it is,
 * also in the form that it has between quotes. Some drivers answer a bad password by repeating it, and the text ends up
 * in events.
 */
export function redactSecrets(text: string, request: unknown): string {
  const forms = secretsOf(request).flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  // The longest comes first, because one may be a part of another.
  const ordered = [...new Set(forms)].sort((a, b) => b.length - a.length);
  if (ordered.length === 0) return text;
  // The text is replaced in one pass, so that a short secret does not match the replacement of another.
  const pattern = new RegExp(ordered.map(escapePattern).join("|"), "g");
  return text.replace(pattern, REDACTED);
}

function secretsOf(request: unknown): string[] {
  if (!isRecord(request)) return [];
  const secrets = isRecord(request["secrets"]) ? request["secrets"] : {};
  const context = isRecord(request["volumeContext"]) ? request["volumeContext"] : {};
  const tokens = [context[TOKENS_KEY], secrets[TOKENS_KEY]];
  const values = [...Object.values(secrets), ...tokens, ...tokens.flatMap(tokensIn)];
  return values.filter((value) => typeof value === "string").filter(Boolean);
}

/** The text is `{"audience": {"token": "…", "expirationTimestamp": "…"}}`. */
function tokensIn(text: unknown): unknown[] {
  if (typeof text !== "string") return [];
  try {
    const byAudience: unknown = JSON.parse(text);
    return isRecord(byAudience)
      ? Object.values(byAudience).map((entry) => (isRecord(entry) ? entry["token"] : undefined))
      : [];
  } catch {
    return [];
  }
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
