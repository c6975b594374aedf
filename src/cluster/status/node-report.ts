import type { NodeCondition, Pod } from "../../api/gen/types.ts";
import type { PodReference } from "../../api/pods.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import { getOnce } from "../../host/linux/network/get-once.ts";

/** What the node agent says about itself on its status socket, `GET /status`. */
export interface NodeReport {
  /** Another one whenever pods or manifests have changed. */
  revision: string;
  node: { name: string; conditions: NodeCondition[]; runtime: { name: string; version: string } };
  /** The pods have their status. */
  pods: Pod[];
  /** Oldest first. */
  events: PodEvent[];
  /** Why files do not give the pods that they should. An agent of an earlier version does not tell. */
  manifestProblems?: ReportedProblem[];
}

/** What the node agent finds wrong with manifests. */
export interface ReportedProblem {
  /** The file's name, or the path of the directory where that is the problem. */
  file: string;
  message: string;
}

/** A decision about a pod; `at` is its last time (RFC 3339), `count` how often it occurred. */
export interface PodEvent {
  pod: PodReference;
  type: string;
  reason: string;
  message: string;
  at: string;
  count: number;
}

const TIMEOUT_MS = 10_000;
const OK = 200;
const UNCHANGED = 304;
const MAX_REPORT_BYTES = 64 * 1024 * 1024;

/** Rejects with `not-running` when nothing listens on the socket, `bad-report` when the answer is no report. */
export async function readNodeReport(socketPath: string): Promise<NodeReport> {
  return asReport(await readFromNode(socketPath, "/status"), socketPath);
}

/** As `readNodeReport`; undefined while pods and manifests are as the report of this revision tells. */
export async function readChangedReport(socketPath: string, revision: string): Promise<NodeReport | undefined> {
  const { status, text } = await get(socketPath, `/status?unless=${encodeURIComponent(revision)}`);
  if (status === UNCHANGED) return undefined;
  return asReport(parseJson(text), socketPath);
}

/** Reads a page of JSON from the node agent's socket. Rejects with `not-running` and `bad-report`. */
export async function readFromNode(socketPath: string, path: string): Promise<unknown> {
  return parseJson((await get(socketPath, path)).text);
}

function asReport(value: unknown, socketPath: string): NodeReport {
  if (isNodeReport(value)) return value;
  throw new CodedError("bad-report", `${socketPath} answers something else than a node's status`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CodedError("bad-report", "the node agent's status is no JSON", { cause: error });
  }
}

/** Checks only the shape of the report, because the other side is this same program. */
function isNodeReport(value: unknown): value is NodeReport {
  if (typeof value !== "object" || value === null || !("node" in value) || !("pods" in value)) return false;
  const { node } = value;
  return typeof node === "object" && node !== null && "name" in node && Array.isArray(value.pods);
}

async function get(socketPath: string, path: string): Promise<{ status: number; text: string }> {
  try {
    const request = { to: { socketPath }, path, timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_REPORT_BYTES };
    const { status, body } = await getOnce(request);
    if (status === OK || status === UNCHANGED) return { status, text: body.toString("utf8") };
    throw new Error(`status ${status}`);
  } catch (error) {
    const message = `no node agent answers on ${socketPath}: ${messageOf(error)}`;
    throw new CodedError("not-running", message, { cause: error });
  }
}
