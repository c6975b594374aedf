import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { computeKubeletConfig } from "./kubelet-config.ts";
import { readManifestPods } from "./manifest-pods.ts";
import { chooseNodeName } from "./node-name.ts";
import { choosePodPlaces, readPodPlaces } from "./pod-places.ts";
import { readRuntimeOptions, writeRuntimeOptions } from "./runtime-options.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-state-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

const OPTIONS = {
  ...{ endpoint: "unix:///s", manifests: '/m: "x"', podLogs: "/l", healthzPort: 0, resolvConf: "/r" },
  ...{ server: undefined, cgroup: undefined },
};

describe("the node agent's configuration", () => {
  it("names the runtime, the manifests and the health server, and accepts swap", () => {
    expect(
      computeKubeletConfig({
        ...OPTIONS,
        cgroup: { cgroupRoot: "/nodelet-1", cgroupDriver: "systemd" },
      }),
    ).toMatchInlineSnapshot(`
      "# Written by "nodelet up" at every start; changes are lost.
      apiVersion: "kubelet.config.k8s.io/v1beta1"
      kind: "KubeletConfiguration"
      containerRuntimeEndpoint: "unix:///s"
      staticPodPath: "/m: \\"x\\""
      podLogsDir: "/l"
      healthzBindAddress: "127.0.0.1"
      healthzPort: 0
      enableServer: false
      cgroupRoot: "/nodelet-1"
      cgroupDriver: "systemd"
      resolvConf: "/r"
      failSwapOn: false
      failCgroupV1: false
      makeIPTablesUtilChains: false
      imageGCHighThresholdPercent: 100
      evictionHard: {"memory.available":"100Mi","nodefs.available":"256Mi","nodefs.inodesFree":"1%","imagefs.available":"256Mi","imagefs.inodesFree":"1%"}
      "
    `);
  });

  it("serves the node's API to whom the cluster knows", () => {
    const server = { address: "127.0.0.1", port: 10_250, clientAuthority: "/ca.crt" };
    const text = computeKubeletConfig({ ...OPTIONS, server });
    expect(text).toContain('address: "127.0.0.1"\nport: 10250\n');
    expect(text).toContain('authentication: {"x509":{"clientCAFile":"/ca.crt"}}\n');
    expect(text).not.toMatch(/enableServer|anonymous|AlwaysAllow/);
  });

  it("gives pods no cgroups where none can be made", () => {
    const text = computeKubeletConfig(OPTIONS);
    expect(text).toContain("cgroupsPerQOS: false\nenforceNodeAllocatable: []\n");
    expect(text).not.toContain("cgroupRoot");
  });
});

describe("runtime options", () => {
  it("come back as they were written, without those that were not given", async () => {
    await writeRuntimeOptions(directory, { bridge: "b0", manifests: "/m" });
    expect(await readRuntimeOptions(directory)).toEqual({ bridge: "b0", manifests: "/m" });
  });

  it("are empty where none were written", async () => {
    expect(await readRuntimeOptions(directory)).toEqual({});
  });
});

describe("the places of pods", () => {
  const machine = () => ({
    stateDirectory: join(directory, "state"),
    kubeletRoot: join(directory, "var-lib-kubelet"),
    podLogs: join(directory, "var-log-pods"),
  });
  const own = () => ({
    kubeletRoot: join(directory, "state/kubelet"),
    podLogs: join(directory, "state/pod-logs"),
  });
  const ofMachine = () => ({ kubeletRoot: machine().kubeletRoot, podLogs: machine().podLogs });
  const choose = async () => await choosePodPlaces(machine().stateDirectory, (line) => told.push(line), machine());
  let told: string[] = [];
  beforeEach(async () => {
    told = [];
    await mkdir(machine().stateDirectory);
  });

  it("are the machine's for the node of the default state directory", async () => {
    expect(await choose()).toEqual(ofMachine());
    await mkdir(machine().kubeletRoot);
    expect(await choose()).toEqual(ofMachine());
    expect(told).toEqual([]);
  });

  it("lie beneath any other state directory", async () => {
    const elsewhere = join(directory, "other");
    expect((await choosePodPlaces(elsewhere, (line) => told.push(line), machine())).kubeletRoot).toBe(
      join(elsewhere, "kubelet"),
    );
  });

  it("leave another kubelet's directory alone, and say so", async () => {
    await mkdir(join(machine().kubeletRoot, "pods"), { recursive: true });
    expect(await choose()).toEqual(own());
    expect(told).toEqual([expect.stringContaining(`${machine().kubeletRoot} is in use`)]);
  });

  it("stay where pods of an earlier version are", async () => {
    await mkdir(join(own().kubeletRoot, "pods"), { recursive: true });
    expect(await choose()).toEqual(own());
  });

  it("stay those of the first start, whatever comes to lie there", async () => {
    await writeRuntimeOptions(machine().stateDirectory, await choose());
    await mkdir(join(machine().kubeletRoot, "pods"), { recursive: true });
    expect(await choose()).toEqual(ofMachine());
    expect(await readPodPlaces(machine().stateDirectory)).toEqual(ofMachine());
  });

  it("are beneath the state directory where no start was recorded", async () => {
    expect(await readPodPlaces(machine().stateDirectory)).toEqual(own());
  });
});

