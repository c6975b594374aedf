import { existsSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writePodNetwork } from "./pod-network.ts";
import { REGISTRY_HOST, writeRegistry } from "./write-registry.ts";

/** Where the suite lies on the machine. */
export const SUITE_DIRECTORY = "/opt/suite";
const POD_RANGE = "10.100.0.0/24";
/** The port of the machine's own registry, which the runtime asks for the suite's images. */
export const REGISTRY_PORT = 5100;

/** Programs of upstream's, which somebody has built elsewhere. */
interface SuitePrograms {
  /** The test binary (`go test -c`) of Kubernetes' `test/e2e_node`. */
  readonly suite: string;
  readonly etcd: string;
  /** Archives of the images that its pods use, by the names that it has for them. */
  readonly images: readonly string[];
  /** A Go kubelet that the suite tests in nodelet's place, to see whether it is the machine that a spec fails on. */
  readonly kubelet?: string | undefined;
}

/** The programs that the variables name; undefined where they name none. */
export function findSuitePrograms(variables: NodeJS.ProcessEnv): SuitePrograms | undefined {
  const suite = variables["E2E_NODE_TEST_BIN"] ?? "";
  const etcd = join(variables["KUBEBUILDER_ASSETS"] ?? "", "etcd");
  const images = (variables["E2E_NODE_IMAGES"] ?? "").split(":").filter((path) => path !== "");
  const kubelet = variables["E2E_NODE_KUBELET"];
  const paths = [suite, etcd, ...images, ...(kubelet === undefined ? [] : [kubelet])];
  return paths.every((path) => existsSync(path)) && images.length > 0 ? { suite, etcd, images, kubelet } : undefined;
}

/** The suite changes it from spec to spec, and refuses version 1 of cgroups unless it is told not to. */
const KUBELET_CONFIGURATION = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
failSwapOn: false
podCIDR: ${POD_RANGE}
fileCheckFrequency: 10s
evictionPressureTransitionPeriod: 30s
evictionHard: { memory.available: 250Mi, nodefs.available: 10%, nodefs.inodesFree: 5% }
evictionMinimumReclaim: { nodefs.available: 5%, nodefs.inodesFree: 5% }
`;

/** Specs of runtime classes ask for the handler by this name, and those of devices for CDI, which 1.7 has off by default. */
const CONTAINERD_CONFIGURATION = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  enable_cdi = true
  cdi_spec_dirs = ["/etc/cdi", "/var/run/cdi"]
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${SUITE_DIRECTORY}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes]
    runc.runtime_type = "io.containerd.runc.v2"
    test-handler.runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${SUITE_DIRECTORY}/hosts"
`;
const REGISTRY_HOSTS = `[host."http://127.0.0.1:${REGISTRY_PORT}"]\n  capabilities = ["pull", "resolve"]\n`;

const KUBELET = '#!/bin/sh\nexec nodelet kubelet "$@"\n';
/** Whoever runs the suite is root already. */
const SUDO = '#!/bin/sh\nwhile case $1 in -*) ;; *) false ;; esac; do shift; done\nexec "$@"\n';
/** What the machine is made of is not what is looked at. */
const MACHINE_RULES = "os: Linux\nkernelSpec:\n  versions: ['.*']\n";

/** Puts the suite into a machine's files, with nodelet in the place of the kubelet that it starts. */
export async function addUpstreamSuite(tree: string, programs: SuitePrograms): Promise<void> {
  const { suite, etcd, images, kubelet } = programs;
  const directory = join(tree, SUITE_DIRECTORY);
  await mkdir(join(directory, "images"), { recursive: true });
  await copyFile(suite, join(directory, "e2e_node.test"));
  await copyFile(etcd, join(tree, "usr/local/bin/etcd"));
  for (const [index, image] of images.entries()) await copyFile(image, join(directory, "images", `${index}.tar`));
  if (kubelet === undefined) await writeFile(join(directory, "kubelet"), KUBELET, { mode: 0o755 });
  else await copyFile(kubelet, join(directory, "kubelet"));
  await writeFile(join(tree, "usr/local/bin/sudo"), SUDO, { mode: 0o755 });
  await writeFile(join(directory, "kubelet.yaml"), KUBELET_CONFIGURATION);
  await writeFile(join(directory, "containerd.toml"), CONTAINERD_CONFIGURATION);
  await mkdir(join(directory, "hosts", REGISTRY_HOST), { recursive: true });
  await writeFile(join(directory, "hosts", REGISTRY_HOST, "hosts.toml"), REGISTRY_HOSTS);
  await writeRegistry(join(directory, "registry"), images);
  await writePodNetwork(join(directory, "cni/10-suite.conflist"), "suite0", POD_RANGE);
  await writeFile(join(directory, "machine.yaml"), MACHINE_RULES);
}
