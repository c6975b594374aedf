import { stat } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/gen/types.ts";
import { type GrpcChannel, openChannel } from "../../src/grpc/channel.ts";
import { parseEndpoint } from "../../src/grpc/endpoint.ts";
import { createService } from "../../src/grpc/service.ts";
import { readPod } from "../../src/pods-api/__fixtures__/read-pod.ts";
import { EventType, PodsDefinition } from "../../src/pods-api/gen/pods-v1alpha1.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";

describe("the API of a node's pods", () => {
  let node: NodeUnderTest;
  let channel: GrpcChannel;
  beforeAll(async () => {
    node = await createNodeUnderTest();
    await node.start(["--feature-gates=PodsAPI=true"]);
    const endpoint = parseEndpoint(`unix://${node.directory}/kubelet/pods-api/pods-api.sock`);
    channel = openChannel({ endpoint, requestTimeoutMs: 60_000 });
  });
  afterAll(async () => {
    channel?.close();
    await node?.destroy();
  });

  it("shows a static pod from its first status to its end", async () => {
    expect((await stat(`${node.directory}/kubelet/pods-api`)).mode & 0o7).toBe(0);
    const client = createService(PodsDefinition, channel);
    const watching = new AbortController();
    const types: number[] = [];
    const phases: Array<string | undefined> = [];
    const watch = (async () => {
      for await (const { type, pod } of client.watchPods({}, { signal: watching.signal })) {
        types.push(type);
        phases.push(pod.length === 0 ? undefined : readPod(pod).status?.phase);
        if (type === EventType.INITIAL_SYNC_COMPLETE) await node.write("web.json", shellPod("web", RUN_FOR_EVER));
        if (type === EventType.DELETED) return readPod(pod);
      }
      return undefined;
    })();
    const pod: Pod = await node.pod("web", isRunning);
    const uid = pod.metadata?.uid ?? "";
    const got = readPod((await client.getPod({ podUID: uid })).pod);
    expect(got).toMatchObject({ metadata: { name: pod.metadata?.name }, status: { phase: "Running" } });
    expect((await client.listPods({})).pods.map(readPod)).toEqual([got]);
    await node.remove("web.json");
    expect((await watch)?.metadata?.uid).toBe(uid);
    watching.abort();
    expect(types.slice(0, 2)).toEqual([EventType.INITIAL_SYNC_COMPLETE, EventType.ADDED]);
    expect(types.filter((type) => type === EventType.ADDED)).toHaveLength(1);
    expect(phases).toContain("Running");
  });
});
