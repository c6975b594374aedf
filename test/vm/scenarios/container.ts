import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { expectSame, expectTrue, type Scenario, until } from "./scenario.ts";

const STATE = "/var/lib/nodelet-in-container";
const nodelet = (command: string) => `nodelet ${command} --state-dir ${STATE}`;
const LIMIT_BYTES = 64 * 1024 * 1024;
/** Beside the service: another bridge, other ranges, other ports. */
const UP =
  "up --bridge nodelet-box0 --pod-cidr 10.91.0.0/24 --service-cidr 10.92.0.0/24 --api-port 7443 --healthz-port 0";
/** A privileged container as far as cgroups go: its own root, in which it begins, and no systemd. */
const CONTAINER = `mount -t tmpfs tmpfs /run && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec ${nodelet(UP)}`;
const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "limited" },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: "main",
        image: DEMO_IMAGE,
        command: ["sleep", "100000"],
        resources: { limits: { cpu: "100m", memory: `${LIMIT_BYTES}` } },
      },
    ],
  },
};

/** How a development container or a job of a pipeline runs a node. */
export const container: Scenario = {
  name: "container",
  promise: "nodelet up runs in a privileged container without systemd, and pods there have their limits",
  needs: "qemu",
  run: async (at) => {
    await at.machine.read(`mkdir -p ${STATE}/manifests && cat > ${STATE}/manifests/pod.json <<'EOF'
${JSON.stringify(POD)}
EOF`);
    const enter = "unshare --cgroup --mount --propagation private";
    await at.machine.read(`systemd-run --unit=box -p Delegate=yes ${enter} sh -c '${CONTAINER}'`);
    const inside = `nsenter --target $(systemctl show box --property=MainPID --value) --mount --cgroup`;
    try {
      const failed = "systemctl is-failed --quiet box && echo FAILED && journalctl --unit box --no-pager | tail -n 20";
      const isEnded = (output: string) => / Running /.test(output) || output.startsWith("FAILED");
      const end = await until(at, `${failed} || ${inside} ${nodelet("status")}`, isEnded);
      expectTrue(!end.startsWith("FAILED"), `nodelet up ended in the container:\n${end}`);
      const root = "/sys/fs/cgroup/system.slice/box.service";
      const limits = await at.machine.read(`find ${root} -name memory.max -path '*/pod*' | xargs cat | sort -u`);
      at.note(`limits of memory in the container: ${limits.replaceAll("\n", ", ")}`);
      expectSame(limits.split("\n")[0] ?? "", `${LIMIT_BYTES}`, "the limit of the pod's memory");
      expectSame(
        await at.machine.read(`cat ${root}/cgroup.procs`),
        "",
        "the list of processes in the container's root",
      );
    } finally {
      await at.machine.run(`${inside} ${nodelet("down --pods")}; systemctl stop box; systemctl reset-failed box`);
      await at.machine.run(`rm -rf ${STATE}`);
    }
  },
};
