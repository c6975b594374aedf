import { createPod, deletePods, untilReady } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { startAnew, untilServiceAnswers } from "./service.ts";
import { readMetrics, readSummary } from "./statistics.ts";

const POD = "waiting-for-cpu";
const SERIES = ["cpu", "memory", "io"].flatMap((resource) =>
  ["stalled", "waiting"].map((share) => `container_pressure_${resource}_${share}_seconds_total`),
);
type Summary = Awaited<ReturnType<typeof readSummary>>;

/** The kernel's word on who waits for what. Many distributions build it in and leave it off. */
export const pressure: Scenario = {
  name: "pressure",
  promise:
    "statistics tell how long tasks wait where the kernel counts it, and leave it out in silence where it does not",
  needs: "qemu",
  run: async (at) => {
    const { machine } = at;
    await untilServiceAnswers(at);
    await createPod(at, POD, {
      script: "while :; do :; done & while :; do :; done",
      container: { resources: { limits: { cpu: "20m" } } },
      spec: { terminationGracePeriodSeconds: 1 },
    });
    await untilReady(at, POD);
    await expectPressure(at);
    await startAnew(at, ["psi=0"]);
    await untilReady(at, POD);
    await expectNoPressure(at);
    await deletePods(at, POD);
    await startAnew(at, []);
    await machine.read("test -e /proc/pressure/cpu");
  },
};

/** The container is throttled nearly always, and all its tasks with it: the kernel calls that a stall. */
async function expectPressure(at: Stage): Promise<void> {
  const summary = await readSummary(at, (read) => (ofContainer(read)?.cpu?.psi?.full.total ?? 0) > 0);
  at.note(`of the container: ${JSON.stringify(ofContainer(summary)?.cpu?.psi)}`);
  for (const [name, found] of Object.entries(placesOf(summary))) {
    const { cpu, memory, io } = found ?? {};
    const told = { cpu: cpu?.psi, memory: memory?.psi, io: io?.psi };
    for (const [resource, psi] of Object.entries(told))
      expectTrue(psi !== undefined, `the summary tells no pressure on the ${resource} of ${name}`);
  }
  const page = await readMetrics(at, "/metrics/cadvisor");
  for (const series of SERIES) {
    const lines = page.split("\n").filter((line) => line.startsWith(`${series}{`));
    expectTrue(
      lines.some((line) => line.includes('id="/"')),
      `${series} is not told of the node`,
    );
    expectTrue(
      lines.some((line) => line.includes(`container="main"`) && line.includes(`pod="${POD}"`)),
      `${series} is not told of the container`,
    );
  }
}

async function expectNoPressure(at: Stage): Promise<void> {
  expectSame(await at.machine.read("ls /proc/pressure 2> /dev/null || true"), "", "what the kernel counts");
  const summary = await readSummary(at, (read) => ofContainer(read)?.cpu?.usageNanoCores !== undefined);
  expectTrue(!JSON.stringify(summary).includes('"psi"'), "the summary tells a pressure that nobody counts");
  expectTrue(!(await readMetrics(at, "/metrics/cadvisor")).includes("container_pressure_"), "a series of it is left");
  const since = "journalctl --boot --unit nodelet --output cat; cat /var/lib/nodelet/agent.log";
  await until(at, `(${since}) | grep -icE '\\bpsi\\b|[./]pressure|EOPNOTSUPP' || true`, (count) => count === "0\n");
}

function ofContainer({ pods }: Summary) {
  return ofPod(pods)?.containers[0];
}

function ofPod(pods: Summary["pods"]) {
  return pods.find(({ podRef }) => podRef.name === POD);
}

function placesOf(summary: Summary) {
  return { "the node": summary.node, "the pod": ofPod(summary.pods), "the container": ofContainer(summary) };
}
