import { describe, expect, it } from "vitest";
import { composeConfiguration } from "./compose-configuration.ts";
import { createNodeAgentConfig } from "./node-agent-config.ts";
import { parseFlags } from "./parse-flags.ts";

function create(...argv: string[]) {
  const parsed = parseFlags(argv);
  if (!parsed.ok) throw new Error(parsed.error);
  const { configuration, featureGates } = composeConfiguration({ dropIns: [], flags: parsed.values });
  const machine = { hostname: "Node-1.example", workingDirectory: "/work" };
  return createNodeAgentConfig({ configuration, featureGates, flags: parsed.values, ...machine });
}

describe("createNodeAgentConfig", () => {
  it("has kubelet's defaults", () => {
    const { config, errors } = create();
    expect(errors).toEqual([]);
    expect(config).toMatchObject({
      nodeName: "node-1.example",
      nodeIps: [],
      rootDirectory: "/var/lib/kubelet",
      podLogsDirectory: "/var/log/pods",
      containerLogsDirectory: "/var/log/containers",
      staticPodPath: undefined,
      manifestUrl: undefined,
      manifestUrlHeaders: [],
      runtimeEndpoint: "unix:///run/containerd/containerd.sock",
      imageEndpoint: "unix:///run/containerd/containerd.sock",
      nodeSocketPath: undefined,
      refusesForeignManifests: false,
      ignoresOtherKinds: false,
      cluster: undefined,
      log: { format: "text", verbosity: 0, vmodule: [] },
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it.each<[string[], object]>([
    [["--hostname-override= Other "], { nodeName: "other" }],
    [["--node-ip=10.0.0.1,fd00::1"], { nodeIps: ["10.0.0.1", "fd00::1"] }],
    [["--root-dir=state", "--pod-manifest-path=pods"], { rootDirectory: "/work/state", staticPodPath: "/work/pods" }],
    [
      ["--container-runtime-endpoint=/run/a.sock"],
      { runtimeEndpoint: "unix:///run/a.sock", imageEndpoint: "unix:///run/a.sock" },
    ],
    [["--image-service-endpoint=unix:/run/b.sock"], { imageEndpoint: "unix:///run/b.sock" }],
    [
      ["--manifest-url=http://x/y", "--manifest-url-header=A:1,B:2", "--manifest-url-header=A:3"],
      {
        manifestUrl: "http://x/y",
        manifestUrlHeaders: [
          ["A", "1"],
          ["A", "3"],
          ["B", "2"],
        ],
      },
    ],
    [
      ["-v=4", "--logging-format=json", "--vmodule=pleg=6"],
      { log: { format: "json", verbosity: 4, vmodule: [{ filePattern: "pleg", verbosity: 6 }] } },
    ],
    [["--nodelet-refuse-foreign-manifests"], { refusesForeignManifests: true }],
    [["--nodelet-ignore-other-kinds"], { ignoresOtherKinds: true }],
    [["--nodelet-keep-kernel-tunables"], { keepsKernelTunables: true }],
    [["--nodelet-kept-images=k"], { keptImagesDirectory: "/work/k" }],
    [["--nodelet-own-cgroup-root"], { ownsCgroupRoot: true }],
    [["--runtime-cgroups=/system.slice/containerd.service"], { runtimeCgroup: "/system.slice/containerd.service" }],
    [["--experimental-allocatable-ignore-eviction"], { ignoresEvictionThresholds: true }],
    [["--nodelet-server-clients=10.64.0.0/16,fd00::/64"], { serverClients: ["10.64.0.0/16", "fd00::/64"] }],
    [["--nodelet-fallback-node-ip=10.64.0.1"], { fallbackNodeIp: "10.64.0.1" }],
    [["--nodelet-socket=/run/n.sock"], { nodeSocketPath: "/run/n.sock" }],
    [
      ["--kubeconfig=k", "--bootstrap-kubeconfig=/b", "--node-labels=a=1,b=2", "--cloud-provider=external"],
      {
        cluster: {
          kubeconfigPath: "/work/k",
          bootstrapKubeconfigPath: "/b",
          nodeLabels: { a: "1", b: "2" },
          registerSchedulable: true,
          cloudProvider: "external",
        },
      },
    ],
  ])("takes %j", (argv, expected) => {
    const { config, errors } = create(...argv);
    expect(errors).toEqual([]);
    expect(config).toMatchObject(expected);
  });

  it.each([
    [["--bootstrap-kubeconfig=/k"], "--bootstrap-kubeconfig", /needs --kubeconfig/],
    [["--cloud-provider=aws"], "--cloud-provider", /unknown cloud provider "aws"/],
    [["--hostname-override=a_b"], "--hostname-override", /node name "a_b" must be a DNS subdomain/],
    [["--node-ip=1.2.3"], "--node-ip", /bad --node-ip "1.2.3"/],
    [["--node-ip=1.1.1.1,2.2.2.2"], "--node-ip", /one IPv4 and one IPv6/],
    [["--manifest-url=file:///x"], "staticPodURL", /must be an http:\/\/ or https:\/\/ URL/],
    [["--manifest-url-header=a b:1"], "staticPodURLHeader[a b]", /no valid HTTP header/],
    [["--exit-on-lock-contention"], "--exit-on-lock-contention", /no lock file specified/],
    [["--container-runtime=docker"], "--container-runtime", /unknown container runtime "docker"/],
    [
      ["--node-labels=kubernetes.io/foo=1"],
      "--node-labels",
      /unknown 'kubernetes.io' or 'k8s.io' labels .*\[kubernetes.io\/foo\]/,
    ],
  ])("refuses %j", (argv, path, message) => {
    expect(create(...argv).errors).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  it("accepts labels of one's own and the well-known ones", () => {
    const labels = "a=1,node.kubernetes.io/x=1,topology.kubernetes.io/zone=z,mykubernetes.io/x=1";
    expect(create(`--node-labels=${labels}`).errors).toEqual([]);
  });
});
