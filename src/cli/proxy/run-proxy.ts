import { isAbort } from "../../base/abort.ts";
import { CodedError, messageOf, runAll } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createMetrics } from "../../base/metrics.ts";
import { KUBELET_VERSION } from "../../config/kubelet-version.ts";
import type { HttpServer, PageHandler } from "../../host/http-server.ts";
import { createLinuxHost } from "../../host/linux/create-linux-host.ts";
import { listenHttp } from "../../host/linux/network/listen-http.ts";
import { declareProcessSeries } from "../../host/linux/system/process-series.ts";
import type { Host } from "../../host/port.ts";
import { createHttpKubeClient } from "../../kube/http/create-http-kube-client.ts";
import { readKubeconfig } from "../../kube/kubeconfig.ts";
import { createServiceProxy, removeServiceRules, type ServiceProxy } from "../../proxy/compose/service-proxy.ts";
import type { AddressFamily } from "../../proxy/rules/fragment.ts";
import { watchProcess } from "../kubelet/watch-process.ts";
import { openCommandLog } from "../log-options.ts";
import { requireRoot } from "../require-root.ts";
import type { BindAddress, ProxyCommand } from "./proxy-command.ts";

const CALL_TIMEOUT_MS = 60_000;
/** The kernel has this file where it speaks IPv6. */
const IPV6_FILE = "/proc/net/if_inet6";

/** Runs the proxy until SIGTERM or SIGINT; its rules stay. With `--cleanup` it removes them instead. Returns the exit code. */
export async function runProxy(options: ProxyCommand): Promise<number> {
  requireRoot("proxy");
  const host = createLinuxHost();
  if (options.cleanup) {
    await removeServiceRules(host.programs, options.nftTable);
    console.log(`The rules of the table ${options.nftTable} are removed.`);
    return 0;
  }
  process.title = "nodelet proxy";
  const log = openCommandLog(options);
  const watch = watchProcess(process, log);
  try {
    await serveUntilStopped(options, { host, log, signal: watch.signal });
    return 0;
  } finally {
    watch.release();
  }
}

interface ProxyWorld {
  readonly host: Host;
  readonly log: Log;
  readonly signal: AbortSignal;
}

async function serveUntilStopped(options: ProxyCommand, { host, log, signal }: ProxyWorld): Promise<void> {
  const { clock, random, files, programs } = host;
  if (options.kubeconfig === undefined) throw new CodedError("kubeconfig-missing", "--kubeconfig names no file");
  const connection = await readKubeconfig(options.kubeconfig, files);
  const metrics = createMetrics();
  declareProcessSeries(metrics);
  const deps = { clock, random, log, metrics, programs };
  const limits = { userAgent: `nodelet-proxy/${KUBELET_VERSION}`, qps: 0, burst: 0, timeoutMs: CALL_TIMEOUT_MS };
  const client = createHttpKubeClient({ ...deps, connection }, limits);
  const proxy = createServiceProxy(
    { ...deps, client, listen: listenHttp },
    {
      nodeName: options.hostnameOverride,
      clusterCidrs: options.clusterCidr,
      serviceCidrs: options.serviceCidr,
      nodePortAddresses: options.nodeportAddresses,
      masqueradeAll: options.masqueradeAll,
      masqueradeBit: options.masqueradeBit,
      networkPolicies: options.networkPolicies,
      ...(options.podBridgeInterface !== undefined && { podBridge: options.podBridgeInterface }),
      table: options.nftTable,
      families: await readFamilies(host),
    },
  );
  const servers = await openServers(proxy, options).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  try {
    await proxy.run(signal);
  } catch (error) {
    if (!isAbort(error)) throw error;
  } finally {
    const closers = [...servers.map((server) => async () => await server.close()), client.close];
    await runAll(closers, "stopping").catch((error: unknown) =>
      log.warn("A connection did not close", { error: messageOf(error) }),
    );
  }
}

async function readFamilies({ files }: Host): Promise<readonly AddressFamily[]> {
  return (await files.stat(IPV6_FILE)) === undefined ? ["ip"] : ["ip", "ip6"];
}

async function openServers(
  { healthPages, metricsPages }: ServiceProxy,
  { healthzBindAddress, metricsBindAddress }: ProxyCommand,
): Promise<HttpServer[]> {
  const servers: HttpServer[] = [];
  const open = async (flag: string, at: BindAddress | false, handler: PageHandler) => {
    if (at === false) return;
    try {
      servers.push(await listenHttp({ at }, handler));
    } catch (error) {
      for (const server of servers) await server.close();
      throw new CodedError("listen-failed", `${flag}: ${messageOf(error)}`, { cause: error });
    }
  };
  await open("--healthz-bind-address", healthzBindAddress, healthPages);
  await open("--metrics-bind-address", metricsBindAddress, metricsPages);
  return servers;
}
