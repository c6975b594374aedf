import { isAbort } from "../base/abort.ts";
import { CodedError, messageOf } from "../base/errors.ts";
import type { GrpcErrorCode } from "./port.ts";
import type { MethodDefinition, RequestOf, ResponseOf, ServiceDefinition } from "./service.ts";
import { codeOfText } from "./status.ts";

/**
 * The handlers of a service, method by method; methods without one answer `unimplemented`. A handler that throws a
 * CodedError with a GrpcErrorCode answers with that; any other error is `unknown`, as in Go's servers.
 */
export type HandlersOf<Definition extends ServiceDefinition> = {
  readonly [Method in keyof Definition["methods"]]?: HandlerOf<Definition["methods"][Method]>;
};

type HandlerOf<Method extends MethodDefinition> = Method["responseStream"] extends true
  ? (request: RequestOf<Method>, context: HandlerContext) => AsyncIterable<ResponseOf<Method>>
  : (request: RequestOf<Method>, context: HandlerContext) => Promise<ResponseOf<Method>> | ResponseOf<Method>;

/** The context of the call that a handler serves. */
export interface HandlerContext {
  /** Fires when the caller has gone or the server closes; the handler then ends soon. */
  readonly signal: AbortSignal;
}

/** A service that can be served, over a socket (`serveGrpc`) or in memory. */
export interface ServedService {
  /** The service's name with its package. */
  readonly fullName: string;
  /** The methods that have a handler, by their keys in the definition. */
  readonly methods: ReadonlyMap<string, ServedMethod>;
}

/** A method with its handler; the handler of a streaming method returns an async iterable. */
export interface ServedMethod {
  readonly method: MethodDefinition;
  readonly handler: Handler;
}

/** A handler whose messages are those of its method. */
export type Handler = (request: unknown, context: HandlerContext) => unknown;

/** Ties handlers to the service that they implement. */
export function implement<Definition extends ServiceDefinition>(
  definition: Definition,
  handlers: HandlersOf<Definition>,
): ServedService {
  const methods = Object.entries(definition.methods).flatMap(([key, method]) => {
    // The codec of the same method decodes the request, so it is what the handler takes.
    const handler = handlers[key] as Handler | undefined;
    return handler === undefined ? [] : [[key, { method, handler }] as const];
  });
  return { fullName: definition.fullName, methods: new Map(methods) };
}

/** A detail travels in a header. One that is longer than a client takes would leave the client without any answer. */
const MAX_DETAIL_CHARACTERS = 2048;

/** Converts a handler's failure to the answer. */
export function answerFailure(thrown: unknown): { code: GrpcErrorCode; detail: string } {
  if (isAbort(thrown)) return { code: "cancelled", detail: "the call was given up" };
  const code = thrown instanceof CodedError ? codeOfText(String(thrown.code)) : undefined;
  const hasDetail = code !== undefined && thrown instanceof Error && "detail" in thrown;
  const detail = hasDetail && typeof thrown.detail === "string" ? thrown.detail : messageOf(thrown);
  return { code: code ?? "unknown", detail: detail.slice(0, MAX_DETAIL_CHARACTERS) };
}
