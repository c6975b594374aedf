import { silentLog } from "../../src/base/log.ts";
import { issueKubeconfig } from "../../src/cluster/control-plane/issue-kubeconfig.ts";
import { type RunningControlPlane, serveControlPlane } from "../../src/cluster/control-plane/serve-control-plane.ts";
import { createMemoryJournal } from "../../src/journal/memory-journal.ts";
import { createCertificates } from "../../src/testing/cluster-credentials.ts";
import type { RestartableCluster } from "./node-cluster.ts";

const DAY_MS = 86_400_000;

/** Nodelet's control plane on a journal that outlives it. */
export async function startRestartableCluster(serviceCidr = "10.96.0.0/16"): Promise<RestartableCluster> {
  const certificates = await createCertificates();
  const journal = createMemoryJournal();
  const serve = async (port: number): Promise<RunningControlPlane> => {
    const options = { address: "127.0.0.1", port, serviceCidr, version: "0.0.0" };
    const started = await serveControlPlane(options, { journal, certificates, log: silentLog });
    await Promise.race([started.ready, started.ended]);
    return started;
  };
  let running = await serve(0);
  const { url, kubeconfig } = running;
  return {
    url,
    kubeconfig,
    async addUser(name, groups = []) {
      return { kubeconfig: await issueKubeconfig(certificates, { url, name, groups, lifetimeMs: DAY_MS }) };
    },
    stopServer: async () => await running.close(),
    async startServer() {
      running = await serve(Number(new URL(url).port));
    },
    stop: async () => await running.close(),
  };
}
