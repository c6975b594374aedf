import { openChannel } from "../../src/grpc/channel.ts";
import { parseEndpoint } from "../../src/grpc/endpoint.ts";
import { createService } from "../../src/grpc/service.ts";
import { PodResourcesListerDefinition } from "../../src/pod-resources/gen/pod-resources-v1.ts";
import type { NodeUnderTest } from "./node-under-test.ts";

/** What the node agent tells monitoring agents of the resources of its pods. */
export async function podResourcesOf({ directory }: Pick<NodeUnderTest, "directory">) {
  const endpoint = parseEndpoint(`unix://${directory}/kubelet/pod-resources/kubelet.sock`);
  const channel = openChannel({ endpoint, requestTimeoutMs: 60_000 });
  try {
    return await createService(PodResourcesListerDefinition, channel).list({});
  } finally {
    channel.close();
  }
}
