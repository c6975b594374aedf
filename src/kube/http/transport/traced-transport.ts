import { messageOf } from "../../../base/errors.ts";
import type { OpenSpan, Tracing } from "../../../base/tracing.ts";
import type { Transport } from "./create-transport.ts";
import type { WireAnswer } from "./wire.ts";

/**
 * A transport that makes a span of every request, as otelhttp does for a Go kubelet, and sends its context along, so that
 * the API server's spans join it. The span ends with the answer's body; that of a watch may last for minutes. Without
 * tracing it is the transport itself.
 */
export function traceTransport(transport: Transport, server: string, tracing: Tracing | undefined): Transport {
  if (tracing === undefined) return transport;
  const { origin, hostname, port } = new URL(server);
  const peer = { "server.address": hostname, ...(port !== "" && { "server.port": Number(port) }) };
  return {
    ...transport,
    async send(lane, request, signal) {
      const { method, path } = request;
      const attributes = { "http.request.method": method, "url.full": `${origin}${path}`, ...peer };
      const span = tracing.begin({ name: `HTTP ${method}`, kind: "client", attributes });
      try {
        const headers = { ...request.headers, ...span.headers };
        const answer = await transport.send(lane, { ...request, headers }, signal);
        return traceAnswer(answer, span);
      } catch (error) {
        span.end(messageOf(error));
        throw error;
      }
    },
  };
}

/** As the semantic conventions have it, an answer that says the client is wrong is a failure, too. */
const FIRST_FAILURE = 400;

function traceAnswer(answer: WireAnswer, span: OpenSpan): WireAnswer {
  const { status } = answer;
  span.annotate({ "http.response.status_code": status });
  const end = () => span.end(status >= FIRST_FAILURE ? `answered with ${status}` : undefined);
  return {
    status,
    headers: answer.headers,
    async read(onChunk) {
      try {
        await answer.read(onChunk);
        end();
      } catch (error) {
        span.end(messageOf(error));
        throw error;
      }
    },
    discard() {
      answer.discard();
      end();
    },
  };
}
