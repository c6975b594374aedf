import { createPod, untilReady } from "./pods.ts";
import { expectSame, type Scenario } from "./scenario.ts";

/** What a node puts on a machine beside its state: each line is one thing that is still there. */
const LEFT_BEHIND = `
systemctl list-units --all --no-legend --plain 'nodelet*.service' 'nodelet*.scope' 'cri-containerd*' | awk '{ print "unit", $1 }'
find /sys/fs/cgroup -maxdepth 2 -type d -name 'nodelet-*' | sed 's/^/cgroup /'
grep -E 'nodelet|/var/lib/kubelet|netns/cni' /proc/mounts | awk '{ print "mount", $2 }'
ip -o link | awk -F': ' '$2 ~ /nodelet|veth/ { print "link", $2 }'
find /run/netns -name 'cni-*' 2> /dev/null | sed 's/^/namespace /'
iptables-save 2> /dev/null | grep -i nodelet | sed 's/^/rule /'
nft list tables | grep -i nodelet
pgrep -a containerd | sed 's/^/process /'
true
`;

/** The last of all: the service is gone after it. */
export const removal: Scenario = {
  name: "removal",
  promise: "nodelet uninstall and nodelet down --pods leave no unit, process, mount, cgroup, network or rule behind",
  run: async (at) => {
    const { machine } = at;
    await createPod(at, "lasting");
    await untilReady(at, "lasting");
    at.note(await machine.read("nodelet uninstall"));
    expectSame(await machine.read("systemctl is-active nodelet || true"), "inactive", "the service");
    expectSame(await machine.read("ls /etc/systemd/system | grep nodelet || true"), "", "its unit");
    at.note(await machine.read("nodelet down --pods"));
    expectSame(await machine.read(LEFT_BEHIND), "", "what is left on the machine");
  },
};
