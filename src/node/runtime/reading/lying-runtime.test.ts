import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import {
  CONTAINER_NAME_LABEL,
  CONTAINER_RESTART_COUNT_ANNOTATION,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
} from "../../../api/well-known.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { RuntimeService } from "../../../cri/port.ts";
import { createFakeNode, NEVER, STUBBORN } from "./__fixtures__/fake-node.ts";
import { listRuntimePods, readPodRuntimeStatus } from "./read-pods.ts";

const POD = { uid: "a", name: "pod-a", namespace: "default" };
const LABELS = { [POD_UID_LABEL]: "a", [POD_NAME_LABEL]: "pod-a", [POD_NAMESPACE_LABEL]: "default" };
const INT64_MAX = 2n ** 63n - 1n;

type Lists = Partial<Pick<RuntimeService, "listPodSandbox" | "listContainers">>;
type Statuses = Partial<Pick<RuntimeService, "podSandboxStatus" | "containerStatus">>;

/** A pod of one container in a runtime of which some calls tell lies. */
async function readLies(lies: (runtime: RuntimeService) => Lists & Statuses) {
  const node = createFakeNode();
  const pod = ({ uid, name, namespace }: typeof POD): Pod => ({ metadata: { uid, name, namespace } });
  await node.makePod(pod(POD), { main: { command: STUBBORN } });
  await node.makePod(pod({ ...POD, uid: "b", name: "pod-b" }), { main: { command: STUBBORN } });
  const runtime = { ...node.cri.runtime, ...lies(node.cri.runtime) };
  return await readPodRuntimeStatus({ runtime, host: node.host }, POD, NEVER);
}

const container = (fields: Partial<cri.ContainerStatus>) => ({
  containerStatus: async ({ containerId: id }: cri.ContainerStatusRequest) =>
    cri.ContainerStatusResponse.fromPartial({ status: { id, labels: LABELS, ...fields } }),
});
const sandbox = (fields: Parameters<typeof cri.PodSandboxStatus.fromPartial>[0]) => ({
  podSandboxStatus: async ({ podSandboxId: id }: cri.PodSandboxStatusRequest) =>
    cri.PodSandboxStatusResponse.fromPartial({ status: { id, labels: LABELS, ...fields } }),
});

