import type { FieldError } from "../field-error.ts";
import type { ConfigMap, Secret } from "../gen/types.ts";
import { isRecord } from "../object.ts";
import { checkConfigMapKey } from "./names.ts";
import { invalid, invalidEach, required, tooLong } from "./problems.ts";

/** The most bytes of all values of a secret or config map together. */
const MAX_DATA_BYTES = 1024 * 1024;

/** Returns what upstream would refuse in the content of a config map. */
export function validateConfigMapData({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  const errors = Object.keys(data).flatMap((key) => [
    ...invalidEach(`data[${key}]`, key, checkConfigMapKey(key)),
    ...(Object.hasOwn(binaryData, key) ? [invalid(`data[${key}]`, key, "duplicate of key present in binaryData")] : []),
  ]);
  for (const key of Object.keys(binaryData)) {
    errors.push(...invalidEach(`binaryData[${key}]`, key, checkConfigMapKey(key)));
  }
  const texts = Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return texts + sumOfBytes(binaryData) > MAX_DATA_BYTES ? [...errors, tooLong("", MAX_DATA_BYTES)] : errors;
}

/** The number of bytes for which the base64 of the values stands. */
function sumOfBytes(data: Readonly<Record<string, string>>): number {
  return Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text, "base64"), 0);
}

/** Moves texts to the data. They are a convenience for authors, and are never read back. */
export function defaultSecretData({ stringData, ...secret }: Secret): Secret {
  const defaulted: Secret = { ...secret, type: secret.type || "Opaque" };
  if (stringData === undefined) return defaulted;
  const texts = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  return { ...defaulted, data: { ...secret.data, ...Object.fromEntries(texts) } };
}

/** Returns what upstream would refuse in the content of a secret. No message shows any of it. */
export function validateSecretData(secret: Secret): FieldError[] {
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
