import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFakeDraDriver, type FakeDraDriver } from "../../../src/dra/fake/create-fake-dra-driver.ts";
import { type GrpcServer, serveGrpc } from "../../../src/grpc/serve.ts";
import { createFakeClock } from "../../../src/host/fake/fake-clock.ts";
import { createFakePlugin } from "../../../src/plugin-registration/fake/create-fake-plugin.ts";
import type { NodeUnderTest } from "../node-under-test.ts";

export const DRIVER = "sample.e2e.nodelet.example.com";
/** A directory in which every runtime looks for devices. */
const CDI_DIRECTORY = "/var/run/cdi";

/** A driver of claims whose devices are a variable each, over real sockets, with its description for the runtime. */
export interface SampleDraDriver {
  readonly fake: FakeDraDriver;
  /** The CDI name of the device. */
  readonly cdiName: string;
  /** The driver comes up and waits to be found, or goes. */
  start(): Promise<void>;
  stop(): Promise<void>;
  destroy(): Promise<void>;
}

/** Its one device sets the variable SAMPLE to `injected`. */
export async function createSampleDraDriver({ directory }: Pick<NodeUnderTest, "directory">): Promise<SampleDraDriver> {
  const kind = `nodelet-e2e-${process.pid}.example.com/sample`;
  const cdiName = `${kind}=one`;
  const specFile = join(CDI_DIRECTORY, `nodelet-e2e-${process.pid}.json`);
  const devices = [{ name: "one", containerEdits: { env: ["SAMPLE=injected"] } }];
  await mkdir(CDI_DIRECTORY, { recursive: true });
  await writeFile(specFile, JSON.stringify({ cdiVersion: "0.5.0", kind, devices }));

  const clock = createFakeClock();
  const device = { poolName: "pool", deviceName: "one", shareId: undefined, requestNames: ["sample"] };
  const fake = createFakeDraDriver({ clock, devicesOf: () => [{ ...device, cdiDeviceIds: [cdiName] }] });
  const plugins = join(directory, "kubelet", "plugins");
  const endpoint = join(plugins, "sample.sock");
  const info = { type: "DRAPlugin", name: DRIVER, endpoint, supportedVersions: ["v1.DRAPlugin", "v1beta1.DRAPlugin"] };
  const registration = createFakePlugin({ clock, info });
  let servers: readonly GrpcServer[] = [];
  const stop = async () => {
    for (const server of servers) await server.close();
    servers = [];
  };
  return {
    fake,
    cdiName,
    async start() {
      await mkdir(plugins, { recursive: true });
      const registry = join(directory, "kubelet", "plugins_registry");
      await mkdir(registry, { recursive: true });
      servers = [
        await serveGrpc({ path: endpoint, services: fake.services }),
        await serveGrpc({ path: join(registry, "sample-reg.sock"), services: registration.services }),
      ];
    },
    stop,
    async destroy() {
      await stop();
      await rm(specFile, { force: true });
    },
  };
}