describe("a runtime that lies about a pod", () => {
  it("and lists what is of other pods: it is left out, and so is never stopped", async () => {
    const { containers, sandboxes } = await readLies(({ listContainers, listPodSandbox }) => ({
      listContainers: async () => await listContainers(cri.ListContainersRequest.fromPartial({})),
      listPodSandbox: async () => await listPodSandbox(cri.ListPodSandboxRequest.fromPartial({})),
    }));
    expect([containers.length, sandboxes.length]).toEqual([1, 1]);
  });

  it.each(["../../../etc/x", "a/b", "..", "", "x".repeat(300)])(
    "and gives IDs that lead elsewhere: %j is left out",
    async (id) => {
      const { containers, sandboxes } = await readLies(({ listContainers, listPodSandbox }) => ({
        listContainers: async (request) => ({
          containers: (await listContainers(request)).containers.flatMap((each) => [each, { ...each, id }]),
        }),
        listPodSandbox: async (request) => ({
          items: (await listPodSandbox(request)).items.flatMap((each) => [each, { ...each, id }]),
        }),
      }));
      expect([containers.length, sandboxes.length]).toEqual([1, 1]);
    },
  );

  it.each(["../../../../etc", "a/b", ".."])("and calls a container %j: it is left out", async (name) => {
    const { containers } = await readLies(() =>
      container({ labels: { ...LABELS, [CONTAINER_NAME_LABEL]: name }, state: cri.ContainerState.CONTAINER_EXITED }),
    );
    expect(containers).toEqual([]);
  });

  it("and lists everything twice: each is read once", async () => {
    const { containers, sandboxes } = await readLies(({ listContainers, listPodSandbox }) => ({
      async listContainers(request) {
        const { containers: once } = await listContainers(request);
        return { containers: [...once, ...once] };
      },
      async listPodSandbox(request) {
        const { items } = await listPodSandbox(request);
        return { items: [...items, ...items] };
      },
    }));
    expect([containers.length, sandboxes.length]).toEqual([1, 1]);
  });

  it.each([
    ["container", container({ id: "another" })],
    ["sandbox", sandbox({ id: "another" })],
  ])("and tells of another %s than it was asked for: nothing is believed", async (what, lie) => {
    await expect(readLies(() => lie)).rejects.toMatchObject({
      code: "contradiction",
      message: expect.stringMatching(`^the runtime was asked for the status of ${what} ".+" and told of another one$`),
    });
  });

  it("and has lists and no statuses", async () => {
    const lie = { containerStatus: async () => cri.ContainerStatusResponse.fromPartial({}) };
    expect((await readLies(() => lie)).containers).toEqual([]);
  });

  it("and lists ten thousand containers of it: sixteen are asked for at a time", async () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => ({ id: `c${index}`, labels: LABELS }));
    let underWay = 0;
    let most = 0;
    const { containers } = await readLies(({ containerStatus: _gone, ...runtime }) => ({
      ...runtime,
      listContainers: async () => cri.ListContainersResponse.fromPartial({ containers: ids }),
      async containerStatus(request) {
        most = Math.max(most, ++underWay);
        const status = await container({}).containerStatus(request);
        underWay--;
        return status;
      },
    }));
    expect(containers).toHaveLength(10_000);
    expect(most).toBeLessThanOrEqual(16);
  });

  it.each([
    ["in the year 2262", INT64_MAX, 9_223_372_036_854],
    ["before the epoch", -INT64_MAX, 0],
  ])("and says that it all happened %s", async (_when, at, expected) => {
    const lie = container({ createdAt: at, startedAt: at, finishedAt: at, state: cri.ContainerState.CONTAINER_EXITED });
    const { containers } = await readLies(() => lie);
    const [read] = containers;
    expect([read?.createdAt, read?.startedAt, read?.finishedAt]).toEqual([expected, expected, expected]);
    expect(() => new Date(expected).toISOString()).not.toThrow();
  });

  it.each([
    ["999999999999999999999", 2 ** 31 - 1],
    ["-5", 0],
    ["Infinity", 0],
  ])("and has restarted it %s times", async (count, expected) => {
    const lie = container({ annotations: { [CONTAINER_RESTART_COUNT_ANNOTATION]: count } });
    expect((await readLies(() => lie)).containers).toMatchObject([{ restartCount: expected }]);
  });

  it("and has made so many attempts that there is no next one", async () => {
    const { sandboxes } = await readLies(() => sandbox({ metadata: { attempt: 2 ** 32 - 1 } }));
    expect(sandboxes).toMatchObject([{ attempt: 2 ** 31 - 1 }]);
  });

  it("and writes megabytes where a word belongs", async () => {
    const text = "x".repeat(4 * 1024 * 1024);
    const { containers } = await readLies(() => container({ reason: text, message: text }));
    expect(containers.map(({ reason, message }) => [reason.length, message.length])).toEqual([[8192, 8192]]);
  });

  it("and gives it a thousand addresses, and words among them", async () => {
    const additionalIps = Array.from({ length: 1000 }, (_, index) => ({ ip: `10.1.${index >> 8}.${index & 255}` }));
    const network = { ip: "../../etc", additionalIps: [{ ip: "127.0.0.1\n" }, { ip: "fd00::1" }, ...additionalIps] };
    const { ips } = await readLies(() => sandbox({ network, state: cri.PodSandboxState.SANDBOX_READY }));
    expect([ips.length, ips[0], ips[1]]).toEqual([16, "fd00::1", "10.1.0.0"]);
  });

  it("and has neither metadata nor an image", async () => {
    const lie = { ...container({ labels: {} }), ...sandbox({}) };
    expect(await readLies(() => lie)).toMatchObject({
      containers: [{ name: "", image: "", imageId: "", restartCount: 0 }],
      sandboxes: [{ attempt: 0, ips: [] }],
    });
  });
});

it("a list of a hundred thousand containers of nobody is read", async () => {
  const containers = Array.from({ length: 100_000 }, (_, index) => ({ id: `c${index}`, labels: { x: "y" } }));
  const runtime = {
    ...createFakeNode().cri.runtime,
    listContainers: async () => cri.ListContainersResponse.fromPartial({ containers }),
  };
  expect(await listRuntimePods(runtime, NEVER)).toEqual([]);
});
