import { PAUSE_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { composeContainerdConfig } from "../disk/add-kubelet.ts";
import { composePodNetwork } from "../disk/pod-network.ts";
import type { Stage } from "./scenario.ts";

const CONFIG = "/etc/containerd/config.toml";
const NETWORK = "/etc/cni/net.d/10-pods.conflist";
const BRIDGE = "pods0";
const POD_RANGE = "10.100.0.0/24";

/** A script that writes the text to a file, and makes the directories above it. */
export const write = (path: string, text: string) =>
  `mkdir -p $(dirname ${path}); cat > ${path} <<'EOF'\n${text}\nEOF\n`;

/** A script that starts the machine's own containerd, with a network for pods and the images of the directory. */
export function composeRuntimeStart(images: string): string {
  return `${write(CONFIG, composeContainerdConfig(PAUSE_IMAGE))}
    ${write(NETWORK, composePodNetwork(BRIDGE, POD_RANGE))}
    systemctl enable --now containerd
    for image in ${images}/*.tar; do ctr -n k8s.io images import $image; done`;
}

/** Ends that containerd, its pods and their network, without a kubelet that would do so in order. */
export async function removeRuntime({ machine }: Stage): Promise<void> {
  await machine.run(`ctr -n k8s.io tasks list -q | xargs --no-run-if-empty -n 1 ctr -n k8s.io tasks kill -s KILL
    systemctl disable --now containerd; ip link delete ${BRIDGE}
    ip netns list | grep -o '^cni-[^ ]*' | xargs --no-run-if-empty -n 1 ip netns delete
    rm -rf ${CONFIG} ${NETWORK} /var/lib/kubelet/*`);
}
