import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../api/gen/types.ts";
import { buildContainerAnnotations, buildContainerLabels, buildPodLabels } from "./labels.ts";

const pod: Pod = {
  metadata: {
    name: "web",
    namespace: "ns",
    uid: "u1",
    labels: { app: "x", "io.kubernetes.pod.name": "forged" },
    deletionGracePeriodSeconds: 0,
  },
  spec: { containers: [], terminationGracePeriodSeconds: 5 },
};

const OURS = { "io.kubernetes.pod.name": "web", "io.kubernetes.pod.namespace": "ns", "io.kubernetes.pod.uid": "u1" };

it("labels a sandbox with the pod's labels, which cannot say whose it is", () => {
  expect(buildPodLabels(pod)).toEqual({ app: "x", ...OURS });
});

it("labels a container only with whose it is", () => {
  expect(buildContainerLabels(pod, { name: "main" })).toEqual({ ...OURS, "io.kubernetes.container.name": "main" });
});

describe("buildContainerAnnotations", () => {
  const base: Container = {
    name: "main",
    image: "i",
    terminationMessagePath: "/dev/t",
    terminationMessagePolicy: "File",
  };

  it("records what a restart needs to know", () => {
    expect(buildContainerAnnotations(pod, base, 3)).toEqual({
      "io.kubernetes.container.hash": expect.stringMatching(/^[0-9a-f]{1,8}$/),
      "io.kubernetes.container.restartCount": "3",
      "io.kubernetes.container.terminationMessagePath": "/dev/t",
      "io.kubernetes.container.terminationMessagePolicy": "File",
      "io.kubernetes.pod.deletionGracePeriod": "0",
      "io.kubernetes.pod.terminationGracePeriod": "5",
    });
  });

  it("records preStop and ports as Go writes them", () => {
    const container: Container = {
      ...base,
      lifecycle: { preStop: { httpGet: { scheme: "HTTP", port: 80, path: "/bye" } } },
      ports: [
        { protocol: "TCP", containerPort: 80, hostPort: 8080, name: "http" },
        { containerPort: 53, protocol: "UDP" },
      ],
    };
    expect(buildContainerAnnotations(pod, container, 0)).toMatchObject({
      "io.kubernetes.container.preStopHandler": '{"httpGet":{"path":"/bye","port":80,"scheme":"HTTP"}}',
      "io.kubernetes.container.ports":
        '[{"name":"http","hostPort":8080,"containerPort":80,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP"}]',
    });
  });
});
