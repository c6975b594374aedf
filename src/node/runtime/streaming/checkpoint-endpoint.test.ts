import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { podFullName } from "../../../api/pods.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { CriError } from "../../../cri/port.ts";
import { createFakeRequest } from "../../../host/fake/fake-request.ts";
import { createCheckpointEndpoint } from "./checkpoint-endpoint.ts";

const POD: Pod = {
  metadata: { name: "web", namespace: "ns", uid: "u1" },
  spec: { containers: [{ name: "main" }], initContainers: [{ name: "first" }] },
};
const LOCATION = "/root/checkpoints/checkpoint-web_ns-main-2024-01-02T03:04:05Z.tar";

function createWorld({ isRunning = true, failure }: { isRunning?: boolean; failure?: Error } = {}) {
  const asked: unknown[] = [];
  const made: unknown[] = [];
  const endpoint = createCheckpointEndpoint(
    {
      clock: { now: () => Date.UTC(2024, 0, 2, 3, 4, 5) },
      files: { makeDirectory: async (path, mode) => await Promise.resolve(void made.push([path, mode])) },
      pods: { byFullName: (name) => (name === podFullName(POD) ? POD : undefined), resolveUid: (uid) => uid },
      runtime: {
        listContainers: async () =>
          await Promise.resolve(
            cri.ListContainersResponse.fromPartial({ containers: isRunning ? [{ id: "c1" }] : [] }),
          ),
        checkpointContainer: async (request, options) => {
          asked.push({ ...request, timeoutMs: options?.timeoutMs });
          return failure === undefined ? await Promise.resolve({}) : await Promise.reject(failure);
        },
      },
    },
    { directory: "/root/checkpoints", requestTimeoutMs: 120_000 },
  );
  const ask = async (target: string, method = "POST") => {
    return await endpoint(createFakeRequest(target, { method }));
  };
  return { ask, asked, made };
}

it.each([
  ["", 120n],
  ["?timeout=5", 120n],
  ["?timeout=5&timeout=300", 300n],
])("has a checkpoint made for %j within %i seconds, and says where it is", async (query, timeout) => {
  const { ask, asked, made } = createWorld();
  expect(await ask(`/checkpoint/ns/web/main${query}`)).toEqual({
    status: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ items: [LOCATION] }),
  });
  expect(asked).toEqual([{ containerId: "c1", location: LOCATION, timeout, timeoutMs: Number(timeout) * 1_000 }]);
  expect(made).toEqual([["/root/checkpoints", 0o700]]);
});

const CALL = { rpc: "CheckpointContainer", endpoint: "e" };
const UNIMPLEMENTED = new CriError("unimplemented", { ...CALL, detail: "unknown method" });
/** As the connection explains it to a person; clients know the runtime's own words. */
const EXPLAINED = new CriError("unimplemented", {
  ...CALL,
  detail: "containerd 1.7.24 lacks it",
  cause: UNIMPLEMENTED,
});
const FAILED = "checkpointing of ns/web/main failed";

it.each<[string, number, string, Parameters<typeof createWorld>[0]?]>([
  ["/checkpoint/ns/none/main", 404, "pod does not exist"],
  ["/checkpoint/ns/web/none", 404, "container none does not exist"],
  ["/checkpoint/ns/web/u1/main", 404, "404: Page Not Found"],
  ["/checkpoint/ns/web/main?timeout=1&timeout=x", 404, "cannot parse value of timeout parameter"],
  ["/checkpoint/ns/web/main?timeout=99999999999999999999", 404, "cannot parse value of timeout parameter"],
  ["/checkpoint/ns/web/main?timeout=-1", 500, `${FAILED} (CheckpointContainer requires the timeout value to be > 0)`],
  ["/checkpoint/ns/web/main", 500, `${FAILED} (container main not found)`, { isRunning: false }],
  [
    "/checkpoint/ns/web/main",
    500,
    `${FAILED} (rpc error: code = Unimplemented desc = unknown method)`,
    { failure: UNIMPLEMENTED },
  ],
  [
    "/checkpoint/ns/web/main",
    500,
    `${FAILED} (rpc error: code = Unimplemented desc = unknown method)`,
    { failure: EXPLAINED },
  ],
])("answers %s with %i %s", async (target, status, body, world) => {
  expect(await createWorld(world).ask(target)).toEqual({ status, body });
});

it("is not asked for by reading", async () => {
  expect(await createWorld().ask("/checkpoint/ns/web/main", "GET")).toMatchObject({ status: 405 });
});