describe("readManifestPods", () => {
  const pod = (name: string, namespace = "") =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}${namespace && `, namespace: ${namespace}`}}\nspec: {containers: [{name: c}]}\n`;

  it("lists the pods of all files and what is no pod", async () => {
    await writeFile(join(directory, "a.yaml"), `${pod("one")}---\n${pod("two", "kube-system")}`);
    await writeFile(join(directory, "b.yaml"), "kind: Service\napiVersion: v1\n");
    await writeFile(join(directory, ".hidden.yaml"), pod("hidden"));
    await mkdir(join(directory, "subdirectory"));
    const { pods, problems } = await readManifestPods(directory);
    expect(pods).toEqual([
      { file: "a.yaml", namespace: "default", name: "one" },
      { file: "a.yaml", namespace: "kube-system", name: "two" },
    ]);
    expect(problems).toMatchObject([expect.stringMatching(/^b\.yaml, document 1: /)]);
  });

  it("says when the directory does not exist", async () => {
    const missing = join(directory, "none");
    expect(await readManifestPods(missing)).toEqual({ pods: [], problems: [`${missing} does not exist`] });
  });
});

describe("the node's name", () => {
  const choose = async (machine: string, ...kubeletArguments: string[]) => {
    const said: string[] = [];
    const tell = (line: string) => said.push(line);
    return { name: await chooseNodeName(directory, { kubeletArguments, machine, tell }), said };
  };

  it("is the machine's, until somebody gives it another", async () => {
    expect(await choose("Edge-7\n")).toEqual({ name: "edge-7", said: [] });
    expect(await choose("edge-7", "--hostname-override=Other")).toEqual({ name: "other", said: [] });
    expect(await choose("edge-7", "--no-such-flag")).toEqual({ name: "edge-7", said: [] });
  });

  it.each([
    ["My_Laptop", "my-laptop"],
    ["-edge..7_", "edge.7"],
    ["édge", "dge"],
    ["__", "node"],
  ])("is the nearest that a node may have: of %s it is %s", async (machine, name) => {
    const { said, ...chosen } = await choose(machine);
    expect(chosen).toEqual({ name });
    expect(said).toEqual([expect.stringMatching(`which is no name for a node: its node is ${name}`)]);
    await writeRuntimeOptions(directory, { podCidr: "10.1.0.0/16", bridge: "b", nodeName: name });
    expect(await choose(machine)).toEqual({ name, said: [] });
  });

  it("is refused where a flag names one that no node may have", async () => {
    const refused = choose("edge-7", "--hostname-override=my_laptop");
    await expect(refused).rejects.toThrow(/^--hostname-override=my_laptop: a lowercase RFC 1123 subdomain must/);
  });

  it("stays when the machine gets another, and the start says so", async () => {
    await writeRuntimeOptions(directory, { podCidr: "10.1.0.0/16", bridge: "b", nodeName: "edge-7" });
    expect(await choose("edge-7")).toEqual({ name: "edge-7", said: [] });
    const { name, said } = await choose("dhcp-23");
    expect(name).toBe("edge-7");
    expect(said).toEqual([expect.stringMatching(/called dhcp-23 now, .* stays edge-7/)]);
    expect(await choose("dhcp-23", "--hostname-override=dhcp-23")).toEqual({ name: "dhcp-23", said: [] });
  });
});
