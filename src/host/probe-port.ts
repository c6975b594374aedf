/**
 * The network as probes of containers see it: one attempt, whose outcome is a value whatever it is. Only an abort
 * rejects. Nothing is kept between two attempts, no proxy is used and no certificate is verified, as upstream has it
 * (`pkg/probe`). The real adapter and the fake pass one contract suite (`test/contract/host-probes.test.ts`).
 */
export interface ProbeClient {
  /**
   * A GET. Up to ten redirects are followed where they stay on the host name that was asked first; any other redirect
   * is the answer.
   */
  http(probe: HttpProbe, signal: AbortSignal): Promise<HttpProbeOutcome>;
  /** Opens a connection and closes it. */
  tcp(target: ProbeTarget, signal: AbortSignal): Promise<TcpProbeOutcome>;
  /** `grpc.health.v1.Health/Check`, without TLS. While nobody accepts the connection it is tried again. */
  grpc(probe: GrpcProbe, signal: AbortSignal): Promise<GrpcProbeOutcome>;
}

/** Who is asked, and how long that may take in all. */
export interface ProbeTarget {
  /** An address or a name; IPv6 addresses without brackets. */
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

export interface HttpProbe extends ProbeTarget {
  readonly scheme: "http" | "https";
  /** With its query, escaped as a request line needs it; begins with a slash. */
  readonly path: string;
  /** One line each, in this order, `Host` among them. Those of the message itself (`Connection`) are added. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  /** A longer body is cut there, and read no further. */
  readonly maxBodyBytes: number;
}

export interface GrpcProbe extends ProbeTarget {
  /** Whose health is asked; empty: the whole server's. */
  readonly service: string;
  /** What the client calls itself. */
  readonly userAgent: string;
}

/** `no-answer`: the exchange broke before there was one; `broken-body`: after its head had come. */
export type HttpProbeOutcome =
  | { readonly kind: "answered"; readonly status: number; readonly body: Buffer }
  | { readonly kind: "no-answer" | "broken-body"; readonly url: string; readonly failure: ConnectionFailure };

export type TcpProbeOutcome =
  | { readonly kind: "connected" }
  | { readonly kind: "failed"; readonly failure: ConnectionFailure };

/**
 * `unreachable`: no connection within the time. `late`: connected, but no answer within what was left of it. `status`:
 * the answer, a number of `HealthCheckResponse.ServingStatus`. `failed`: a status of the call, in Go's words for it.
 */
export type GrpcProbeOutcome =
  | { readonly kind: "unreachable" }
  | { readonly kind: "late" }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

/** Why nothing came of a connection. */
export interface ConnectionFailure {
  readonly reason:
    | "timeout"
    | "refused"
    | "reset"
    /** The other side closed it before it had said all. */
    | "closed"
    | "host-unreachable"
    | "network-unreachable"
    | "unknown-name"
    /** What answers speaks no TLS. */
    | "no-tls"
    | "too-many-redirects"
    | "other";
  /** The system's or the library's own words. */
  readonly message: string;
}
