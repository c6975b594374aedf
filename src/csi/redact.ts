import { isRecord } from "../api/object.ts";

/** As the sanitizer of CSI's own programs writes it. */
const REDACTED = "***stripped***";

/** Tokens of the pod's service account, by audience, which stand in the volume's context or, from 1.35, among its secrets. */
const TOKENS_KEY = "csi.storage.k8s.io/serviceAccount.tokens";

/**
 * The text without any value of the request's secrets and tokens, wherever it stands and however short it is, also as it
 * would be written between quotes. Some drivers answer a bad password by repeating it, and the text ends up in events.
 */
export function redactSecrets(text: string, request: unknown): string {
  const forms = secretsOf(request).flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  // The longest first: one may be a part of another.
  const ordered = [...new Set(forms)].sort((a, b) => b.length - a.length);
  if (ordered.length === 0) return text;
  // In one pass, so that a short secret does not match what was put in the place of another.
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

/** `{"audience": {"token": "…", "expirationTimestamp": "…"}}` */
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
