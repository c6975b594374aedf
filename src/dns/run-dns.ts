import { ENDPOINT_SLICES, NAMESPACES, SERVICES } from "../api/kube-resource.ts";
import { sleep } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Random } from "../base/random.ts";
import { runWithTasks } from "../base/tasks.ts";
import type { CallDns, DnsServer, ListenDns } from "../host/dns-port.ts";
import { createReflector } from "../kube/create-reflector.ts";
import type { KubeClient } from "../kube/port.ts";
import { createDnsHandler } from "./answer-query.ts";
import { declareDnsMetrics } from "./dns-metrics.ts";
import { createForwarder } from "./forward/forwarder.ts";
import { createLoopDetector } from "./forward/loop-detector.ts";
import { type NameServer, readNameServers } from "./forward/name-servers.ts";
import { createServiceDirectory } from "./zone/service-directory.ts";

/** The parts of the world that the server needs. */
interface DnsDeps {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly listen: ListenDns;
  readonly call: CallDns;
  /** A number from 0 to 2^32 - 1 that nobody can guess. */
  readonly randomNumber: () => number;
  /** Reads the text of the resolv.conf. */
  readonly readResolvConf: () => Promise<string>;
  /** Ends the process of a server that met a bug. */
  readonly onBug: (error: unknown) => void;
}

interface DnsOptions {
  readonly address: string;
  /** 0: any free one. */
  readonly port: number;
  /** `cluster.local`, in lower case. */
  readonly domain: string;
}

/** A server that answers. */
export interface RunningDns {
  readonly port: number;
  /** True when all names of the cluster are known. */
  isReady(): boolean;
}

/** How long a change of the machine's name servers takes to be seen. */
const RESOLV_CONF_PERIOD_MS = 30_000;

/**
 * Serves names until the signal fires. `onListening` is called when questions are taken. Rejects where it cannot listen,
 * with Node.js's error.
 */
export async function runDns(
  deps: DnsDeps,
  options: DnsOptions,
  { signal, onListening }: { signal: AbortSignal; onListening: (running: RunningDns) => void },
): Promise<void> {
  const { clock, log } = deps;
  const directory = createServiceDirectory();
  const reflectors = [
    createReflector(deps, { resource: NAMESPACES, onChange: directory.changeNamespaces }),
    createReflector(deps, { resource: SERVICES, onChange: directory.changeServices }),
    createReflector(deps, { resource: ENDPOINT_SLICES, onChange: directory.changeSlices }),
  ];
  const isReady = () => reflectors.every(({ hasSynced }) => hasSynced);
  const metrics = declareDnsMetrics(deps.metrics, `dns://:${options.port}`);
  const loops = createLoopDetector(deps);
  const upstream: { servers: readonly NameServer[] } = { servers: [] };
  const forwarder = createForwarder({
    ...deps,
    metrics,
    randomId: () => deps.randomNumber() & 0xffff,
    servers: () => upstream.servers.filter((server) => !loops.loops(server)),
  });
  const serial = () => Math.floor(clock.now() / 1_000);
  const zone = { domain: options.domain, names: directory, serverAddress: options.address, serial };
  const handle = createDnsHandler({ zone, forwarder, loops, metrics, clock, isReady });
  let server: DnsServer | undefined;
  try {
    await runWithTasks(signal, async (tasks, running) => {
      server = await deps.listen({ address: options.address, port: options.port, onBug: deps.onBug }, handle);
      const { port } = server;
      log.info("Serving the cluster's names", { address: options.address, port, domain: options.domain });
      onListening({ port, isReady });
      for (const reflector of reflectors) tasks.spawn("names", async () => await reflector.run(running));
      const followed = { upstream, loops, own: { address: options.address, port } };
      await followResolvConf(deps, followed, running);
    });
  } finally {
    await server?.close();
  }
}

interface Followed {
  readonly upstream: { servers: readonly NameServer[] };
  readonly loops: ReturnType<typeof createLoopDetector>;
  /** Where we listen ourselves. */
  readonly own: NameServer;
}

/** Keeps the list of other servers like the file. While the file cannot be read, the last list stays. */
async function followResolvConf(deps: DnsDeps, followed: Followed, signal: AbortSignal): Promise<void> {
  const { upstream, loops, own } = followed;
  let said = "";
  const say = (text: string, fields: Record<string, unknown>) => {
    const line = `${text} ${JSON.stringify(fields)}`;
    if (line !== said) deps.log.info(text, fields);
    said = line;
  };
  for (;;) {
    try {
      const servers = readNameServers(await deps.readResolvConf());
      upstream.servers = servers.filter(({ address, port }) => address !== own.address || port !== own.port);
      say("Other names are asked of these servers", { servers: upstream.servers.map(({ address }) => address) });
    } catch (error) {
      say("The machine's name servers cannot be read; those that are known stay", { error: messageOf(error) });
    }
    await Promise.all(upstream.servers.map(async (server) => await loops.check(server, signal)));
    await sleep(deps.clock, RESOLV_CONF_PERIOD_MS, signal);
  }
}
