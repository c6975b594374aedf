import { isApiError } from "../api/api-error.ts";
import { messageOf } from "../base/errors.ts";
import type { Log, LogFields } from "../base/log.ts";

/** Says once that the API does not give what it should, again only when the reason is another, and once that it does. */
export interface OutageLog {
  failed(error: unknown): void;
  recovered(): void;
  readonly isFailing: boolean;
}

/** `fields` name what is copied. */
export function createOutageLog(log: Log, fields: LogFields): OutageLog {
  let said: string | undefined;
  let failures = 0;
  return {
    failed(error) {
      failures++;
      const kind = isApiError(error) ? error.reason : "unreachable";
      const details = { ...fields, error: describeKubeFailure(error) };
      if (said === kind) log.debug("Failed again to list or watch", { ...details, failures });
      else log.warn("Failed to list or watch, trying again", details);
      said = kind;
    },
    recovered() {
      if (said === undefined) return;
      log.info("Listed and watching again", { ...fields, failures });
      said = undefined;
      failures = 0;
    },
    get isFailing() {
      return said !== undefined;
    },
  };
}

/**
 * Words for what a call of the API failed with. An answer that is no JSON is not quoted: the parser's message holds a piece
 * of it, and it may be a secret's.
 */
export function describeKubeFailure(error: unknown): string {
  return error instanceof SyntaxError ? "the answer is not valid JSON" : messageOf(error);
}
