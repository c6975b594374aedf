import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../../../src/cluster/processes/run-command.ts";
import { fetchText } from "../../agent.ts";
import { findFreePorts } from "../../control-plane/server-process.ts";
import { type RunningStandIn, type StandInPlace, startStandIn } from "./stand-in-process.ts";

/** The name is its own and cannot be chosen. */
const TABLE = "kube-proxy";
const FAMILIES = ["ip", "ip6"] as const;
const LOOPBACK = "127.0.0.1";

/**
 * Starts kube-proxy by nftables, with its defaults but for two things: it leaves the machine's connection tracking as it is,
 * and it does not wait for a second after each change, which would be most of what is measured. Throws where the machine
 * has another one.
 */
export async function startKubeProxy(place: StandInPlace, binary: string): Promise<RunningStandIn> {
  if ((await listTables()).length > 0)
    throw new Error("this machine has rules of a kube-proxy, which ours would replace");
  const [healthPort = 0, metricsPort = 0] = await findFreePorts(2);
  const config = join(place.directory, "kube-proxy.json");
  const configuration = {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    clientConnection: { kubeconfig: await place.issue("system:kube-proxy") },
    hostnameOverride: place.nodeName,
    clusterCIDR: place.podCidr,
    healthzBindAddress: `${LOOPBACK}:${healthPort}`,
    metricsBindAddress: `${LOOPBACK}:${metricsPort}`,
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
    nftables: { minSyncPeriod: "1ms" },
  };
  await writeFile(config, JSON.stringify(configuration));
  try {
    const running = await startStandIn({
      binary,
      args: [`--config=${config}`],
      logFile: join(place.directory, "kube-proxy.log"),
      works: async () => {
        const health: { currentTime?: string } = JSON.parse(
          await fetchText({ host: LOOPBACK, port: healthPort, path: "/healthz" }),
        );
        return health.currentTime !== undefined && (await listTables()).length > 0;
      },
      signal: place.signal,
    });
    return {
      pid: running.pid,
      async stop() {
        await running.stop();
        await removeTables();
      },
    };
  } catch (error) {
    await removeTables();
    throw error;
  }
}

async function listTables(): Promise<string[][]> {
  const lines = (await runCommand("nft", ["list", "tables"])).split("\n");
  return FAMILIES.filter((family) => lines.includes(`table ${family} ${TABLE}`)).map((family) => [family, TABLE]);
}

async function removeTables(): Promise<void> {
  for (const table of await listTables()) await runCommand("nft", ["delete", "table", ...table]);
}
