import type { CallOptions, MethodDefinition, ServiceDefinition, ServiceOf } from "./port.ts";

/** Carries any RPC out: over a socket, in memory, or by way of another caller that measures. */
export interface RpcCaller {
  unary(rpc: Rpc, request: unknown, options: CallOptions): Promise<unknown>;
  stream(rpc: Rpc, request: unknown, options: CallOptions): AsyncIterable<unknown>;
}

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
  // One method an entry of the definition, with the codecs that the definition names: what ServiceOf says.
  return Object.fromEntries(methods) as ServiceOf<Definition>;
}
