import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { Random } from "../../base/random.ts";
import { runWithTasks } from "../../base/tasks.ts";
import type { ListenHttp, PageHandler } from "../../host/http-server.ts";
import type { Programs } from "../../host/programs-port.ts";
import type { KubeClient } from "../../kube/port.ts";
import { createApplyLoop } from "../loop/apply-loop.ts";
import { createFlowEraser } from "../loop/forget-flows.ts";
import { createHealthServers } from "../loop/health-servers.ts";
import { createNftables, removalOf } from "../loop/nftables.ts";
import { createHealthPages, createMetricsPages, createProxyHealth } from "../loop/proxy-pages.ts";
import { declareSyncMetrics } from "../loop/sync-metrics.ts";
import { watchCluster } from "../loop/watch-cluster.ts";
import { createPolicyCompiler } from "../policy/policy-compiler.ts";
import { ADDRESS_FAMILIES, type AddressFamily } from "../rules/fragment.ts";
import type { RuleCompiler } from "../rules/rule-compiler.ts";
import type { ServiceRuleOptions } from "../services/base-rules.ts";
import { createServiceCompiler } from "../services/service-compiler.ts";

/** The parts outside of the proxy that it is built on. */
interface ServiceProxyDeps {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly programs: Pick<Programs, "run">;
  readonly listen: ListenHttp;
}

interface ServiceProxyOptions extends ServiceRuleOptions {
  /** The name of the table of each family. */
  readonly table: string;
  /** True: network policies are kept to, which takes the right to read pods, namespaces and policies. */
  readonly networkPolicies: boolean;
  /** The families that this machine has. */
  readonly families: readonly AddressFamily[];
}

/** A proxy of services, built and not yet running. */
export interface ServiceProxy {
  readonly healthPages: PageHandler;
  readonly metricsPages: PageHandler;
  /** Keeps the rules up to date until the signal fires. The rules stay. Rejects when a part crashes. */
  run(signal: AbortSignal): Promise<void>;
}

/** Rules that somebody changed are back within a minute, unless there are so many that looking at them takes seconds. */
const CHECK_PERIOD_MS = 30_000;

/** Builds the proxy. */
export function createServiceProxy(deps: ServiceProxyDeps, options: ServiceProxyOptions): ServiceProxy {
  const { clock, log, metrics, programs, listen } = deps;
  const health = createProxyHealth(clock);
  const countTurn = declareSyncMetrics(metrics, options.families);
  const services = createServiceCompiler(options, log);
  const { nodeName, clusterCidrs: podCidrs, podBridge } = options;
  const place = { nodeName, podCidrs, ...(podBridge !== undefined && { podBridge }) };
  const policies = options.networkPolicies ? [createPolicyCompiler(place)] : [];
  const compilers: readonly RuleCompiler[] = [services, ...policies];
  const healthServers = createHealthServers({ listen, log, isHealthy: health.isHealthy });
  const loop = createApplyLoop(
    {
      nftables: createNftables(programs),
      compilers,
      clock,
      log,
      forgetFlows: createFlowEraser({ programs, log }),
      async onTurn(turn) {
        health.applied(turn.isOk);
        countTurn(turn);
        await healthServers.sync(services.healthChecks());
      },
    },
    { table: options.table, families: options.families, checkPeriodMs: CHECK_PERIOD_MS },
  );
  const kinds = compilers.flatMap((compiler) => compiler.kinds);
  const { reflectors } = watchCluster(deps, { kinds, nodeName }, (changes) => {
    health.queued();
    loop.offer(changes);
  });
  const healthPages = createHealthPages(health, clock);
  return {
    healthPages,
    metricsPages: createMetricsPages(metrics, healthPages),
    async run(signal) {
      try {
        await runWithTasks(signal, async (tasks, inner) => {
          for (const reflector of reflectors) tasks.spawn("reflector", async () => await reflector.run(inner));
          // Rules of a part of the objects would cut off the services of the rest.
          for (const reflector of reflectors) await reflector.synced(inner);
          log.info("the services are known, their rules are made", { table: options.table });
          await loop.run(inner);
        });
      } finally {
        await healthServers.close();
      }
    },
  };
}

/** Removes every rule that a proxy of this table has made. Rejects with `nft-missing` or `nft-failed`. */
export async function removeServiceRules(programs: Pick<Programs, "run">, table: string): Promise<void> {
  await createNftables(programs).apply(removalOf(ADDRESS_FAMILIES, table));
}
