/**
 * The Debian releases that the machine can be made of. trixie: systemd 257, kernel 6.12, containerd 1.7; bookworm: systemd
 * 252, kernel 6.1, containerd 1.6. Where a release's Node.js is older than nodelet needs, the one that runs this is taken.
 */
export const RELEASES = {
  trixie: { hasNode: true, hasNewer: true },
  bookworm: { hasNode: false, hasNewer: false },
} as const;
export type Release = keyof typeof RELEASES;

/**
 * A runtime of the release after trixie, which a scenario installs in place of the release's own: its packages lie in
 * `directory`. The C library of bookworm is too old for them.
 */
export const NEWER = { suite: "forky", packages: ["containerd", "runc"], directory: "/opt/newer-runtime" } as const;

/** What the machine has beside a minimal Debian. The kernel is the one for virtual machines: its disk is half the size. */
export const PACKAGES: readonly string[] = [
  ...[
    "systemd",
    "systemd-sysv",
    "dbus",
    "libpam-systemd",
    "udev",
    "kmod",
    "procps",
    "iproute2",
    "iptables",
    "nftables",
    "conntrack",
  ],
  ...["containerd", "runc", "containernetworking-plugins", "busybox-static", "apparmor", "e2fsprogs"],
  ...["open-iscsi", "tgt"],
  ...["ca-certificates", "curl", "linux-image-cloud-amd64", "initramfs-tools"],
];

/** The host name of the machine, and so the name of its node. */
export const HOST_NAME = "machine";

/** The machine's disk, which a device plugin gives to one container at a time, for reading alone. */
export const DISK_DEVICE = { resource: "example.com/disk", path: "/dev/vda", inContainers: "/dev/vm-disk" } as const;
/** The program of that plugin. */
export const DEVICE_PLUGIN = "/opt/vm-device-plugin.cjs";

/** The name of the virtual serial port that commands come in by. */
export const PORT_NAME = "nodelet.vm";

/** A file that is put on the disk. */
interface GuestFile {
  readonly path: string;
  readonly text: string;
  readonly isProgram?: true;
}

/**
 * Reads commands from the port, a line each: a number and a script in base 64. Each runs beside the others; its answer is
 * the number, the exit code and the output. A script writes a line that begins with "+" to descriptor 4 to be heard at once.
 */
const COMMANDS = `#!/bin/bash
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p /run/vm
until [ -e /dev/virtio-ports/${PORT_NAME} ]; do sleep 1; done
exec 4<>/dev/virtio-ports/${PORT_NAME} 5>/run/vm/lock
echo "hello $(cat /proc/sys/kernel/random/boot_id)" >&4
# Nothing is to be read while nobody is at the other end.
while :; do
  read -r id script <&4 || { sleep 1; continue; }
  (
    base64 -d <<< "$script" > "/run/vm/$id"
    bash "/run/vm/$id" > "/run/vm/$id.out" 2>&1 < /dev/null
    code=$?
    flock 5
    echo "$id $code $(base64 -w0 "/run/vm/$id.out")" >&4
    rm -f "/run/vm/$id" "/run/vm/$id.out"
  ) &
done
`;

/** It outlives the stop of all other services, so that a test sees the machine go down. */
const COMMANDS_UNIT = `[Unit]
Description=Commands of the test
DefaultDependencies=no
After=systemd-remount-fs.service systemd-tmpfiles-setup-dev.service

[Service]
ExecStart=/usr/local/sbin/vm-commands
KillMode=process
OOMScoreAdjust=-1000

[Install]
WantedBy=sysinit.target
`;

/** Asks the Kubernetes API: a method, a path, and for what is sent a body on standard input. */
const ASK_API = `#!/bin/bash
cd /run/vm || exit 1
kubeconfig=/var/lib/nodelet/kubeconfig
for name in certificate-authority client-certificate client-key; do
  [ -s $name ] || sed -n "s/^ *$name-data: *//p" $kubeconfig | tr -d '"' | base64 -d > $name
done
type=application/json
[ "$1" = PATCH ] && type=application/merge-patch+json
options=(--silent --show-error --fail-with-body --max-time 120 --cacert certificate-authority)
options+=(--cert client-certificate --key client-key --request "$1" --header "Content-Type: $type")
case $1 in POST | PUT | PATCH) options+=(--data-binary @-) ;; esac
exec curl "\${options[@]}" "https://127.0.0.1:6443$2"
`;

/**
 * The IDs that an administrator sets aside for pods with users of their own: enough for as many pods as a node takes, and
 * not where a node agent would begin by itself.
 */
export const POD_IDS = { first: 16 * 65_536, idsPerPod: 65_536, pods: 110 } as const;
const POD_RANGE = `kubelet:${POD_IDS.first}:${POD_IDS.pods * POD_IDS.idsPerPod}\n`;

const NETWORK = `[Match]
Name=en* eth*

[Network]
DHCP=ipv4
`;

/** What is written to the disk beside the packages. */
export const GUEST_FILES: readonly GuestFile[] = [
  { path: "etc/hostname", text: `${HOST_NAME}\n` },
  { path: "etc/hosts", text: `127.0.0.1 localhost ${HOST_NAME}\n` },
  { path: "etc/fstab", text: "/dev/vda / ext4 defaults 0 1\n" },
  { path: "etc/subuid", text: POD_RANGE },
  { path: "etc/subgid", text: POD_RANGE },
  { path: "etc/systemd/network/80-vm.network", text: NETWORK },
  { path: "etc/systemd/system/vm-commands.service", text: COMMANDS_UNIT },
  { path: "usr/local/sbin/vm-commands", text: COMMANDS, isProgram: true },
  { path: "usr/local/bin/ask-api", text: ASK_API, isProgram: true },
];

/** Run in the machine's own tree when it is built. Its journal is kept across starts; root logs in without a password. */
export const FINISHING: readonly (readonly string[])[] = [
  ["passwd", "--delete", "root"],
  ["useradd", "--system", "--no-create-home", "kubelet"],
  ["systemctl", "enable", "vm-commands.service", "systemd-networkd.service"],
  ["systemctl", "disable", "containerd.service", "tgt.service"],
  ["systemctl", "set-default", "multi-user.target"],
  ["mkdir", "-p", "/var/log/journal", "/manifests"],
];
