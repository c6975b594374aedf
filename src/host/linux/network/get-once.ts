import { CodedError } from "../../../base/errors.ts";
import { readBody } from "./read-body.ts";
import { type RequestAddress, sendRequest } from "./send-request.ts";
import { withinTime } from "./within-time.ts";

interface GetRequest {
  readonly to: RequestAddress;
  readonly path: string;
  /** The authorities that are believed for https, in PEM. Default: the system's. */
  readonly ca?: string;
  /** The limit for the whole exchange. */
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
}

/**
 * Makes one GET request and reads its answer to the end. A redirect counts as an answer. Rejects with `ETIMEDOUT`, with
 * `EFBIG` for a longer body, or with the error of Node.js.
 */
export async function getOnce(
  { to, path, ca, timeoutMs, maxBodyBytes }: GetRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ status: number; body: Buffer }> {
  return await withinTime(timeoutMs, signal, async (deadline) => {
    try {
      const reply = await sendRequest({ to, method: "GET", path, headers: {}, tls: { ca } }, deadline.signal);
      if (reply.kind === "upgraded") reply.socket.destroy();
      const body = await readBody(reply.message, { maxBytes: maxBodyBytes, atLimit: "refuse" });
      return { status: reply.message.statusCode ?? 0, body };
    } catch (error) {
      if (!deadline.isOver()) throw error;
      throw new CodedError("ETIMEDOUT", `no answer within ${timeoutMs} ms`, { cause: error });
    }
  });
}
