import { createPod, deletePods, untilPod } from "./pods.ts";
import { expectSame, type Scenario, type Stage } from "./scenario.ts";
import { withKubeletConfiguration } from "./service.ts";

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

async function expectLog(at: Stage, name: string, wanted: string): Promise<void> {
  await untilPod(at, name, ({ status }) => status?.phase === "Succeeded");
  expectSame(await at.machine.read(LOG(name)), wanted, `what ${name} reads`);
}
