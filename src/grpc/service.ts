import type { BinaryReader } from "@bufbuild/protobuf/wire";
import type { CallOptions } from "./port.ts";

/** The methods of a generated service definition: server streams as async iterables, all others as promises. */
export type ServiceOf<Definition extends ServiceDefinition> = {
  [Method in keyof Definition["methods"]]: RpcOf<Definition["methods"][Method]>;
};

type RpcOf<Method extends MethodDefinition> = Method["responseStream"] extends true
  ? (request: RequestOf<Method>, options?: CallOptions) => AsyncIterable<ResponseOf<Method>>
  : (request: RequestOf<Method>, options?: CallOptions) => Promise<ResponseOf<Method>>;

/** The request type of a method. */
export type RequestOf<Method extends MethodDefinition> = ReturnType<Method["requestType"]["decode"]>;

/** The response type of a method, or the type of each message of its stream. */
export type ResponseOf<Method extends MethodDefinition> = ReturnType<Method["responseType"]["decode"]>;

/**
 * The description of a service by generated code; it is enough to call or to serve the service without knowing its
 * messages.
 */
export interface ServiceDefinition {
  /** The name with its package, as it stands in the request path. */
  readonly fullName: string;
  readonly methods: Readonly<Record<string, MethodDefinition>>;
}

/** One RPC of a service. */
export interface MethodDefinition {
  /** The name as the protocol spells it: `RunPodSandbox`. */
  readonly name: string;
  readonly requestType: MessageCodec;
  readonly responseType: MessageCodec;
  readonly responseStream: boolean;
}

/** A message on the wire, as generated code reads and writes it. */
interface MessageCodec {
  encode(message: unknown): { finish(): Uint8Array };
  decode(bytes: BinaryReader | Uint8Array): unknown;
}

/** Carries any RPC out: over a socket, in memory, or through another caller that measures. */
export interface RpcCaller {
  unary(rpc: Rpc, request: unknown, options: CallOptions): Promise<unknown>;
  stream(rpc: Rpc, request: unknown, options: CallOptions): AsyncIterable<unknown>;
}

/** Names one RPC, with what is needed to carry it out. */
export interface Rpc {
  /** `runtime.v1.RuntimeService`. */
  service: string;
  /** `runPodSandbox`. */
  key: string;
  method: MethodDefinition;
}

/** The typed methods of a service, each carried out by `caller`. */
export function createService<Definition extends ServiceDefinition>(
  definition: Definition,
  caller: RpcCaller,
): ServiceOf<Definition> {
  const methods = Object.entries(definition.methods).map(([key, method]) => {
    const rpc: Rpc = { service: definition.fullName, key, method };
    const call = method.responseStream
      ? (request: unknown, options: CallOptions = {}) => caller.stream(rpc, request, options)
      : (request: unknown, options: CallOptions = {}) => caller.unary(rpc, request, options);
    return [key, call] as const;
  });
  // There is one method for each entry of the definition, with the codecs that the definition names, as ServiceOf says.
  return Object.fromEntries(methods) as ServiceOf<Definition>;
}

/** A caller whose failures are passed through `map`; aborts are passed through it too. */
export function mapErrors(
  caller: RpcCaller,
  map: (error: unknown, request: unknown) => unknown | Promise<unknown>,
): RpcCaller {
  return {
    async unary(rpc, request, options) {
      try {
        return await caller.unary(rpc, request, options);
      } catch (error) {
        throw await map(error, request);
      }
    },
    async *stream(rpc, request, options) {
      try {
        yield* caller.stream(rpc, request, options);
      } catch (error) {
        throw await map(error, request);
      }
    },
  };
}
