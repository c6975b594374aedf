import { openChannel } from "../grpc/channel.ts";
import { parseEndpoint } from "../grpc/endpoint.ts";
import { createService, type RpcCaller } from "../grpc/service.ts";
import { RegistrationDefinition } from "./gen/plugin-registration-v1.ts";
import type { PluginRegistration } from "./port.ts";

/**
 * Upstream waits this long for a connection. It waits less for the answers (`pluginmanager/operationexecutor`), and the
 * caller sets that limit.
 */
const REQUEST_TIMEOUT_MS = 10_000;
/** The bound on a plugin's description of itself, which is kept and logged for as long as its socket is there. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Connects to the registration service behind a socket below `plugins_registry`, with the first call. Throws CodedError
 * `invalid-endpoint` for a path that no socket can have. Calls end after ten seconds where the caller names no
 * time-out.
 */
export function connectPluginRegistration(socketPath: string): PluginRegistration {
  const endpoint = parseEndpoint(`unix://${socketPath}`);
  const channel = openChannel({ endpoint, requestTimeoutMs: REQUEST_TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES });
  return createPluginRegistration(channel);
}

/** The plugin at the other end of a connection; closing it closes the connection. */
export function createPluginRegistration(connection: RpcCaller & { close(): void }): PluginRegistration {
  const service = createService(RegistrationDefinition, connection);
  return {
    async getInfo(call) {
      const { type, name, endpoint, supportedVersions } = await service.getInfo({}, call);
      return { type, name, endpoint, supportedVersions };
    },
    async notify({ registered, error }, call) {
      await service.notifyRegistrationStatus({ pluginRegistered: registered, error }, call);
    },
    close: () => connection.close(),
  };
}
