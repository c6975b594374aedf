import { openChannel } from "../grpc/channel.ts";
import { parseEndpoint } from "../grpc/endpoint.ts";
import { implement, type ServedService } from "../grpc/served-service.ts";
import { createService, type RpcCaller } from "../grpc/service.ts";
import { DevicePluginDefinition, RegistrationDefinition } from "./gen/device-plugin-v1beta1.ts";
import { readDeviceResponse, readDevices } from "./messages.ts";
import type { DevicePlugin, DeviceRegistration } from "./port.ts";

/** Upstream sets no limit to Allocate. This one only keeps a hung plugin from blocking the admission of pods for ever. */
const REQUEST_TIMEOUT_MS = 120_000;
/** gRPC's default, as for upstream's client. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** A device has ten, so that a plugin may list some twenty thousand of them. */
const MAX_ANSWER_NUMBERS = 250_000;

/**
 * Connects to the plugin behind a socket, with the first call. Throws CodedError `invalid-endpoint` for a path that no
 * socket can have. Calls end after two minutes where the caller names no time-out.
 */
export function connectDevicePlugin(socketPath: string): DevicePlugin {
  const endpoint = parseEndpoint(`unix://${socketPath}`);
  const bounds = { maxAnswerBytes: MAX_ANSWER_BYTES, maxAnswerNumbers: MAX_ANSWER_NUMBERS };
  const channel = openChannel({ endpoint, requestTimeoutMs: REQUEST_TIMEOUT_MS, ...bounds });
  return createDevicePlugin(channel);
}

/** The plugin at the other end of a connection; closing it closes the connection. */
export function createDevicePlugin(connection: RpcCaller & { close(): void }): DevicePlugin {
  const service = createService(DevicePluginDefinition, connection);
  return {
    async options(call) {
      const { preStartRequired, getPreferredAllocationAvailable } = await service.getDevicePluginOptions({}, call);
      return { preStartRequired, preferredAllocationAvailable: getPreferredAllocationAvailable };
    },
    async *listAndWatch(call) {
      for await (const { devices } of service.listAndWatch({}, call)) yield readDevices(devices);
    },
    async preferredAllocation({ available, mustInclude, size }, call) {
      const request = {
        availableDeviceIDs: [...available],
        mustIncludeDeviceIDs: [...mustInclude],
        allocationSize: size,
      };
      const answer = await service.getPreferredAllocation({ containerRequests: [request] }, call);
      return answer.containerResponses[0]?.deviceIDs ?? [];
    },
    async allocate(deviceIds, call) {
      const answer = await service.allocate({ containerRequests: [{ devicesIds: [...deviceIds] }] }, call);
      const [response] = answer.containerResponses;
      return response && readDeviceResponse(response);
    },
    async preStartContainer(deviceIds, call) {
      await service.preStartContainer({ devicesIds: [...deviceIds] }, call);
    },
    close: () => connection.close(),
  };
}

/**
 * The node agent's own service, to which plugins come. What `register` throws is the answer to the plugin; it has the
 * plugin wait until it is taken or refused.
 */
export function serveDeviceRegistration(
  register: (registration: DeviceRegistration, signal: AbortSignal) => Promise<void>,
): ServedService {
  return implement(RegistrationDefinition, {
    async register({ version, endpoint, resourceName }, { signal }) {
      await register({ version, endpoint, resourceName }, signal);
      return {};
    },
  });
}
