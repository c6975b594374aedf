import { createHash } from "node:crypto";
import { CodedError } from "../../base/errors.ts";
import type { CriErrorCode } from "../port.ts";

/** Serves one unary RPC. `signal` fires when the caller has gone or the runtime stops. */
export type Handlers<Service> = {
  [Method in keyof Service]?: Service[Method] extends (
    request: infer Request,
    ...rest: never
  ) => Promise<infer Response>
    ? (request: Request, signal: AbortSignal) => Promise<Response> | Response
    : never;
};

/** Makes the error that a handler throws; the connection adds the RPC's name. */
export function refusal(code: CriErrorCode, detail: string): CodedError<CriErrorCode> {
  return new CodedError(code, detail);
}

/** The message is containerd's. */
export function notFound(what: "sandbox" | "container", id: string): CodedError<CriErrorCode> {
  return refusal("not-found", `an error occurred when try to find ${what} "${id}": not found`);
}

/** The id has 64 hex digits and is the same for the same seed. */
export function computeId(seed: string): string {
  return createHash("sha256").update(seed).digest("hex");
}

/** CRI counts nanoseconds. */
export function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000)) * 1_000n;
}

/** True where every label of the selector is there with its value; an empty selector matches all. */
export function matchesLabels(labels: Record<string, string>, selector: Record<string, string> | undefined): boolean {
  return Object.entries(selector ?? {}).every(([key, value]) => labels[key] === value);
}
