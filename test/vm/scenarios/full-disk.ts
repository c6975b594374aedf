import { createPod, deletePods, untilNodeReady, untilReady, whoRuns } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { PROCESSES, untilServiceAnswers, withKubeletConfiguration } from "./service.ts";

const FILLING = "/var/vm-filling";
/** Takes every block that is free, and those that are kept for root. */
const FILL = `mkdir ${FILLING}; n=0
for size in 1G 100M 10M 1M 64K 4K; do while fallocate -l $size ${FILLING}/$n 2> /dev/null; do n=$((n + 1)); done; done
df --output=avail ${FILLING} | tail -n 1`;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** Larger than what the store may have room for within its files. */
const WRITE = `text=$(head -c 120000 /dev/zero | tr '\\0' x)
echo '{"metadata":{"generateName":"vm-full-"},"data":{"text":"'$text'"}}' | ask-api POST ${CONFIG_MAPS} | head -c 600; true`;

/** Somebody else fills the disk that the store, the pods' files and their logs are on, to the last block. */
export const fullDisk: Scenario = {
  name: "full-disk",
  promise:
    "on a full disk writes are refused in words and critical pods run on; when there is room all goes on by itself",
  needs: "qemu",
  run: async (at) => {
    const { machine } = at;
    await createPod(at, "critical", { spec: { priorityClassName: "system-node-critical" } });
    const before = whoRuns(await untilReady(at, "critical"));
    await withKubeletConfiguration(at, "evictionPressureTransitionPeriod: 5s", async () => {
      const processes = await readProcesses(at);
      try {
        at.note(await machine.read(FILL));
        const refusal = await until(at, WRITE, (output) => output.includes('"Failure"'));
        at.note(refusal);
        expectTrue(/disk|space/i.test(refusal), "the refusal does not tell of the disk");
        at.note(await machine.read("nodelet status | head -n 20"));
        expectSame(whoRuns(await untilReady(at, "critical")), before, "the critical pod's container on a full disk");
      } finally {
        await machine.run(`rm -r ${FILLING}`);
      }
      await untilServiceAnswers(at);
      await untilNodeReady(at);
      await createPod(at, "newcomer");
      await untilReady(at, "newcomer");
      expectSame(await readProcesses(at), processes, "the processes of the service");
      expectSame(whoRuns(await untilReady(at, "critical")), before, "the critical pod's container");
    });
    await deletePods(at, "newcomer", "critical");
    await machine.run(
      `ask-api GET ${CONFIG_MAPS} | grep -o '"vm-full-[a-z0-9]*"' | tr -d '"' | while read -r name; do ask-api DELETE ${CONFIG_MAPS}/$name; done`,
    );
  },
};

async function readProcesses({ machine }: Stage): Promise<string> {
  return await machine.read(Object.values(PROCESSES).join("; "));
}
