import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../api/gen/types.ts";
import { MountPropagation, Signal } from "../../../cri/gen/cri-v1.ts";
import { TEST_NODE } from "./__fixtures__/node.ts";
import { buildContainerConfig, type ContainerConfigInput } from "./container-config.ts";

function build(more: Partial<Container> = {}, overrides: Partial<ContainerConfigInput> = {}) {
  const container: Container = { name: "main", image: "example/app:1", ...more };
  const pod: Pod = { metadata: { name: "web", namespace: "ns", uid: "u1" }, spec: { containers: [container] } };
  return buildContainerConfig({
    pod,
    container,
    restartCount: 0,
    imageRef: "sha256:1",
    imageUser: {},
    node: TEST_NODE,
    environment: [],
    mounts: [],
    ...overrides,
  });
}

describe("buildContainerConfig", () => {
  it("names the instance by its restarts, and the image by id and as asked", () => {
    expect(build({}, { restartCount: 4 })).toMatchObject({
      ok: true,
      config: {
        metadata: { name: "main", attempt: 4 },
        image: { image: "sha256:1", userSpecifiedImage: "example/app:1" },
        logPath: "main/4.log",
        annotations: { "io.kubernetes.container.restartCount": "4" },
      },
    });
  });

  it("expands command and arguments by the environment", () => {
    const environment = [{ name: "A", value: "ä" }];
    expect(build({ command: ["$(A)"], args: ["$$(A)", "$(B)"] }, { environment })).toMatchObject({
      config: { command: ["ä"], args: ["$(A)", "$(B)"], envs: [{ key: "A", value: Buffer.from("ä") }] },
    });
  });

  it("refuses a command that is more than a program can be given, however few words it has", () => {
    const environment = [{ name: "A", value: "x".repeat(100_000) }];
    const error = "command and arguments have more bytes than a program can be given";
    expect(build({ command: ["$(A)$(A)"] }, { environment })).toEqual({ ok: false, error });
    expect(build({ args: Array.from({ length: 60 }, () => "$(A)") }, { environment })).toMatchObject({ ok: true });
    expect(build({ args: Array.from({ length: 9_000 }, () => "$(A)") }, { environment })).toEqual({ ok: false, error });
  });

  it("hands on mounts and devices, mapped into the pod's user namespace", () => {
    const range = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
    const device = { containerPath: "/dev/x", hostPath: "/dev/x", permissions: "rw" };
    const built = build(
      {},
      {
        mounts: [{ containerPath: "/a", hostPath: "/b", propagation: MountPropagation.PROPAGATION_HOST_TO_CONTAINER }],
        devices: [device],
        cdiDevices: ["vendor.example/gpu=0"],
        userNamespace: { uids: range, gids: range },
      },
    );
    const mount = {
      containerPath: "/a",
      hostPath: "/b",
      readonly: false,
      propagation: 1,
      uidMappings: range,
      gidMappings: range,
    };
    expect(built).toMatchObject({
      config: { mounts: [mount], devices: [device], CDIDevices: [{ name: "vendor.example/gpu=0" }] },
    });
  });

  it.each<{ signal: string; expected: Signal }>([
    { signal: "SIGUSR1", expected: Signal.SIGNAL_SIGUSR1 },
    { signal: "SIGRTMIN+1", expected: Signal.SIGNAL_SIGRTMINPLUS1 },
    { signal: "SIGRTMAX-14", expected: Signal.SIGNAL_SIGRTMAXMINUS14 },
  ])("asks for stop signal $signal", ({ signal, expected }) => {
    expect(build({ lifecycle: { stopSignal: signal } })).toMatchObject({ config: { stopSignal: expected } });
  });

  it.each<{ why: string; container: Partial<Container>; error: RegExp }>([
    { why: "an unknown stop signal", container: { lifecycle: { stopSignal: "SIGODD" } }, error: /SIGODD/ },
    {
      why: "root where it is forbidden",
      container: { securityContext: { runAsNonRoot: true } },
      error: /will run as root/,
    },
    {
      why: "a seccomp profile without a name",
      container: { securityContext: { seccompProfile: { type: "Localhost" } } },
      error: /localhostProfile/,
    },
  ])("refuses $why", ({ container, error }) => {
    expect(build(container)).toEqual({ ok: false, error: expect.stringMatching(error) });
  });

  it("refuses a limit of memory, and nothing else, where the kernel cannot keep it", () => {
    const node = { ...TEST_NODE, hasMemoryController: false };
    const error = expect.stringContaining("cgroup_enable=memory");
    expect(build({ resources: { limits: { memory: "64Mi" } } }, { node })).toEqual({ ok: false, error });
    const requests = { cpu: "100m", memory: "64Mi" };
    expect(build({ resources: { requests, limits: { cpu: "100m" } } }, { node })).toMatchObject({ ok: true });
  });
});
