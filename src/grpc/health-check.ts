import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { AbortedError, throwIfAborted } from "../base/abort.ts";

/** The server and service whose health is asked for, and the time that this may take. */
interface HealthCheck {
  /** An address, or a name; IPv6 addresses without brackets. */
  readonly host: string;
  readonly port: number;
  readonly service: string;
  readonly timeoutMs: number;
  readonly userAgent: string;
}

/** The same as `GrpcProbeOutcome` of `src/host/probe-port.ts`. */
type HealthCheckOutcome =
  | { readonly kind: "unreachable" }
  | { readonly kind: "late" }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

const CHECK = "/grpc.health.v1.Health/Check";
/** The answer is two bytes long; this is only a bound. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** The longest timer of Node.js. The package would take a later deadline for one that is over. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Asks a server for its health, over TCP without TLS, as upstream's `pkg/probe/grpc` does. While the connection is not
 * accepted, it is tried again until the time is over, as a Go client that blocks does. Rejects only with AbortedError.
 */
export async function checkHealth(check: HealthCheck, signal: AbortSignal): Promise<HealthCheckOutcome> {
  throwIfAborted(signal);
  const client = new Client(targetOf(check), credentials.createInsecure(), {
    "grpc.primary_user_agent": check.userAgent,
    "grpc.max_receive_message_length": MAX_ANSWER_BYTES,
    "grpc.enable_http_proxy": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.initial_reconnect_backoff_ms": 250,
    "grpc.max_reconnect_backoff_ms": 1_000,
  });
  const deadline = Date.now() + Math.min(check.timeoutMs, MAX_TIMEOUT_MS);
  try {
    return (await connect(client, deadline, signal)) ?? (await ask(client, { check, deadline }, signal));
  } finally {
    client.close();
  }
}

/** Undefined when there is a connection. */
async function connect(client: Client, deadline: number, signal: AbortSignal): Promise<HealthCheckOutcome | undefined> {
  return await new Promise((resolve, reject) => {
    // The wait itself cannot be cancelled; the client is closed next, and that ends it.
    const onAbort = () => reject(new AbortedError());
    signal.addEventListener("abort", onAbort, { once: true });
    client.waitForReady(deadline, (error) => {
      signal.removeEventListener("abort", onAbort);
      resolve(error === undefined ? undefined : { kind: "unreachable" });
    });
  });
}

async function ask(
  client: Client,
  { check, deadline }: { check: HealthCheck; deadline: number },
  signal: AbortSignal,
): Promise<HealthCheckOutcome> {
  throwIfAborted(signal);
  return await new Promise((resolve, reject) => {
    const onAbort = () => call.cancel();
    const settle = (error: ServiceError | null, answer: number | undefined) => {
      signal.removeEventListener("abort", onAbort);
      if (signal.aborted) reject(new AbortedError());
      else if (error === null) resolve({ kind: "status", status: answer ?? 0 });
      else if (error.code === status.DEADLINE_EXCEEDED) resolve({ kind: "late" });
      else resolve({ kind: "failed", code: goCodeName(error.code), message: error.details });
    };
    const request = encodeRequest(check.service);
    const call = client.makeUnaryRequest(CHECK, (bytes: Buffer) => bytes, decodeStatus, request, { deadline }, settle);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

function targetOf({ host, port }: HealthCheck): string {
  if (host.includes(":")) return `ipv6:[${host}]:${port}`;
  return /^[\d.]+$/.test(host) ? `ipv4:${host}:${port}` : `dns:///${host}:${port}`;
}

/** Returns the code as Go prints it, such as `NotFound`; `Canceled` is spelled differently. */
function goCodeName(code: number): string {
  if (code === status.CANCELLED) return "Canceled";
  const name = status[code];
  if (name === undefined) return `Code(${code})`;
  return name
    .toLowerCase()
    .split("_")
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join("");
}

/** `HealthCheckRequest { string service = 1; }`. */
function encodeRequest(service: string): Buffer {
  if (service === "") return Buffer.alloc(0);
  const text = Buffer.from(service);
  return Buffer.concat([Buffer.from([0x0a, ...varint(text.length)]), text]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

/**
 * The message is `HealthCheckResponse { ServingStatus status = 1; }`, with a value of one byte; without the field it is
 * 0.
 */
function decodeStatus(message: Buffer): number {
  return message[0] === 0x08 ? (message[1] ?? 0) : 0;
}
