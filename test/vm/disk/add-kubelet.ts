import { existsSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Units as the packages of Kubernetes bring them. */
const UNIT = `[Unit]
Description=kubelet: The Kubernetes Node Agent
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
`;
const DROP_IN = `[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`;

/** What the package uidmap brings: a Go kubelet asks it for the IDs of its user, and does not start without it where there is one. */
const GETSUBIDS = `#!/bin/sh
file=/etc/subuid
[ "$1" = -g ] && file=/etc/subgid && shift
awk -F: -v user="$1" '$1 == user { print "0: " $1 " " $2 " " $3 }' $file
`;

/** A Go kubelet that somebody has made elsewhere; undefined where there is none. */
export function findKubelet(variables: NodeJS.ProcessEnv): string | undefined {
  const path = variables["KUBELET_BIN"] ?? "";
  return path !== "" && existsSync(path) ? path : undefined;
}

/** Puts into a machine's files what the packages of a Go kubelet and of kubeadm would: the program, its service and the drop-in. */
export async function addKubelet(tree: string, program: string): Promise<void> {
  const units = join(tree, "usr/lib/systemd/system");
  await mkdir(join(units, "kubelet.service.d"), { recursive: true });
  await copyFile(program, join(tree, "usr/bin/kubelet"));
  await writeFile(join(tree, "usr/bin/getsubids"), GETSUBIDS, { mode: 0o755 });
  await writeFile(join(units, "kubelet.service"), UNIT);
  await writeFile(join(units, "kubelet.service.d/10-kubeadm.conf"), DROP_IN);
}

/** The settings of a containerd of Debian's packages, whose pods systemd gives their slices. */
export function composeContainerdConfig(pauseImage: string): string {
  return `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "${pauseImage}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = true
`;
}
