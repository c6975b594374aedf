import { isAbort } from "../base/abort.ts";
import { messageOf } from "../base/errors.ts";
import type { OpenSpan, Tracing } from "../base/tracing.ts";
import { isGrpcError } from "./port.ts";
import type { Rpc, RpcCaller } from "./service.ts";
import { nameOfCode } from "./status.ts";

/**
 * A caller that makes a span of every call, as otelgrpc does for a Go kubelet, and sends its context along, so that the
 * server's spans join it. A stream's span ends with the stream. Without tracing it is the caller itself.
 */
export function traceCalls(caller: RpcCaller, tracing: Tracing | undefined): RpcCaller {
  if (tracing === undefined) return caller;
  const begin = ({ service, method }: Rpc): OpenSpan => {
    const name = `${service}/${method.name}`;
    const attributes = { "rpc.system.name": "grpc", "rpc.method": name };
    return tracing.begin({ name, kind: "client", attributes });
  };
  return {
    async unary(rpc, request, options) {
      const span = begin(rpc);
      try {
        const response = await caller.unary(rpc, request, { ...options, metadata: withContext(options, span) });
        end(span);
        return response;
      } catch (error) {
        end(span, error);
        throw error;
      }
    },
    async *stream(rpc, request, options) {
      const span = begin(rpc);
      try {
        yield* caller.stream(rpc, request, { ...options, metadata: withContext(options, span) });
      } catch (error) {
        end(span, error);
        throw error;
      } finally {
        end(span);
      }
    },
  };
}

function withContext(options: { metadata?: Readonly<Record<string, string>> | undefined }, { headers }: OpenSpan) {
  return { ...options.metadata, ...headers };
}

function end(span: OpenSpan, error?: unknown): void {
  span.annotate({ "rpc.response.status_code": codeOf(error) });
  if (error === undefined) span.end();
  else span.end(messageOf(error));
}

function codeOf(error: unknown): string {
  if (error === undefined) return "OK";
  if (isAbort(error)) return nameOfCode("cancelled");
  return isGrpcError(error) ? nameOfCode(error.code) : nameOfCode("unknown");
}
