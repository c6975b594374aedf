import { findJsonExcess } from "../../api/json-excess.ts";
import { type Clock, SECOND } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { withDeadline } from "../../base/time-limit.ts";
import type { ConnectDeps } from "./connect-deps.ts";
import { nodeTls } from "./node-call.ts";
import { type NodeFinder, reachNode } from "./node-location.ts";
import { readStart } from "./read-start.ts";

type ReadNodeSummary = (name: string, signal: AbortSignal) => Promise<string>;

type SummaryDeps = Pick<ConnectDeps, keyof NodeFinder | "callWeb" | "identity"> & {
  readonly clock: Pick<Clock, "setTimer">;
};

/** The time that metrics-server gives a node, too. */
const TIMEOUT_MS = 10 * SECOND;
/** A hundred pods have a tenth of a megabyte. */
const MAX_SUMMARY_BYTES = 8 * 1024 * 1024;
/** A container has some fifty. */
const MAX_SUMMARY_VALUES = 500_000;
const MAX_ERROR_BYTES = 500;
const TARGET = "/stats/summary?only_cpu_and_memory=true";

/**
 * Reads what a node and its pods use of processors and memory, `/stats/summary`, as text. Rejects with an ApiError where
 * the node is not found, with a CodedError where it does not answer as it should, and with `AbortedError`.
 */
export function createSummaryReader(deps: SummaryDeps): ReadNodeSummary {
  const { clock, callWeb, identity } = deps;
  const read = async (name: string, signal: AbortSignal) => {
    const node = await reachNode(deps, name, signal);
    const call = {
      ...node,
      scheme: "https",
      method: "GET",
      target: TARGET,
      headers: {},
      tls: nodeTls(identity),
    } as const;
    const { status, body } = await callWeb(call, signal);
    if (status !== 200) {
      const text = await readStart(body, MAX_ERROR_BYTES);
      throw new CodedError("node-refused", `the node answers ${status}: ${text}`);
    }
    // One byte more than is allowed shows that the text is cut.
    const text = await readStart(body, MAX_SUMMARY_BYTES + 1);
    const excess = findJsonExcess(text, { maxValues: MAX_SUMMARY_VALUES });
    if (excess !== undefined) throw new CodedError("summary-too-large", `the node's summary holds ${excess}`);
    if (Buffer.byteLength(text) <= MAX_SUMMARY_BYTES) return text;
    throw new CodedError("summary-too-large", `the node's summary is longer than ${MAX_SUMMARY_BYTES} bytes`);
  };
  return async (name, signal) => {
    const limit = { timeoutMs: TIMEOUT_MS, signal, what: `reading the summary of node ${JSON.stringify(name)}` };
    return await withDeadline(clock, limit, async (inner) => await read(name, inner));
  };
}
