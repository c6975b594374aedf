import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFakeDevicePlugin } from "../../src/device-plugin/fake/create-fake-device-plugin.ts";
import { RegistrationDefinition } from "../../src/device-plugin/gen/device-plugin-v1beta1.ts";
import { openChannel } from "../../src/grpc/channel.ts";
import { parseEndpoint } from "../../src/grpc/endpoint.ts";
import { isGrpcError } from "../../src/grpc/port.ts";
import { type GrpcServer, serveGrpc } from "../../src/grpc/serve.ts";
import { createService } from "../../src/grpc/service.ts";
import { createFakeClock } from "../../src/host/fake/fake-clock.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { podResourcesOf } from "./pod-resources-of.ts";
import { containerOf, isRunning, shellPod } from "./pods.ts";

const RESOURCE = "example.com/device";
/** Ends at once where the device, its variable or its annotation is missing. */
const NEEDS_DEVICE = 'test -c "/dev/sample-$DEVICE" && echo lost > "/dev/sample-$DEVICE" && sleep 100000';

describe("a device plugin", () => {
  let node: NodeUnderTest;
  let server: GrpcServer | undefined;
  let directory = "";
  const plugin = createFakeDevicePlugin({
    clock: createFakeClock(),
    devices: ["a", "b"].map((id) => ({ id, isHealthy: true, numaNodes: [] })),
    answer: (ids) => ({
      envs: { DEVICE: ids.join("-") },
      devices: [{ containerPath: `/dev/sample-${ids.join("-")}`, hostPath: "/dev/null", permissions: "rw" }],
      annotations: { "example.com/devices": ids.join(",") },
    }),
  });
  beforeAll(async () => {
    node = await createNodeUnderTest();
    directory = `${node.directory}/kubelet/device-plugins`;
    await node.start();
  });
  afterAll(async () => {
    await server?.close();
    await node?.destroy();
  });

  /** Does as plugins do: when the node agent's socket is there anew, it makes its own, and registers. */
  const comeUp = async () => {
    await expect(register(directory, { version: "v0" })).rejects.toThrow("is not supported by kubelet");
    server = await serveGrpc({ path: `${directory}/sample.sock`, services: plugin.services });
    await register(directory, { version: "v1beta1" });
  };
  const write = async (name: string, amount: number) => {
    const resources = { limits: { [RESOURCE]: String(amount) } };
    await node.write(`${name}.json`, shellPod(name, NEEDS_DEVICE, {}, { resources }));
  };

  it("gives its devices to containers, which keep them when the agent starts again", async () => {
    await comeUp();
    await write("first", 1);
    const before = await node.pod("first", isRunning);
    const status = containerOf(before, "main");
    expect(status?.allocatedResourcesStatus).toEqual([
      { name: RESOURCE, resources: [{ resourceID: "a", health: "Healthy" }] },
    ]);

    const { podResources } = await podResourcesOf(node);
    expect(podResources).toMatchObject([
      { containers: [{ name: "main", devices: [{ resourceName: RESOURCE, deviceIds: ["a"] }] }] },
    ]);

    await node.kill();
    await server?.close();
    await node.start();
    await comeUp();
    const after = await node.pod("first", isRunning);
    expect(containerOf(after, "main")?.containerID).toBe(status?.containerID);

    await write("greedy", 2);
    const refused = await node.pod("greedy", ({ status }) => status?.phase === "Failed");
    expect(refused.status).toMatchObject({
      reason: "UnexpectedAdmissionError",
      message: expect.stringContaining(
        `requested number of devices unavailable for ${RESOURCE}. Requested: 2, Available: 1`,
      ),
    });
    await write("second", 1);
    await node.pod("second", isRunning);
    expect(plugin.calls.filter(([call]) => call === "Allocate")).toEqual([
      ["Allocate", "a"],
      ["Allocate", "b"],
    ]);
  });
});

/** Calls the node agent as soon as its socket is there; rejects with its refusal. */
async function register(directory: string, { version }: { version: string }): Promise<void> {
  const endpoint = parseEndpoint(`unix://${directory}/kubelet.sock`);
  const channel = openChannel({ endpoint, requestTimeoutMs: 60_000 });
  const registration = createService(RegistrationDefinition, channel);
  const request = { version, endpoint: "sample.sock", resourceName: RESOURCE, options: undefined };
  const call = async () => await registration.register(request).catch((error: unknown) => error);
  try {
    let answer = await call();
    while (isGrpcError(answer, "unavailable")) {
      await delay(50);
      answer = await call();
    }
    if (isGrpcError(answer)) throw answer;
  } finally {
    channel.close();
  }
}
