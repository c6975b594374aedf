import type { GrpcProbeOutcome } from "../../../host/probe-port.ts";
import { joinHostPort } from "./failure-words.ts";
import type { ProbeAttempt } from "./probe-attempt.ts";

const SERVING = 1;
const SERVING_STATUS: readonly string[] = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

/** The verdict of `Probe` in pkg/probe/grpc/grpc.go, in its words. */
export function judgeGrpc(
  outcome: GrpcProbeOutcome,
  target: { host: string; port: number; timeoutSeconds: number },
): ProbeAttempt {
  const within = formatSeconds(target.timeoutSeconds);
  switch (outcome.kind) {
    case "unreachable": {
      const server = JSON.stringify(joinHostPort(target.host, target.port));
      return failure(`timeout: failed to connect service ${server} within ${within}: context deadline exceeded`);
    }
    case "late":
      return failure(`timeout: health rpc did not complete within ${within}`);
    case "failed":
      if (outcome.code === "Unimplemented") {
        const what = "this server does not implement the grpc health protocol (grpc.health.v1.Health)";
        return failure(`error: ${what}: ${outcome.message}`);
      }
      return failure(`error: health rpc probe failed: rpc error: code = ${outcome.code} desc = ${outcome.message}`);
    case "status": {
      if (outcome.status === SERVING) return { result: "success", output: "service healthy" };
      const name = SERVING_STATUS[outcome.status] ?? String(outcome.status);
      return failure(`service unhealthy (responded with ${JSON.stringify(name)})`);
    }
  }
}

function failure(output: string): ProbeAttempt {
  return { result: "failure", output };
}

/** Whole seconds as Go prints them: `5s`, `1m30s`, `2m0s`, `1h0m0s`. */
export function formatSeconds(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (hours > 0) return `${hours}h${minutes}m${rest}s`;
  return minutes > 0 ? `${minutes}m${rest}s` : `${rest}s`;
}
