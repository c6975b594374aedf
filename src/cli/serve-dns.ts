import { randomInt } from "node:crypto";
import { CodedError, codeOf, messageOf, runAll } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { createMetrics, type Metrics } from "../base/metrics.ts";
import { KUBELET_VERSION } from "../config/kubelet-version.ts";
import { type RunningDns, runDns } from "../dns/run-dns.ts";
import type { HttpServer, PageHandler } from "../host/http-server.ts";
import { linuxFiles } from "../host/linux/files/linux-files.ts";
import { callDns } from "../host/linux/network/call-dns.ts";
import { listenDns } from "../host/linux/network/listen-dns.ts";
import { listenHttp } from "../host/linux/network/listen-http.ts";
import { linuxPrograms } from "../host/linux/system/linux-programs.ts";
import { declareProcessSeries } from "../host/linux/system/process-series.ts";
import { systemClock } from "../host/linux/system/system-clock.ts";
import { createHttpKubeClient } from "../kube/http/create-http-kube-client.ts";
import { readKubeconfig } from "../kube/kubeconfig.ts";
import { watchProcess } from "./kubelet/watch-process.ts";
import { type LogFlags, openCommandLog } from "./log-options.ts";

/** The options as commander reads them. A port of 0 turns its pages off, but for `port` itself, where it means any. */
export interface DnsCommand extends LogFlags {
  kubeconfig: string;
  address: string;
  port: number;
  clusterDomain: string;
  resolvConf: string;
  metricsPort: number;
  healthPort: number;
  readyPort: number;
}

const CALL_TIMEOUT_MS = 30_000;
const MAX_RESOLV_CONF_BYTES = 64 * 1024;

/** Serves the cluster's names until SIGTERM or SIGINT. Returns the exit code. */
export async function serveDns(options: DnsCommand): Promise<number> {
  process.title = "nodelet dns";
  const log = openCommandLog(options);
  const watch = watchProcess(process, log);
  const metrics = createMetrics();
  declareProcessSeries(metrics);
  const random = { next: () => Math.random() };
  const connection = await readKubeconfig(options.kubeconfig, linuxFiles);
  const client = createHttpKubeClient(
    { connection, clock: systemClock, random, log, programs: linuxPrograms, metrics },
    { userAgent: `nodelet-dns/${KUBELET_VERSION}`, qps: 0, burst: 0, timeoutMs: CALL_TIMEOUT_MS },
  );
  const state: { running: RunningDns | undefined } = { running: undefined };
  const pages = await openPages(options, { metrics, state });
  try {
    await runDns(
      {
        client,
        clock: systemClock,
        random,
        log,
        metrics,
        listen: listenDns,
        call: callDns,
        randomNumber: () => randomInt(2 ** 32),
        readResolvConf: async () => String(await linuxFiles.read(options.resolvConf, MAX_RESOLV_CONF_BYTES)),
        onBug: (error) => endWithBug(error, log),
      },
      { address: options.address, port: options.port, domain: options.clusterDomain.toLowerCase() },
      {
        signal: watch.signal,
        onListening(running) {
          state.running = running;
        },
      },
    );
  } catch (error) {
    throw explainListen(error, `${options.address}:${options.port}`);
  } finally {
    await runAll([...pages.map((page) => async () => await page.close()), client.close], "stopping the DNS server");
    watch.release();
  }
  return 0;
}

/** An error that nobody foresaw: the state after it cannot be trusted, and a supervisor starts the server anew. */
function endWithBug(error: unknown, log: Log): void {
  log.error("Crash: an error that nothing handled, please report it", {
    error: messageOf(error),
    stack: error instanceof Error ? error.stack : undefined,
  });
  process.exit(1);
}

/** The pages of CoreDNS at its ports, each of which has all of them. */
async function openPages(
  { address, metricsPort, healthPort, readyPort }: DnsCommand,
  { metrics, state }: { metrics: Metrics; state: { readonly running: RunningDns | undefined } },
): Promise<HttpServer[]> {
  const handle: PageHandler = async ({ path }) => {
    switch (path) {
      case "/metrics":
        return { status: 200, headers: { "content-type": metrics.contentType }, body: await metrics.render() };
      case "/health":
        return { status: 200, body: "OK" };
      case "/ready":
        return state.running?.isReady() === true ? { status: 200, body: "OK" } : { status: 503, body: "kubernetes" };
      default:
        return { status: 404, body: "not found\n" };
    }
  };
  const open: HttpServer[] = [];
  for (const port of new Set([metricsPort, healthPort, readyPort])) {
    if (port === 0) continue;
    try {
      open.push(await listenHttp({ at: { address, port }, readsBodies: false }, handle));
    } catch (error) {
      await runAll(
        open.map((server) => async () => await server.close()),
        "closing pages",
      );
      throw explainListen(error, `${address}:${port}`);
    }
  }
  return open;
}

function explainListen(error: unknown, where: string): unknown {
  const mends: Readonly<Record<string, string>> = {
    EADDRINUSE: "another program listens there: stop it, or choose another --address or port",
    EADDRNOTAVAIL: "no interface of this machine has the address: add it, or choose another --address",
    EACCES: "run it as root, or choose a port above 1023",
  };
  const mend = mends[codeOf(error) ?? ""];
  if (mend === undefined) return error;
  return new CodedError("listen-failed", `cannot listen on ${where}: ${mend}`, { cause: error });
}
