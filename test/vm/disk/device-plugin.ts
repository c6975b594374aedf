import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../../../src/base/errors.ts";
import { createFakeDevicePlugin } from "../../../src/device-plugin/fake/create-fake-device-plugin.ts";
import { RegistrationDefinition } from "../../../src/device-plugin/gen/device-plugin-v1beta1.ts";
import { openChannel } from "../../../src/grpc/channel.ts";
import { parseEndpoint } from "../../../src/grpc/endpoint.ts";
import { type GrpcServer, serveGrpc } from "../../../src/grpc/serve.ts";
import { createService } from "../../../src/grpc/service.ts";
import { createFakeClock } from "../../../src/host/fake/fake-clock.ts";
import { DISK_DEVICE } from "./recipe.ts";

/** The program of a device plugin that runs on the machine, and registers with each node agent anew. */
const DIRECTORY = "/var/lib/kubelet/device-plugins";
const ENDPOINT = "vm.sock";
const LOOK_AGAIN_MS = 1_000;
const REQUEST_TIMEOUT_MS = 60_000;

const plugin = createFakeDevicePlugin({
  clock: createFakeClock(),
  devices: [{ id: "disk", isHealthy: true, numaNodes: [] }],
  answer: () => ({
    devices: [{ containerPath: DISK_DEVICE.inContainers, hostPath: DISK_DEVICE.path, permissions: "r" }],
  }),
});

async function register(): Promise<void> {
  const endpoint = parseEndpoint(`unix://${DIRECTORY}/kubelet.sock`);
  const channel = openChannel({ endpoint, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  const { resource: resourceName } = DISK_DEVICE;
  try {
    const registration = createService(RegistrationDefinition, channel);
    await registration.register({ version: "v1beta1", endpoint: ENDPOINT, resourceName, options: undefined });
  } finally {
    channel.close();
  }
}

/** Changes when a node agent has started; undefined where none runs. */
async function readAgent(): Promise<string | undefined> {
  const found = await stat(join(DIRECTORY, "kubelet.sock")).catch(() => undefined);
  return found && `${found.ino} ${found.mtimeMs}`;
}

async function run(): Promise<never> {
  let known: string | undefined;
  let server: GrpcServer | undefined;
  for (;;) {
    const agent = await readAgent();
    if (agent !== undefined && agent !== known) {
      // A node agent that starts removes what is in the directory.
      await server?.close();
      server = await serveGrpc({ path: join(DIRECTORY, ENDPOINT), services: plugin.services });
      const isRegistered = await register().then(
        () => true,
        (error: unknown) => console.error(messageOf(error)),
      );
      if (isRegistered === true) known = agent;
    }
    await delay(LOOK_AGAIN_MS);
  }
}

void run();
