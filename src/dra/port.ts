import type { CallOptions } from "../grpc/port.ts";

/**
 * The plugin of a driver of device claims on this node (Kubernetes' dra, v1 and v1beta1). Every call rejects with a
 * `GrpcError`, or with AbortedError when its signal fired.
 */
export interface DraPlugin {
  /** Makes the claims' devices ready; the answers by the claims' UIDs. Nothing of an answer is checked. */
  prepare(claims: readonly ClaimReference[], call?: CallOptions): Promise<ReadonlyMap<string, PrepareAnswer>>;
  /** Gives the claims' devices back; the answers by the claims' UIDs. An answer without an error is "". */
  unprepare(claims: readonly ClaimReference[], call?: CallOptions): Promise<ReadonlyMap<string, string>>;
  /**
   * All devices that the driver watches, each time that it tells of them. A driver that watches none ends it with
   * `unimplemented`.
   */
  watchHealth(call?: CallOptions): AsyncIterable<readonly DeviceHealth[]>;
  /**
   * Connects, and connects again when the connection broke, until `close`. The listener hears each time whether there
   * is a connection now.
   */
  followConnection(listener: (isConnected: boolean) => void): void;
  /** Cancels the calls in flight and closes the socket. */
  close(): void;
}

/** The versions of the service by the names with which plugins register, the newest first. */
export const DRA_VERSIONS = ["v1.DRAPlugin", "v1beta1.DRAPlugin"] as const;
export type DraVersion = (typeof DRA_VERSIONS)[number];

/** A claim as drivers are told of it: they read the rest from the API server. */
export interface ClaimReference {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What became of one claim. */
export interface PrepareAnswer {
  readonly devices: readonly ClaimDevice[];
  /** Why the claim is not prepared; "" where it is. */
  readonly error: string;
}

/** A device of a claim that is ready. */
export interface ClaimDevice {
  readonly poolName: string;
  readonly deviceName: string;
  /** The consumer's share of a device that several claims use at once. */
  readonly shareId: string | undefined;
  /** The requests of the claim that the device is for; none: all of them. */
  readonly requestNames: readonly string[];
  /** Qualified names (`vendor.example/class=name`). */
  readonly cdiDeviceIds: readonly string[];
}

/** What a driver tells of one device. */
export interface DeviceHealth {
  readonly poolName: string;
  readonly deviceName: string;
  readonly health: "Healthy" | "Unhealthy" | "Unknown";
  readonly message: string;
  /** How long this holds without being told again; undefined: the driver does not say. */
  readonly timeoutMs: number | undefined;
}
