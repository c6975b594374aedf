import type { Node, PodSpec } from "../../../src/api/gen/types.ts";
import { HOST_NAME } from "../disk/recipe.ts";
import { createPod, deletePods, untilReady, whoRuns } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { replaceProcess } from "./service.ts";

const IQN = "iqn.2026-11.example.nodelet:disk";
const PORTAL = "127.0.0.1:3260";
const LUN = 1;
const USER = "nodelet";
const PASSWORD = "open-sesame-123";
const IMAGE = "/var/lib/vm-iscsi.img";
const PLUGIN = "/var/lib/kubelet/plugins/kubernetes.io/iscsi";
const PLACE = `${PORTAL}-${IQN}-lun-${LUN}`;
const NAME = `kubernetes.io/iscsi/${PORTAL}:${IQN}:${LUN}`;
const DISK = {
  ...{ targetPortal: PORTAL, iqn: IQN, lun: LUN },
  ...{ chapAuthSession: true, secretRef: { name: "chap" } },
};
const LOG = "/api/v1/namespaces/default/pods";
const WAIT = "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done";

/** A target in user space, which this machine reaches by its own loopback device. */
export const iscsi: Scenario = {
  name: "iscsi",
  promise: "a pod writes to a disk of an iSCSI target, also after kill -9 of the agent, and the session ends with it",
  needs: "qemu",
  run: async (at) => {
    await serveDisk(at);
    await at.machine.read(`ask-api POST /api/v1/namespaces/default/secrets <<'EOF'\n${JSON.stringify(SECRET)}\nEOF`);
    await writeBy(at, "first");
    at.note(await at.machine.read("iscsiadm -m session"));
    expectSame(await at.machine.read(`findmnt -no FSTYPE ${PLUGIN}/iface-default/${PLACE}`), "ext4", "the file system");
    const { status } = await readNode(at);
    expectTrue(status?.volumesAttached?.some(({ name }) => name === NAME) === true, "the node's status lists the disk");
    await deletePods(at, "first");
    await untilGone(at);
    await expectKilledAgentKeepsIt(at);
    await expectBlockVolume(at);
    await at.machine.read(`ask-api DELETE /api/v1/namespaces/default/secrets/chap`);
    await at.machine.read(`systemctl stop tgt; rm -f ${IMAGE}`);
  },
};

const base64 = (text: string) => Buffer.from(text).toString("base64");
const SECRET = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "chap" },
  type: "kubernetes.io/iscsi-chap",
  data: {
    "node.session.auth.username": base64(USER),
    "node.session.auth.password": base64(PASSWORD),
  },
};

async function serveDisk({ machine }: Stage): Promise<void> {
  const admin = "tgtadm --lld iscsi";
  await machine.read(`set -e
    truncate -s 64M ${IMAGE}
    systemctl start tgt
    for second in {1..300}; do ${admin} --op show --mode sys > /dev/null 2>&1 && break; sleep 1; done
    ${admin} --op new --mode target --tid 1 -T ${IQN}
    ${admin} --op new --mode logicalunit --tid 1 --lun ${LUN} -b ${IMAGE}
    ${admin} --op new --mode account --user ${USER} --password ${PASSWORD}
    ${admin} --op bind --mode account --tid 1 --user ${USER}
    ${admin} --op bind --mode target --tid 1 -I ALL`);
}

/** A pod that adds its name to what the disk holds, and waits. */
async function writeBy(at: Stage, name: string): Promise<void> {
  const spec: Partial<PodSpec> = { volumes: [{ name: "disk", iscsi: DISK }] };
  const volumeMounts = [{ name: "disk", mountPath: "/data" }];
  const script = `echo ${name} >> /data/log; sync; cat /data/log; ${WAIT}`;
  await createPod(at, name, { script, container: { volumeMounts }, spec });
  await untilReady(at, name);
}

async function expectKilledAgentKeepsIt(at: Stage): Promise<void> {
  await writeBy(at, "second");
  const before = whoRuns(await untilReady(at, "second"));
  await replaceProcess(at, "agent", "KILL");
  expectSame(whoRuns(await untilReady(at, "second")), before, "the pod's container after the kill");
  await until(at, "iscsiadm -m session", (sessions) => sessions.includes(IQN));
  const log = await at.machine.read(`ask-api GET ${LOG}/second/log`);
  expectSame(log.split("\n").join(" "), "first second", "what the disk holds");
  await deletePods(at, "second");
  await untilGone(at);
}

async function expectBlockVolume(at: Stage): Promise<void> {
  const volume = {
    ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "vm-disk" } },
    spec: {
      ...{ capacity: { storage: "64Mi" }, accessModes: ["ReadWriteOnce"], volumeMode: "Block", storageClassName: "" },
      iscsi: { ...DISK, secretRef: { ...DISK.secretRef, namespace: "default" } },
    },
  };
  const claim = {
    ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "vm-disk" } },
    spec: {
      ...{ accessModes: ["ReadWriteOnce"], volumeMode: "Block", storageClassName: "", volumeName: "vm-disk" },
      resources: { requests: { storage: "64Mi" } },
    },
  };
  const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
  await at.machine.read(`ask-api POST /api/v1/persistentvolumes <<'EOF'\n${JSON.stringify(volume)}\nEOF`);
  await at.machine.read(`ask-api POST ${claims} <<'EOF'\n${JSON.stringify(claim)}\nEOF`);
  const volumeDevices = [{ name: "disk", devicePath: "/dev/disk" }];
  const volumes = [{ name: "disk", persistentVolumeClaim: { claimName: "vm-disk" } }];
  // The magic number of ext4, in the superblock that the first pod's mount has made.
  const script = `dd if=/dev/disk bs=1 skip=1080 count=2 2> /dev/null | hexdump -e '2/1 "%02x"'; echo; ${WAIT}`;
  await createPod(at, "block", { script, container: { volumeDevices }, spec: { volumes } });
  await untilReady(at, "block");
  await until(at, `ask-api GET ${LOG}/block/log`, (log) => log.trim() === "53ef");
  await deletePods(at, "block");
  await untilGone(at);
  await at.machine.read(`ask-api DELETE ${claims}/vm-disk && ask-api DELETE /api/v1/persistentvolumes/vm-disk`);
}

/** Nothing is left of the disk: no session, no device, no mount, no directory, and no word of it in the node's status. */
async function untilGone(at: Stage): Promise<void> {
  const left = `ls /sys/class/iscsi_session 2> /dev/null; grep -c ${IQN} /proc/mounts; find ${PLUGIN} -name '*lun*'; true`;
  await until(at, left, (output) => output.trim() === "0");
  await until(at, `ask-api GET /api/v1/nodes/${HOST_NAME}`, (text) => !text.includes(IQN));
}

async function readNode(at: Stage): Promise<Node> {
  return JSON.parse(await at.machine.read(`ask-api GET /api/v1/nodes/${HOST_NAME}`));
}
