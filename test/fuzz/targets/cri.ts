import { CodedError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { connectCri } from "../../../src/cri/connect.ts";
import * as cri from "../../../src/cri/gen/cri-v1.ts";
import { createFakeHost } from "../../../src/host/fake/create-fake-host.ts";
import { listRuntimePods, readPodRuntimeStatus } from "../../../src/node/runtime/reading/read-pods.ts";
import type { Target } from "../target.ts";
import { createGrpcPeer } from "./grpc-peer.ts";
import { PART, partsOf } from "./parts.ts";

const METHODS = [
  "ListPodSandbox",
  "ListContainers",
  "PodSandboxStatus",
  "ContainerStatus",
  "ImageFsInfo",
  "GetContainerEvents",
];
const POD = { uid: "u1", name: "a", namespace: "default" };
const LABELS = {
  "io.kubernetes.pod.uid": "u1",
  "io.kubernetes.pod.name": "a",
  "io.kubernetes.pod.namespace": "default",
  "io.kubernetes.container.name": "c",
};
const ANNOTATIONS = {
  "io.kubernetes.container.hash": "1a2b3c4d",
  "io.kubernetes.container.restartCount": "2",
  "io.kubernetes.container.preStopHandler": '{"exec":{"command":["a"]}}',
  "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
  "io.kubernetes.pod.terminationGracePeriod": "30",
};
const METADATA = { name: "a", uid: "u1", namespace: "default", attempt: 1 };
const ANSWERS = [
  cri.ListPodSandboxResponse.encode(
    cri.ListPodSandboxResponse.fromPartial({ items: [{ id: "s", metadata: METADATA, labels: LABELS, createdAt: 5n }] }),
  ),
  cri.ListContainersResponse.encode(
    cri.ListContainersResponse.fromPartial({
      containers: [
        { id: "c", podSandboxId: "s", metadata: { name: "c", attempt: 1 }, labels: LABELS, state: 1, createdAt: 9n },
      ],
    }),
  ),
  cri.PodSandboxStatusResponse.encode(
    cri.PodSandboxStatusResponse.fromPartial({
      status: {
        id: "s",
        metadata: METADATA,
        labels: LABELS,
        network: { ip: "10.0.0.2", additionalIps: [{ ip: "fd00::2" }] },
      },
    }),
  ),
  cri.ContainerStatusResponse.encode(
    cri.ContainerStatusResponse.fromPartial({
      status: {
        ...{
          id: "c",
          metadata: { name: "c", attempt: 1 },
          labels: LABELS,
          annotations: ANNOTATIONS,
          state: 2,
          exitCode: 1,
        },
        ...{
          createdAt: 9n,
          startedAt: 10n,
          finishedAt: 11n,
          reason: "OOMKilled",
          message: "m",
          imageRef: "sha256:0",
          logPath: "/l",
        },
      },
    }),
  ),
  cri.ImageFsInfoResponse.encode(
    cri.ImageFsInfoResponse.fromPartial({
      imageFilesystems: [{ timestamp: 1n, fsId: { mountpoint: "/" }, usedBytes: { value: 1n } }],
    }),
  ),
  cri.ContainerEventResponse.encode(cri.ContainerEventResponse.fromPartial({ containerId: "c", createdAt: 1n })),
].map((message) => Buffer.from(message.finish()));

/** A container runtime that answers anything: lists, statuses, events, over a real connection. */
export const criTarget: Target = {
  name: "cri",
  runs: 80,
  seeds: [Buffer.concat(ANSWERS.flatMap((answer, index) => (index === 0 ? [answer] : [Buffer.from(PART), answer])))],
  words: [
    ...Object.keys(LABELS),
    ...Object.keys(ANNOTATIONS),
    "\n\0",
    Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
  ],
  maxBytes: 32 * 1024,
  batch: 16,
  setUp: async () => {
    const peer = await createGrpcPeer([cri.RuntimeServiceDefinition, cri.ImageServiceDefinition]);
    const runtime = connectCri({ endpoint: `unix://${peer.socketPath}`, log: silentLog, metrics: createMetrics() });
    const host = createFakeHost();
    const signal = new AbortController().signal;
    const calls = [
      () => listRuntimePods(runtime.runtime, signal),
      () => readPodRuntimeStatus({ runtime: runtime.runtime, host }, POD, signal),
      () => runtime.images.imageFsInfo({}, { signal }),
      async () => {
        for await (const _event of runtime.runtime.getContainerEvents({}, { signal }));
      },
    ];
    return {
      async run(input) {
        for (const [index, part] of partsOf(input, METHODS.length).entries())
          peer.answers.set(METHODS[index] ?? "", part);
        for (const call of calls) {
          try {
            await call();
          } catch (error) {
            if (!(error instanceof CodedError)) throw error;
          }
        }
      },
      async close() {
        runtime.close();
        await peer.close();
      },
    };
  },
};
