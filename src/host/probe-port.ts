/**
 * The network as probes of containers see it. A probe is one attempt, and every outcome of it is a value. Only an abort
 * rejects. Nothing is kept between two attempts, no proxy is used and no certificate is verified, as upstream has it
 * (`pkg/probe`). The real adapter and the fake pass one contract suite (`test/contract/host-probes.test.ts`).
 */
export interface ProbeClient {
  /**
   * Makes a GET request. Up to ten redirects are followed where they stay on the host name that was asked first; any
   * other redirect is the answer.
   */
  http(probe: HttpProbe, signal: AbortSignal): Promise<HttpProbeOutcome>;
  /** Opens a connection and closes it. */
  tcp(target: ProbeTarget, signal: AbortSignal): Promise<TcpProbeOutcome>;
  /** Calls `grpc.health.v1.Health/Check`, without TLS. The connection is tried again until a server accepts it. */
  grpc(probe: GrpcProbe, signal: AbortSignal): Promise<GrpcProbeOutcome>;
}

/** The server to probe, and how long the probe may take in all. */
export interface ProbeTarget {
  /** An address or a name; IPv6 addresses without brackets. */
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

export interface HttpProbe extends ProbeTarget {
  readonly scheme: "http" | "https";
  /** The path with its query, escaped as a request line needs it. It begins with a slash. */
  readonly path: string;
  /**
   * The headers, one line each, in this order, `Host` among them. Those of the message itself (`Connection`) are added.
   */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  /** A longer body is cut at this length, and read no further. */
  readonly maxBodyBytes: number;
}

export interface GrpcProbe extends ProbeTarget {
  /** The service whose health is asked; empty for the health of the whole server. */
  readonly service: string;
  /** The name that the client gives itself. */
  readonly userAgent: string;
}

/**
 * `no-answer`: the exchange broke before there was an answer. `broken-body`: it broke after the head of the answer had
 * come.
 */
export type HttpProbeOutcome =
  | { readonly kind: "answered"; readonly status: number; readonly body: Buffer }
  | { readonly kind: "no-answer" | "broken-body"; readonly url: string; readonly failure: ConnectionFailure };

export type TcpProbeOutcome =
  | { readonly kind: "connected" }
  | { readonly kind: "failed"; readonly failure: ConnectionFailure };

/**
 * `unreachable`: no connection within the time. `late`: connected, but no answer within the rest of the time. `status`:
 * the answer, a number of `HealthCheckResponse.ServingStatus`. `failed`: a status of the call, in Go's words for it.
 */
export type GrpcProbeOutcome =
  | { readonly kind: "unreachable" }
  | { readonly kind: "late" }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

/** Why a connection gave no answer. */
export interface ConnectionFailure {
  readonly reason:
    | "timeout"
    | "refused"
    | "reset"
    /** The other side closed the connection before its answer was complete. */
    | "closed"
    | "host-unreachable"
    | "network-unreachable"
    | "unknown-name"
    /** The server that answers speaks no TLS. */
    | "no-tls"
    | "too-many-redirects"
    | "other";
  /** The system's or the library's own words. */
  readonly message: string;
}
