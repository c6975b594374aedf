import { CodedError } from "../base/errors.ts";
import type { CallOptions, GrpcErrorCode } from "../grpc/port.ts";
import { nameOfCode } from "../grpc/status.ts";

/**
 * One CSI driver's node service, as the node agent needs it (CSI 1.0 and later). The real adapter (`connectCsi`) and the
 * fake (`createFakeCsi`) pass one contract suite. Paths are absolute host paths; capacities are bytes. Every call rejects
 * with a `CsiError`, or with AbortedError when its signal fired; each may be repeated after any failure.
 */
export interface CsiNode {
  /** Reads the name and version of the driver, as it reports them. */
  pluginInfo(options?: CallOptions): Promise<{ name: string; version: string }>;
  /** Reads how the driver sees this node. */
  info(options?: CallOptions): Promise<CsiNodeInfo>;
  capabilities(options?: CallOptions): Promise<ReadonlySet<CsiNodeCapability>>;
  stage(request: CsiStageRequest, options?: CallOptions): Promise<void>;
  unstage(request: { volumeId: string; stagingPath: string }, options?: CallOptions): Promise<void>;
  publish(request: CsiPublishRequest, options?: CallOptions): Promise<void>;
  unpublish(request: { volumeId: string; targetPath: string }, options?: CallOptions): Promise<void>;
  /** Resolves with the new size; undefined where the driver does not report it. */
  expand(request: CsiExpandRequest, options?: CallOptions): Promise<bigint | undefined>;
  stats(
    request: { volumeId: string; volumePath: string; stagingPath?: string | undefined },
    options?: CallOptions,
  ): Promise<CsiVolumeStats>;
  /** Cancels the calls in flight and closes the socket. */
  close(): void;
}

/** The known values of NodeServiceCapability; unknown ones are left out. */
export type CsiNodeCapability =
  | "STAGE_UNSTAGE_VOLUME"
  | "GET_VOLUME_STATS"
  | "EXPAND_VOLUME"
  | "VOLUME_CONDITION"
  | "SINGLE_NODE_MULTI_WRITER"
  | "VOLUME_MOUNT_GROUP";

export interface CsiNodeInfo {
  readonly nodeId: string;
  /** Undefined means that the driver sets no limit. */
  readonly maxVolumes: bigint | undefined;
  /** Topology segments, label by label; empty without topology. */
  readonly topology: Readonly<Record<string, string>>;
}

/** How a volume is to be used. */
export interface CsiVolumeUse {
  readonly accessMode:
    | "SINGLE_NODE_WRITER"
    | "SINGLE_NODE_READER_ONLY"
    | "MULTI_NODE_READER_ONLY"
    | "MULTI_NODE_SINGLE_WRITER"
    | "MULTI_NODE_MULTI_WRITER"
    | "SINGLE_NODE_SINGLE_WRITER"
    | "SINGLE_NODE_MULTI_WRITER";
  /** `mountGroup` is the pod's fsGroup, for drivers with VOLUME_MOUNT_GROUP. */
  readonly access:
    | { readonly kind: "block" }
    | {
        readonly kind: "mount";
        readonly fsType: string;
        readonly mountFlags: readonly string[];
        readonly mountGroup?: string | undefined;
      };
}

type StringMap = Readonly<Record<string, string>>;

/** Secrets never appear in an error or a log. */
export interface CsiStageRequest {
  readonly volumeId: string;
  readonly publishContext: StringMap;
  readonly stagingPath: string;
  readonly use: CsiVolumeUse;
  readonly secrets: StringMap;
  readonly volumeContext: StringMap;
}

export interface CsiPublishRequest {
  readonly volumeId: string;
  readonly publishContext: StringMap;
  /** Undefined for drivers without STAGE_UNSTAGE_VOLUME. */
  readonly stagingPath: string | undefined;
  readonly targetPath: string;
  readonly use: CsiVolumeUse;
  readonly readOnly: boolean;
  readonly secrets: StringMap;
  readonly volumeContext: StringMap;
}

/** `volumePath` is the path where the volume is published, or staged. The driver may give more than `requiredBytes`. */
export interface CsiExpandRequest {
  readonly volumeId: string;
  readonly volumePath: string;
  readonly stagingPath: string | undefined;
  readonly requiredBytes: bigint;
  readonly use: CsiVolumeUse;
  readonly secrets: StringMap;
}

export interface CsiVolumeStats {
  readonly usage: ReadonlyArray<{
    readonly unit: "BYTES" | "INODES" | "UNKNOWN";
    readonly available: bigint;
    readonly total: bigint;
    readonly used: bigint;
  }>;
  /** Undefined where the driver reports nothing about the volume's health. */
  readonly condition: { readonly abnormal: boolean; readonly message: string } | undefined;
}

/**
 * A failed call. `detail` is the driver's own message, without the secrets of the request, in case the driver repeated
 * them. The message is as upstream's, because users search for that. There is no cause, because the underlying error
 * might repeat secrets too.
 */
export class CsiError extends CodedError<GrpcErrorCode> {
  override readonly name = "CsiError";
  readonly driver: string;
  /** The RPC's name: `NodePublishVolume`. */
  readonly rpc: string;
  readonly detail: string;

  constructor(code: GrpcErrorCode, call: { rpc: string; driver: string; detail: string }) {
    const { rpc, driver, detail } = call;
    super(code, `rpc error: code = ${nameOfCode(code)} desc = ${detail}`);
    this.driver = driver;
    this.rpc = rpc;
    this.detail = detail;
  }
}

/** True for a CsiError with one of these codes (with any, if none is given). */
export function isCsiError(thrown: unknown, ...codes: GrpcErrorCode[]): thrown is CsiError {
  return thrown instanceof CsiError && (codes.length === 0 || codes.includes(thrown.code));
}

/**
 * After these codes the driver may have done what it was asked for, or may still be doing it (upstream's `isFinalError`
 * in `pkg/volume/csi/csi_client.go`): it did not answer in time or at all, was busy, or has such a call in progress.
 */
const UNCERTAIN_CODES: readonly GrpcErrorCode[] = [
  "cancelled",
  "deadline-exceeded",
  "unavailable",
  "resource-exhausted",
  "aborted",
];

/**
 * True if the call certainly had no effect and nothing of it is in progress. After any other failure, an abort
 * included, a volume counts as staged or published until the driver has undone that.
 */
export function isFinalCsiError(error: unknown): boolean {
  return isCsiError(error) && !UNCERTAIN_CODES.includes(error.code);
}

/** A driver that is registered on this node. */
export interface CsiDriver {
  readonly name: string;
  readonly node: CsiNode;
  /** The driver's answer when it was registered. */
  readonly nodeInfo: CsiNodeInfo;
  readonly capabilities: ReadonlySet<CsiNodeCapability>;
}

/** The registered drivers, for the code that mounts volumes. */
export interface CsiDrivers {
  /** Returns the newest registration under this name. */
  get(name: string): CsiDriver | undefined;
}
