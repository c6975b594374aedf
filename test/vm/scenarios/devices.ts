import { DEVICE_PLUGIN, DISK_DEVICE, HOST_NAME } from "../disk/recipe.ts";
import { createPod, deletePods, readLog, untilReady, whoRuns } from "./pods.ts";
import { expectSame, type Scenario, type Stage, until } from "./scenario.ts";
import { replaceProcess } from "./service.ts";

const UNIT = "vm-device-plugin";
const { resource, path, inContainers } = DISK_DEVICE;
/** What a container may do with a device: each line is something that it may not, but for the first. */
const TRY = (device: string) => `head -c 512 ${device} > /dev/null && echo reads
true 3>> ${device} || echo may not write
exec sleep 3600`;

/** The kernel decides by the container's cgroup which devices it may open. */
export const devices: Scenario = {
  name: "devices",
  promise:
    "a device of a plugin is opened by the container that has it, as the plugin says, by no other, and kept over kill -9 of the agent",
  wants: path,
  run: async (at) => {
    await at.machine.read(`systemd-run --unit ${UNIT} --property=Restart=always node ${DEVICE_PLUGIN}`);
    try {
      await untilOffered(at, "1");
      const container = { resources: { limits: { [resource]: "1" } } };
      await createPod(at, "owner", { script: TRY(inContainers), container });
      const before = whoRuns(await untilReady(at, "owner"));
      await until(at, LOG("owner"), (log) => log.includes("may not write"));
      expectSame((await readLog(at, "owner")).split("\n").filter(isOurs).join(), "reads,may not write", "the owner");
      const numbers = await at.machine.read(`stat -c '%Hr %Lr' ${path}`);
      await createPod(at, "thief", { script: `mknod /stolen b ${numbers}\n${TRY("/stolen")}` });
      await until(at, LOG("thief"), (log) => log.includes("may not write"));
      expectSame((await readLog(at, "thief")).split("\n").filter(isOurs).join(), "may not write", "another pod");
      await replaceProcess(at, "agent", "KILL");
      await untilOffered(at, "1");
      expectSame(whoRuns(await untilReady(at, "owner")), before, "the owner's container after kill -9");
      await at.machine.read(`systemctl stop ${UNIT}`);
      await untilOffered(at, "0");
      expectSame(whoRuns(await untilReady(at, "owner")), before, "the owner's container without the plugin");
    } finally {
      await at.machine.run(`systemctl stop ${UNIT}`);
    }
    await deletePods(at, "owner", "thief");
  },
};

const LOG = (name: string) => `ask-api GET /api/v1/namespaces/default/pods/${name}/log`;
const isOurs = (line: string) => ["reads", "may not write"].includes(line);

async function untilOffered(at: Stage, amount: string): Promise<void> {
  const node = `ask-api GET /api/v1/nodes/${HOST_NAME}`;
  await until(at, node, (text) => JSON.parse(text).status?.allocatable?.[resource] === amount);
}
