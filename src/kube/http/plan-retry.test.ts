import { describe, expect, it } from "vitest";
import { AbortedError } from "../../base/abort.ts";
import { planCallRetry } from "./plan-retry.ts";
import { TransportError } from "./transport/wire.ts";

const answered = (status: number, retryAfter?: string) => {
  return { kind: "answered", status, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } } as const;
};
const failed = (code: TransportError["code"], cause?: string) => {
  const options = { cause: Object.assign(new Error("cause"), { code: cause }) };
  return { kind: "failed", error: new TransportError(code, "failed", options) } as const;
};

describe("another attempt", () => {
  it.each([
    ["POST", 1, answered(429, "2"), 2_000],
    ["GET", 10, answered(503, "0"), 0],
    ["GET", 11, answered(503, "0"), undefined],
    ["GET", 1, answered(500, "1"), 1_000],
    ["GET", 1, answered(503), undefined],
    ["GET", 1, answered(429, "Wed, 21 Oct 2026 07:28:00 GMT"), undefined],
    ["GET", 1, answered(429, "-1"), undefined],
    ["GET", 1, answered(409, "1"), undefined],
    ["GET", 1, answered(200, "1"), undefined],
    ["POST", 1, failed("not-sent"), 0],
    ["POST", 2, failed("not-sent"), 1_000],
    ["POST", 3, failed("not-connected", "ECONNREFUSED"), 1_000],
    ["POST", 4, failed("not-connected", "ECONNREFUSED"), undefined],
    ["GET", 1, failed("not-connected", "ENOTFOUND"), undefined],
    ["GET", 1, failed("not-connected", "DEPTH_ZERO_SELF_SIGNED_CERT"), undefined],
    ["GET", 1, failed("broken"), 1_000],
    ["PUT", 1, failed("broken"), undefined],
    ["PATCH", 1, failed("broken"), undefined],
    ["GET", 1, { kind: "failed", error: new AbortedError() } as const, undefined],
  ])("of %s after %i, case %#", (method, attempt, outcome, waitMs) => {
    expect(planCallRetry(method, attempt, outcome)).toBe(waitMs);
  });
});
