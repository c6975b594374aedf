import { sleep, throwIfAborted } from "../../../base/abort.ts";
import { type Clock, MINUTE, SECOND } from "../../../base/clock.ts";
import { CodedError, codeOf } from "../../../base/errors.ts";
import type { CsiNode, CsiNodeCapability, CsiNodeInfo } from "../../../csi/port.ts";

/**
 * Why a driver is not registered, in upstream's words:
 * - `version`: the driver speaks no version of CSI that is supported, or a lower one than its namesake;
 * - `node-id`: the driver gives the node no name, or one that is too long;
 * - `topology`: its labels contradict those of the node, or no node may have them.
 *
 * A driver that does not answer is a CsiError instead.
 */
export class DriverRegistrationError extends CodedError<"version" | "node-id" | "topology"> {
  override readonly name = "DriverRegistrationError";
}

/** What a driver reports about itself when it is registered. */
interface DriverReading {
  readonly info: CsiNodeInfo;
  readonly capabilities: ReadonlySet<CsiNodeCapability>;
}

/** Upstream's limit for NodeGetInfo (pkg/volume/csi/csi_plugin.go); here it holds for all calls with their retries. */
const READ_TIMEOUT_MS = 2 * MINUTE;
const FIRST_RETRY_MS = SECOND / 2;
const MAX_RETRY_MS = 8 * SECOND;

/**
 * Asks the driver about itself. A driver that does not listen yet is asked again, because its registrar may be faster
 * than the driver. Rejects with the last failure after two minutes, and at once with any other failure.
 */
export async function readDriver(clock: Clock, node: CsiNode, signal: AbortSignal): Promise<DriverReading> {
  const deadline = clock.monotonic() + READ_TIMEOUT_MS;
  for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(2 * delayMs, MAX_RETRY_MS)) {
    const call = () => ({ timeoutMs: Math.max(1, deadline - clock.monotonic()), signal });
    try {
      const info = await readNodeInfo(node, call());
      const capabilities = await node.capabilities(call());
      return { info, capabilities };
    } catch (error) {
      throwIfAborted(signal);
      if (codeOf(error) !== "unavailable" || clock.monotonic() + delayMs >= deadline) throw error;
    }
    await sleep(clock, delayMs, signal);
  }
}

/** The API's limit for `nodeID` (pkg/apis/storage/validation). Beyond it no driver of the node can be told to the API. */
const MAX_NODE_ID_BYTES = 256;

/** Reads NodeGetInfo. Rejects also when the driver gives the node no name, or one that the API does not take. */
export async function readNodeInfo(
  node: CsiNode,
  call: { readonly timeoutMs?: number; readonly signal: AbortSignal },
): Promise<CsiNodeInfo> {
  const info = await node.info({ timeoutMs: READ_TIMEOUT_MS, ...call });
  const length = Buffer.byteLength(info.nodeId);
  if (length > 0 && length <= MAX_NODE_ID_BYTES) return info;
  const problem = length === 0 ? "not be empty" : `have at most ${MAX_NODE_ID_BYTES} bytes, and has ${length}`;
  throw new DriverRegistrationError("node-id", `error adding CSI driver node info: driverNodeID must ${problem}`);
}
