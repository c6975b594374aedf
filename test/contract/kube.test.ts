import { silentLog } from "../../src/base/log.ts";
import { createSeededRandom } from "../../src/base/random.ts";
import { linuxFiles } from "../../src/host/linux/files/linux-files.ts";
import { linuxPrograms } from "../../src/host/linux/system/linux-programs.ts";
import { systemClock } from "../../src/host/linux/system/system-clock.ts";
import { createHttpKubeClient } from "../../src/kube/http/create-http-kube-client.ts";
import { readKubeconfig } from "../../src/kube/kubeconfig.ts";
import { clusterServersUnderTest } from "../clusters/cluster-servers.ts";
import { createSimulatedApiServer } from "../sim/api/create-api-server.ts";
import { createDirectKubeClient } from "../sim/api/direct-client.ts";
import { describeKubeClient } from "./kube/describe-kube-client.ts";

for (const server of await clusterServersUnderTest()) {
  describeKubeClient(
    `over HTTP/2, on ${server.name}`,
    async () => {
      const cluster = await server.start();
      const connect = async ({ kubeconfigPath }: { kubeconfigPath: string }) => {
        const connection = await readKubeconfig(kubeconfigPath, linuxFiles);
        return createHttpKubeClient(
          { connection, clock: systemClock, random: createSeededRandom(1), log: silentLog, programs: linuxPrograms },
          { userAgent: "contract/1.0", qps: 0, burst: 0, timeoutMs: 30_000 },
        );
      };
      const admin = await connect(cluster);
      const stranger = await connect(await cluster.addUser("stranger"));
      return {
        admin,
        stranger,
        async stop() {
          await Promise.all([admin.close(), stranger.close()]);
          await cluster.stop();
        },
      };
    },
    { forgets: server.isOurs },
  );
}

describeKubeClient(
  "in the same process",
  async () => {
    const server = await createSimulatedApiServer({ clock: systemClock, seed: 1 });
    const connect = (commonName: string, organizations: string[]) => {
      return createDirectKubeClient(server.controlPlane, { commonName, organizations });
    };
    return {
      admin: connect("admin", ["system:masters"]),
      stranger: connect("stranger", []),
      stop: async () => await server.stop(),
    };
  },
  { forgets: true },
);
