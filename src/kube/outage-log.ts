import { isApiError } from "../api/api-error.ts";
import { messageOf } from "../base/errors.ts";
import type { Log, LogFields } from "../base/log.ts";

/** Logs an outage of the API once, again only when its reason changes, and its end once. */
export interface OutageLog {
  failed(error: unknown): void;
  recovered(): void;
  readonly isFailing: boolean;
}

/** `fields` name the objects that are copied. */
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
 * Words for the failure of a call of the API. An answer that is no JSON is not quoted: the parser's message holds a piece
 * of it, which may be part of a secret.
 */
export function describeKubeFailure(error: unknown): string {
  return error instanceof SyntaxError ? "the answer is not valid JSON" : messageOf(error);
}
