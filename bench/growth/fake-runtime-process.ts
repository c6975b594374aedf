import { DEMO_IMAGE } from "../../src/cluster/images/image-references.ts";
import { createFakeCri } from "../../src/cri/fake/create-fake-cri.ts";
import { ImageServiceDefinition, RuntimeServiceDefinition } from "../../src/cri/gen/cri-v1.ts";
import type { CallOptions } from "../../src/grpc/port.ts";
import { serveGrpc } from "../../src/grpc/serve.ts";
import type { ServedService } from "../../src/grpc/served-service.ts";
import type { ServiceDefinition } from "../../src/grpc/service.ts";
import { createLinuxHost } from "../../src/host/linux/create-linux-host.ts";

/** What the process is told. */
export interface FakeRuntimeOrder {
  socket: string;
  /** RPCs that it answers with `unimplemented`, by method name. */
  lacks: readonly string[];
}

/** What it tells: that it serves, or why it cannot. */
export type FakeRuntimeReport = { kind: "serving" } | { kind: "failed"; message: string };

const report = (message: FakeRuntimeReport) => process.send?.(message);

process.once("message", (order: FakeRuntimeOrder) => {
  serve(order).catch((error: unknown) => report({ kind: "failed", message: String(error) }));
});
process.once("disconnect", () => process.exit());

/**
 * The fake runtime of the tests on a real socket: hundreds of pods on one machine, which no container slows. What a node
 * agent costs with them is its own.
 */
async function serve({ socket, lacks }: FakeRuntimeOrder): Promise<void> {
  const { clock, files } = createLinuxHost();
  // A node agent has logs reopened that are not there, each time that it looks at them. No start waits for the disk.
  const logs = { writeAtomically: files.replace };
  const fake = createFakeCri({ clock, files: logs, images: [{ ref: DEMO_IMAGE, cmd: ["/bin/sh"] }], lacks });
  const services = [
    serviceOf(RuntimeServiceDefinition, fake.runtime, lacks),
    serviceOf(ImageServiceDefinition, fake.images, lacks),
  ];
  await serveGrpc({ path: socket, services });
  report({ kind: "serving" });
}

function serviceOf(definition: ServiceDefinition, client: object, lacks: readonly string[]): ServedService {
  const methods = Object.entries(definition.methods).filter(([key]) => !lacks.includes(key));
  return {
    fullName: definition.fullName,
    methods: new Map(
      methods.map(([key, method]) => {
        const call: (request: unknown, options: CallOptions) => unknown = Reflect.get(client, key);
        return [key, { method, handler: (request, { signal }) => call(request, { signal, timeoutMs: NO_LIMIT }) }];
      }),
    ),
  };
}

const NO_LIMIT = Number.POSITIVE_INFINITY;
