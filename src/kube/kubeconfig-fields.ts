import { isRecord } from "../api/object.ts";
import { CodedError } from "../base/errors.ts";

/**
 * A kubeconfig cannot be used. `kubeconfig-unreadable`: the file cannot be read or is no YAML; `kubeconfig-invalid`: a
 * field is wrong or missing, and the message says which, where, and what to write there.
 */
export class KubeconfigError extends CodedError<"kubeconfig-unreadable" | "kubeconfig-invalid"> {
  override readonly name = "KubeconfigError";
}

/** A mapping of the file, with its place for messages. Values are never part of a message: they may be secret. */
export interface Fields {
  /** Empty where the field is absent. */
  text(key: string): string;
  flag(key: string): boolean;
  /** Empty where the field is absent. */
  child(key: string): Fields;
  /** Undecoded. */
  raw(key: string): unknown;
  has(key: string): boolean;
  /** Mappings in a list; empty where the field is absent. */
  list(key: string): Fields[];
  texts(key: string): string[];
  /** `users[admin].user.exec` with the key appended. */
  place(key: string): string;
  /** An error at the field. */
  invalid(key: string, problem: string): KubeconfigError;
}

/** `at` is empty for the file itself; `file` goes into every message. */
export function readFields(file: string, at: string, value: unknown): Fields {
  const place = (key: string) => (at === "" ? key : `${at}.${key}`);
  const invalid = (key: string, problem: string) =>
    new KubeconfigError("kubeconfig-invalid", `kubeconfig ${file}: ${place(key)}: ${problem}`);
  const record = value === undefined || value === null ? {} : value;
  if (!isRecord(record)) {
    throw new KubeconfigError("kubeconfig-invalid", `kubeconfig ${file}: ${at || "the file"}: must be a mapping`);
  }
  const present = (key: string) => record[key] ?? undefined;
  const items = (key: string): unknown[] => {
    const found = present(key) ?? [];
    if (!Array.isArray(found)) throw invalid(key, "must be a list");
    return found;
  };
  const asText = (found: unknown, key: string): string => {
    if (typeof found === "string") return found;
    throw invalid(key, "must be text; put it in quotes");
  };
  return {
    text: (key) => asText(present(key) ?? "", key),
    flag(key) {
      const found = present(key) ?? false;
      if (typeof found !== "boolean") throw invalid(key, "must be true or false");
      return found;
    },
    child: (key) => readFields(file, place(key), present(key)),
    raw: present,
    has: (key) => present(key) !== undefined && present(key) !== "",
    list(key) {
      return items(key).map((item, index) => {
        const name = isRecord(item) && typeof item["name"] === "string" ? item["name"] : String(index);
        return readFields(file, `${place(key)}[${name}]`, item);
      });
    },
    texts: (key) => items(key).map((item, index) => asText(item, `${key}[${index}]`)),
    place,
    invalid,
  };
}
