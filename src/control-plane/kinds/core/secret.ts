import type { FieldError } from "../../../api/field-error.ts";
import type { Secret } from "../../../api/gen/types.ts";
import { isRecord, type KubeObject, typed, untyped } from "../../../api/object.ts";
import { checkConfigMapKey } from "../../../api/validation/names.ts";
import { invalid, invalidEach, required, tooLong } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { immutable, validateSealed } from "../rules/immutable.ts";
import { MAX_DATA_BYTES, sumOfBytes } from "./config-map.ts";

/** Secrets. */
export const secretKind = defineKind({
  kind: "Secret",
  plural: "secrets",
  strategy: {
    default: defaultSecret,
    validate: validateSecret,
    validateUpdate,
    warnings: secretWarnings,
    fields: { type: (object) => typed("Secret", object).type ?? "" },
  },
});

/** Moves texts to the data. They are a convenience for authors, and are never read back. */
function defaultSecret(object: KubeObject): KubeObject {
  const { stringData, ...secret } = typed("Secret", object);
  const defaulted: Secret = { ...secret, type: secret.type || "Opaque" };
  if (stringData === undefined) return untyped(defaulted);
  const texts = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  return untyped({ ...defaulted, data: { ...secret.data, ...Object.fromEntries(texts) } });
}

function validateSecret(object: KubeObject): FieldError[] {
  const secret = typed("Secret", object);
  const { data = {} } = secret;
  const errors = Object.keys(data).flatMap((key) => invalidEach(`data[${key}]`, key, checkConfigMapKey(key)));
  if (sumOfBytes(data) > MAX_DATA_BYTES) errors.push(tooLong("data", MAX_DATA_BYTES));
  return [...errors, ...validateContents(secret)];
}

/** The annotation of a token secret with the account whose token it holds. */
const ACCOUNT_NAME = "kubernetes.io/service-account.name";

/** The problems of the content: each type promises certain keys to its readers. */
function validateContents({ type, data = {}, metadata }: Secret): FieldError[] {
  const requireKey = (key: string) => (Object.hasOwn(data, key) ? [] : [required(`data[${key}]`)]);
  switch (type) {
    case "kubernetes.io/service-account-token":
      return metadata?.annotations?.[ACCOUNT_NAME] ? [] : [required(`metadata.annotations[${ACCOUNT_NAME}]`)];
    case "kubernetes.io/dockercfg":
      return validateJson(data, ".dockercfg");
    case "kubernetes.io/dockerconfigjson":
      return validateJson(data, ".dockerconfigjson");
    case "kubernetes.io/basic-auth":
      return data["username"] === undefined && data["password"] === undefined
        ? [required("data[username]"), required("data[password]")]
        : [];
    case "kubernetes.io/ssh-auth":
      return data["ssh-privatekey"] ? [] : [required("data[ssh-privatekey]")];
    case "kubernetes.io/tls":
      return [...requireKey("tls.crt"), ...requireKey("tls.key")];
    default:
      return [];
  }
}

function validateJson(data: Readonly<Record<string, string>>, key: string): FieldError[] {
  const content = data[key];
  if (content === undefined) return [required(`data[${key}]`)];
  const problem = jsonProblem(Buffer.from(content, "base64").toString());
  // The value stays out of the message, because messages are logged.
  return problem === undefined ? [] : [invalid(`data[${key}]`, "<secret contents redacted>", problem)];
}

function jsonProblem(text: string): string | undefined {
  if (text === "") return "unexpected end of JSON input";
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) || value === null ? undefined : "json: cannot unmarshal into a map of strings";
  } catch {
    return "invalid character in JSON input";
  }
}

function validateUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  const secret = typed("Secret", next);
  const old = typed("Secret", current);
  return [...immutable("type", secret.type, old.type), ...validateSealed(secret, old, ["data"])];
}

/**
 * The warnings about a pair of keys that no server could use. It is stored all the same, because the second half may
 * follow.
 */
function secretWarnings(object: KubeObject): string[] {
  const { type, data = {} } = typed("Secret", object);
  if (type !== "kubernetes.io/tls") return [];
  const inputs = { "tls.crt": "certificate", "tls.key": "key" };
  const missing = Object.entries(inputs).find(([key]) => !isPem(data[key] ?? ""));
  return missing === undefined ? [] : [`tls: failed to find any PEM data in ${missing[1]} input`];
}

const isPem = (base64: string) => Buffer.from(base64, "base64").includes("-----BEGIN ");
