import { describe, expect, it } from "vitest";
import { podUid } from "../../../api/pods.ts";
import { createRuntimeRig, makePod } from "./__fixtures__/runtime-rig.ts";

const range = (hostId: number) => [{ hostId, containerId: 0, length: 65_536 }];
const mappingOf = async (uid: string) => {
  expect(uid).toBe(podUid(makePod()));
  return { uids: range(65_536), gids: range(65_536) };
};

it.each([
  [{}, { started_user_namespaced_pods_total: "0", started_user_namespaced_pods_errors_total: "0" }],
  [{ hostUsers: false }, { started_user_namespaced_pods_total: "1", started_user_namespaced_pods_errors_total: "1" }],
])("counts a pod with %o that cannot start", async (spec, expected) => {
  const rig = createRuntimeRig({
    runtimeHandlerOf: async () => {
      throw new Error("no such class");
    },
  });
  await expect(rig.sync(makePod({ spec: { ...spec, runtimeClassName: "sandboxed" } }))).rejects.toThrow(
    "no such class",
  );
  expect(await rig.counted()).toMatchObject({
    started_pods_total: "1",
    started_pods_errors_total: "1",
    'run_podsandbox_errors_total{runtime_handler=""}': "1",
    ...expected,
  });
});

describe("a runtime class", () => {
  it("is looked up for each sandbox anew, and its handler makes it", async () => {
    const handlers = ["gvisor", "kata"];
    const rig = createRuntimeRig({ runtimeHandlerOf: async () => handlers.shift() ?? "" });
    const pod = makePod({ spec: { runtimeClassName: "sandboxed" } });
    await rig.sync(pod);
    expect(rig.cri.sandboxes().map(({ runtimeHandler }) => runtimeHandler)).toEqual(["gvisor"]);
    // A sandbox that stands keeps its handler, whatever became of the class.
    await rig.sync(pod);
    expect(handlers).toEqual(["kata"]);
    rig.cri.killSandbox(rig.cri.sandboxes()[0]?.id ?? "");
    await rig.sync(pod);
    expect(rig.cri.sandboxes().map(({ runtimeHandler }) => runtimeHandler)).toContain("kata");
  });

  it.each<{ why: string; options: Parameters<typeof createRuntimeRig>[0]; error: string }>([
    {
      why: "that does not exist",
      options: {
        runtimeHandlerOf: async () => {
          throw new Error('runtimeclass.node.k8s.io "sandboxed" not found');
        },
      },
      error: 'Failed to create pod sandbox: runtimeclass.node.k8s.io "sandboxed" not found',
    },
    {
      why: "on a node that cannot look it up",
      options: {},
      error: "Failed to create pod sandbox: failed to lookup RuntimeClass sandboxed: the node has no API server",
    },
  ])("$why leaves the pod without a sandbox", async ({ options, error }) => {
    const rig = createRuntimeRig(options);
    await expect(rig.sync(makePod({ spec: { runtimeClassName: "sandboxed" } }))).rejects.toThrow(error);
    expect(rig.events()).toEqual([`FailedCreatePodSandBox: ${error}`]);
    expect(rig.cri.sandboxes()).toEqual([]);
  });
});

describe("users of its own", () => {
  const spec = { hostUsers: false };

  it("are the same for the sandbox and its containers, also for those that come later", async () => {
    const asked: string[] = [];
    const rig = createRuntimeRig({
      userNamespaces: { mappingOf },
      supportsUserNamespaces: (handler) => asked.push(handler) > 0,
      runtimeHandlerOf: async () => "runc",
    });
    await rig.sync(makePod({ spec }));
    const debug = { name: "debug", image: "busybox", command: ["sleep", "9999"], targetContainerName: "main" };
    await rig.sync(makePod({ spec: { ...spec, ephemeralContainers: [debug] } }));
    const userns = { mode: 0, uids: range(65_536), gids: range(65_536) };
    const [sandbox] = rig.cri.sandboxes();
    expect(sandbox?.config.linux?.securityContext?.namespaceOptions?.usernsOptions).toEqual(userns);
    const containers = rig.cri.containers();
    expect(containers).toHaveLength(2);
    for (const { config } of containers) {
      expect(config.linux?.securityContext?.namespaceOptions?.usernsOptions).toEqual(userns);
      for (const { uidMappings } of config.mounts) expect(uidMappings).toEqual(userns.uids);
    }
    expect(asked).toEqual(["runc"]);
  });

  it.each<{ why: string; options: Parameters<typeof createRuntimeRig>[0]; error: string }>([
    {
      why: "by a runtime that does not know of them",
      options: { userNamespaces: { mappingOf }, supportsUserNamespaces: () => false },
      error: "can't set `spec.hostUsers: false`, runtime does not support user namespaces",
    },
    {
      why: "by a handler that does not know of them",
      options: {
        userNamespaces: { mappingOf },
        supportsUserNamespaces: () => false,
        runtimeHandlerOf: async () => "kata",
      },
      error: 'can\'t set `spec.hostUsers: false`, RuntimeClass handler "kata" does not support user namespaces',
    },
    {
      why: "on a node that has none to give",
      options: { supportsUserNamespaces: () => true },
      error: "can't set `spec.hostUsers: false`, this node has no user namespaces to give",
    },
  ])("$why are refused, and the pod does not run with the host's", async ({ options, error }) => {
    const rig = createRuntimeRig(options);
    await expect(rig.sync(makePod({ spec }))).rejects.toThrow(error);
    expect(rig.cri.sandboxes()).toEqual([]);
  });
});

describe("only the groups that the pod names", () => {
  const podOf = (supplementalGroupsPolicy: string) =>
    makePod({ spec: { securityContext: { supplementalGroupsPolicy } } });

  it.each<[policy: string, options: Parameters<typeof createRuntimeRig>[0]]>([
    ["Strict", { supportsSupplementalGroupsPolicy: () => true }],
    ["Merge", { supportsSupplementalGroupsPolicy: () => false }],
  ])("%s: are its processes', as far as it asks for that (%o)", async (policy, options) => {
    const rig = createRuntimeRig(options);
    await rig.sync(podOf(policy));
    expect(rig.cri.sandboxes()).toHaveLength(1);
  });

  it.each<[who: string, options: Parameters<typeof createRuntimeRig>[0]]>([
    ["a runtime that says no", { supportsSupplementalGroupsPolicy: () => false }],
    ["a runtime that says nothing", {}],
  ])("are not to be had from %s, which would add the image's", async (_who, options) => {
    const rig = createRuntimeRig(options);
    const error = "SupplementalGroupsPolicy=Strict is not supported in this node";
    await expect(rig.sync(podOf("Strict"))).rejects.toThrow(`Failed to create pod sandbox: ${error}`);
    expect(rig.cri.sandboxes()).toEqual([]);
  });
});

it("a pod on the host's network needs no hostname that the kernel could hold", async () => {
  const spec = { hostNetwork: true, hostname: "x".repeat(60), subdomain: "sub", setHostnameAsFQDN: true };
  const rig = createRuntimeRig();
  rig.host.files.put("/etc/hosts", "");
  await rig.sync(makePod({ spec }));
  expect(rig.cri.sandboxes()[0]?.config.hostname).toBe("");
  const { setHostnameAsFQDN, hostname, subdomain } = spec;
  const own = makePod({ spec: { setHostnameAsFQDN, hostname, subdomain } });
  await expect(createRuntimeRig().sync(own)).rejects.toThrow(/is too long \(64 characters is the max/);
});
