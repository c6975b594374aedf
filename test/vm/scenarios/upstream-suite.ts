import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeFailures, parseSpecReports, type SpecReport } from "../../e2e/upstream/spec-reports.ts";
import { findSuitePrograms, REGISTRY_PORT, SUITE_DIRECTORY } from "../disk/add-upstream-suite.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";

/** The whole of it takes hours: it starts the node agent some hundred times. What runs when the time ends has failed. */
const TIMEOUT = process.env["E2E_NODE_TIMEOUT"] ?? "12h";
/** A directory of this machine, where the report and the output are kept. */
const REPORTS = process.env["E2E_NODE_REPORTS"] ?? "";
const ADDRESS = "10.90.0.2";
const UNIT = "upstream-suite";

/** Which specs run: a filter of ginkgo's labels, and regular expressions of their names. */
const LABELS = process.env["E2E_NODE_LABELS"] ?? "Serial && !Slow";
const FOCUS = process.env["E2E_NODE_FOCUS"] ?? "";
const SKIPPED = process.env["E2E_NODE_SKIP"] ?? "";
/** More flags of the suite's, with spaces between them: `--feature-gates=…`, `--cri-proxy-enabled`, `--standalone-mode`. */
const FLAGS = (process.env["E2E_NODE_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "");

/**
 * Upstream's own tests of a node, with upstream's own harness: it starts an API server and, as a unit of systemd, its
 * kubelet, which is nodelet here, and starts it anew for each configuration.
 */
export const upstreamSuite: Scenario = {
  name: "upstream-suite",
  promise: "upstream's node tests pass, those that configure and restart the kubelet included",
  needs: "namespaces",
  lacks: findSuitePrograms(process.env)
    ? undefined
    : "E2E_NODE_TEST_BIN, E2E_NODE_IMAGES, KUBEBUILDER_ASSETS name nothing",
  run: async (at) => {
    await at.machine.read("systemctl stop nodelet");
    try {
      await mountDisk(at);
      await startRuntime(at);
      const specs = await runSuite(at);
      const passed = specs.filter(({ State }) => State === "passed");
      const failures = describeFailures(specs);
      const skipped = specs.filter(({ State, Failure }) => State === "skipped" && Failure?.Message !== undefined);
      at.note(`${passed.length} passed, ${failures.length} failed, ${skipped.length} skipped themselves`);
      for (const failure of failures) at.note(failure);
      expectTrue(passed.length > 0, "no spec was run");
      expectSame(`${failures.length}`, "0", "the number of specs that failed");
    } finally {
      await at.machine.run("systemctl stop 'kubelet-*' suite-containerd suite-registry; ip link delete suite-lan");
      await at.machine.run(`umount --lazy --recursive /var/lib/kubelet /var/lib/containerd ${DISK}`);
      await at.machine.read("systemctl start nodelet");
    }
  },
};

/** How much the disk of the suite's pods and images holds: specs measure how it fills. The file has few blocks. */
const DISK_SIZE = "20G";
const DISK = "/run/suite-disk";

/**
 * A disk of its own for pods and images, so that nobody else writes to it, and what the service has in its directories is not
 * touched. The loop device goes with the mount, and that with the machine.
 */
async function mountDisk({ machine }: Stage): Promise<void> {
  await machine.read(`truncate --size ${DISK_SIZE} ${SUITE_DIRECTORY}/disk && mkfs.ext4 -q -F ${SUITE_DIRECTORY}/disk
    [ -e /dev/loop-control ] || mknod /dev/loop-control c 10 237
    mkdir -p ${DISK}
    for attempt in {1..20}; do
      device=$(losetup --find | cut -d ' ' -f 1)
      [ -e "$device" ] || mknod "$device" b 7 "\${device#/dev/loop}"
      losetup "$device" ${SUITE_DIRECTORY}/disk && mount -o discard "$device" ${DISK} && losetup --detach "$device" && break
    done
    mountpoint --quiet ${DISK} || exit 1
    for name in kubelet containerd; do
      mkdir -p ${DISK}/$name /var/lib/$name && mount --bind ${DISK}/$name /var/lib/$name
    done`);
}

/** A registry and a containerd of its own, and an address with a default route, without which no API server starts. */
async function startRuntime(at: Stage): Promise<void> {
  await at.machine.read(`ip link add suite-lan type veth peer name suite-far
    ip address add ${ADDRESS}/24 dev suite-lan
    for end in suite-lan suite-far; do ip link set $end up; done
    ip route add default via 10.90.0.1 dev suite-lan
    sysctl --quiet --write net.ipv4.ip_forward=1
    systemd-run --quiet --unit suite-registry \\
      node ${SUITE_DIRECTORY}/registry/serve.mjs ${SUITE_DIRECTORY}/registry ${REGISTRY_PORT}
    systemd-run --quiet --unit suite-containerd --property Delegate=yes --property KillMode=process --property Restart=always \\
      containerd --config ${SUITE_DIRECTORY}/containerd.toml`);
  await until(at, "ctr version > /dev/null", () => true);
  await at.machine.read(`for image in ${SUITE_DIRECTORY}/images/*.tar; do ctr -n k8s.io images import $image; done`);
}

async function runSuite(at: Stage): Promise<SpecReport[]> {
  const report = `${SUITE_DIRECTORY}/report.json`;
  const flags = [
    ...["--test.timeout=0", `--ginkgo.timeout=${TIMEOUT}`, "--ginkgo.no-color", "--ginkgo.v"],
    ...[`--ginkgo.label-filter=${LABELS}`, `--ginkgo.json-report=${report}`],
    ...(FOCUS === "" ? [] : [`--ginkgo.focus=${FOCUS}`]),
    ...(SKIPPED === "" ? [] : [`--ginkgo.skip=${SKIPPED}`]),
    ...["--prepull-images=false", `--system-spec-file=${SUITE_DIRECTORY}/machine.yaml`],
    ...["--container-runtime-endpoint=unix:///run/containerd/containerd.sock", `--report-dir=${SUITE_DIRECTORY}/logs`],
    ...[`--kubelet-config-file=${SUITE_DIRECTORY}/kubelet.yaml`, `--kubelet-flags=--node-ip=${ADDRESS}`],
    ...FLAGS,
  ];
  const quoted = flags.map((flag) => `'${flag.replaceAll("'", `'\\''`)}'`).join(" ");
  const unit = `--unit ${UNIT} --working-directory ${SUITE_DIRECTORY} --property LimitNOFILE=65536`;
  const output = `--property StandardOutput=file:${SUITE_DIRECTORY}/output.log --property StandardError=inherit`;
  await at.machine.read(`systemd-run --quiet ${unit} ${output} ${SUITE_DIRECTORY}/e2e_node.test ${quoted}`);
  await untilEnded(at);
  const text = await at.machine.read(`cat ${report}`);
  if (REPORTS !== "") await keepReports(at, text);
  const specs = parseSpecReports(text);
  return specs.filter(({ LeafNodeType }) => LeafNodeType === "It");
}

/** The machine's files are removed with it. */
async function keepReports({ machine }: Stage, report: string): Promise<void> {
  await mkdir(REPORTS, { recursive: true });
  await writeFile(join(REPORTS, "report.json"), report);
  await writeFile(join(REPORTS, "output.log"), await machine.read(`cat ${SUITE_DIRECTORY}/output.log`));
  await writeFile(join(REPORTS, "node-agent.log"), await machine.read(`cat ${SUITE_DIRECTORY}/logs/kubelet.log`));
}

/** However long it takes: each spec has its own limits. */
async function untilEnded(at: Stage): Promise<void> {
  let isRunning = true;
  while (isRunning) {
    const { output } = await at.machine.run(
      `for second in {1..300}; do systemctl is-active --quiet ${UNIT} || break; sleep 1; done; systemctl is-active ${UNIT}`,
    );
    isRunning = output.trim() === "active";
  }
}
