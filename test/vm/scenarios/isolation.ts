import { createPod, deletePods, untilPod, untilReady } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { withKubeletConfiguration } from "./service.ts";

const SHARED = "/var/vm-shared";
/** A pod writes down what it was allowed, and its log is read. */
const LOG = (name: string) => `ask-api GET /api/v1/namespaces/default/pods/${name}/log`;

/** Settings of the kernel that a pod has for itself. */
export const sysctls: Scenario = {
  name: "sysctls",
  promise: "safe sysctls are set, and unsafe ones where the node allows them alone",
  run: async (at) => {
    const create = async (name: string, sysctl: { name: string; value: string }): Promise<void> =>
      await createPod(at, name, {
        script: `cat /proc/sys/${sysctl.name.replaceAll(".", "/")}`,
        spec: { restartPolicy: "Never", securityContext: { sysctls: [sysctl] } },
      });
    const safe = { name: "net.ipv4.ip_unprivileged_port_start", value: "81" };
    const unsafe = { name: "kernel.msgmax", value: "4096" };
    await create("safe", safe);
    await create("refused", unsafe);
    const { status } = await untilPod(at, "refused", (pod) => pod.status?.phase === "Failed");
    at.note(`refused: ${status?.reason}, ${status?.message}`);
    expectSame(status?.reason ?? "", "SysctlForbidden", "the reason");
    await expectLog(at, "safe", safe.value);
    await withKubeletConfiguration(at, `allowedUnsafeSysctls: [${unsafe.name}]`, async () => {
      await create("allowed", unsafe);
      await expectLog(at, "allowed", unsafe.value);
    });
    await deletePods(at, "safe", "refused", "allowed");
  },
};

/** What a driver of volumes does: it mounts in its own container, for others to see. */
export const mountPropagation: Scenario = {
  name: "mount-propagation",
  promise: "a mount of a privileged pod reaches the machine and other pods, where both ask for it",
  run: async (at) => {
    await at.machine.read(`mkdir -p ${SHARED}/inner`);
    const volumes = [{ name: "shared", hostPath: { path: SHARED } }];
    const mountOf = (mountPropagation: string) => ({
      volumeMounts: [{ name: "shared", mountPath: "/shared", mountPropagation }],
    });
    const look = 'while :; do echo "sees: $(cat /shared/inner/file 2> /dev/null)"; sleep 1; done';
    for (const mode of ["HostToContainer", "None"])
      await createPod(at, mode === "None" ? "blind" : "seeing", {
        script: look,
        container: mountOf(mode),
        spec: { volumes, terminationGracePeriodSeconds: 1 },
      });
    for (const name of ["seeing", "blind"]) await untilReady(at, name);
    await createPod(at, "mounter", {
      script: "mount -t tmpfs tmpfs /shared/inner && echo mounted > /shared/inner/file; exec sleep 3600",
      container: { ...mountOf("Bidirectional"), securityContext: { privileged: true } },
      spec: { volumes, terminationGracePeriodSeconds: 1 },
    });
    await untilReady(at, "mounter");
    await until(at, `cat ${SHARED}/inner/file || true`, (output) => output === "mounted\n");
    await until(at, LOG("seeing"), (output) => output.includes("sees: mounted"));
    expectTrue(
      !(await at.machine.read(LOG("blind"))).includes("mounted"),
      "a pod that asked for nothing sees the mount",
    );
    await deletePods(at, "mounter", "seeing", "blind");
    await at.machine.read(`umount ${SHARED}/inner; rm -r ${SHARED}`);
  },
};

async function expectLog(at: Stage, name: string, wanted: string): Promise<void> {
  await untilPod(at, name, ({ status }) => status?.phase === "Succeeded");
  expectSame(await at.machine.read(LOG(name)), wanted, `what ${name} reads`);
}
