import type { PodReference } from "../../api/pods.ts";
import { request } from "node:http";
import type { NodeCondition, Pod } from "../../api/gen/types.ts";
import { CodedError } from "../../base/errors.ts";

/** What the node agent says about itself on its status socket, `GET /status`. */
export interface NodeReport {
  node: { name: string; conditions: NodeCondition[]; runtime: { name: string; version: string } };
  /** With their status. */
  pods: Pod[];
  /** Oldest first. */
  events: PodEvent[];
}

/** Something that was decided about a pod; `at` is when last (RFC 3339), `count` how often. */
export interface PodEvent {
  pod: PodReference;
  type: string;
  reason: string;
  message: string;
  at: string;
  count: number;
}

const TIMEOUT_MS = 10_000;
const MAX_REPORT_BYTES = 64 * 1024 * 1024;

/** Rejects with `not-running` when nothing listens on the socket, `bad-report` when the answer is no report. */
export async function readNodeReport(socketPath: string): Promise<NodeReport> {
  const text = await get(socketPath, "/status");
  const value: unknown = parseJson(text);
  if (!isNodeReport(value))
    throw new CodedError("bad-report", `${socketPath} answers something else than a node's status`);
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CodedError("bad-report", "the node agent's status is no JSON", { cause: error });
  }
}

/** The other side is this same program, so only its shape is checked. */
function isNodeReport(value: unknown): value is NodeReport {
  if (typeof value !== "object" || value === null || !("node" in value) || !("pods" in value)) return false;
  const { node } = value;
  return typeof node === "object" && node !== null && "name" in node && Array.isArray(value.pods);
}

async function get(socketPath: string, path: string): Promise<string> {
  return await new Promise<string>((resolve, reject) => {
    const fail = (error: Error) => {
      reject(
        new CodedError("not-running", `no node agent answers on ${socketPath}: ${error.message}`, { cause: error }),
      );
    };
    const call = request({ socketPath, path, timeout: TIMEOUT_MS, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_REPORT_BYTES) call.destroy(new Error("the answer is too long"));
        else chunks.push(chunk);
      });
      response.once("error", fail);
      response.once("end", () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString("utf8"));
        else fail(new Error(`status ${response.statusCode}`));
      });
    });
    call.once("timeout", () => call.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    call.once("error", fail);
    call.end();
  });
}
