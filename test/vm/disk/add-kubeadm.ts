import { existsSync } from "node:fs";
import { copyFile, cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { addKubelet, composeContainerdConfig } from "./add-kubelet.ts";
import { writePodNetwork } from "./pod-network.ts";

/** Where the images lie on the machine. */
export const KUBEADM_DIRECTORY = "/opt/kubeadm";
/** The address of the first machine, whose control plane the others join. */
const FIRST_ADDRESS = "10.90.0.2";
const PROGRAMS = ["kubeadm", "kubectl"] as const;

/** The directory of upstream's programs and of `images/*.tar`, which somebody has made elsewhere; undefined where there is none. */
export function findKubeadm(variables: NodeJS.ProcessEnv): string | undefined {
  const directory = variables["KUBEADM_ASSETS"] ?? "";
  const isThere =
    directory !== "" && [...PROGRAMS, "kubelet", "images"].every((name) => existsSync(join(directory, name)));
  return isThere ? directory : undefined;
}

/** The versions are those of the programs and images. The proxy may not set what belongs to the kernel of another machine. */
const CLUSTER = `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: { advertiseAddress: ${FIRST_ADDRESS} }
nodeRegistration: { criSocket: "unix:///run/containerd/containerd.sock", taints: [] }
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: VERSION
networking: { podSubnet: 10.100.0.0/16 }
etcd: { local: { imageTag: ETCD } }
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
failSwapOn: false
serverTLSBootstrap: true
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
conntrack: { maxPerCore: 0 }
`;

/** A machine of the cluster: its host name, its address, and the addresses of its pods. */
export interface KubeadmNode {
  readonly name: string;
  readonly address: string;
  readonly podRange: string;
}

export const FIRST: KubeadmNode = { name: "machine", address: FIRST_ADDRESS, podRange: "10.100.0.0/24" };
export const SECOND: KubeadmNode = { name: "second", address: "10.90.0.3", podRange: "10.100.1.0/24" };

/** Puts into a machine's files what the packages of Kubernetes would, and the images, which nobody can pull there. */
export async function addKubeadm(tree: string, assets: string, node: KubeadmNode): Promise<void> {
  const directory = join(tree, KUBEADM_DIRECTORY);
  await cp(join(assets, "images"), join(directory, "images"), { recursive: true });
  for (const name of PROGRAMS) await copyFile(join(assets, name), join(tree, "usr/bin", name));
  await addKubelet(tree, join(assets, "kubelet"));
  await writeFile(join(directory, "containerd.toml"), composeContainerdConfig("registry.k8s.io/pause:3.10.2"));
  await writeFile(join(directory, "cluster.yaml"), CLUSTER);
  await writePodNetwork(join(directory, "10-pods.conflist"), "pods0", node.podRange);
  await writeFile(join(tree, "etc/hostname"), `${node.name}\n`);
  await writeFile(
    join(tree, "etc/hosts"),
    `127.0.0.1 localhost\n${FIRST.address} ${FIRST.name}\n${SECOND.address} ${SECOND.name}\n`,
  );
}
