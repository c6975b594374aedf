import { expect, it } from "vitest";
import type { GrpcProbeOutcome } from "../../../host/probe-port.ts";
import { formatSeconds, judgeGrpc } from "./grpc-probe.ts";

it.each<[GrpcProbeOutcome, string]>([
  [{ kind: "status", status: 1 }, "success: service healthy"],
  [{ kind: "status", status: 0 }, 'failure: service unhealthy (responded with "UNKNOWN")'],
  [{ kind: "status", status: 2 }, 'failure: service unhealthy (responded with "NOT_SERVING")'],
  [{ kind: "status", status: 3 }, 'failure: service unhealthy (responded with "SERVICE_UNKNOWN")'],
  [{ kind: "status", status: 9 }, 'failure: service unhealthy (responded with "9")'],
  [
    { kind: "unreachable" },
    'failure: timeout: failed to connect service "[fd00::7]:5000" within 5s: context deadline exceeded',
  ],
  [{ kind: "late" }, "failure: timeout: health rpc did not complete within 5s"],
  [
    { kind: "failed", code: "NotFound", message: "unknown service" },
    "failure: error: health rpc probe failed: rpc error: code = NotFound desc = unknown service",
  ],
  [
    { kind: "failed", code: "Unimplemented", message: "unknown method" },
    "failure: error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown method",
  ],
])("%j is a %s", (outcome, expected) => {
  const attempt = judgeGrpc(outcome, { host: "fd00::7", port: 5000, timeoutSeconds: 5 });
  expect(attempt.result === "error" ? "" : `${attempt.result}: ${attempt.output}`).toBe(expected);
});

it.each([
  [1, "1s"],
  [60, "1m0s"],
  [3_661, "1h1m1s"],
])("%s seconds are %s", (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});
