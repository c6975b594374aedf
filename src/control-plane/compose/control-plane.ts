import type { HttpHandler } from "../../host/http-server.ts";
import { createApiAuthenticator } from "../access/authenticate.ts";
import { createEscalationCheck } from "../access/escalation.ts";
import { createAuthorizer } from "../access/rbac.ts";
import { createAdmissionPlugins } from "../admission/admission-plugins.ts";
import { type Aggregation, createAggregation, NO_AGGREGATION } from "../aggregation/aggregation.ts";
import { createReadiness } from "../bootstrap/readiness.ts";
import type { ControllerDeps } from "../control-loop/controller.ts";
import { createQueueMetrics } from "../control-loop/queue-metrics.ts";
import { runTogether } from "../control-loop/run-together.ts";
import type { StartHooks } from "../control-loop/start-hooks.ts";
import { followDefinitions } from "../custom/follow-definitions.ts";
import { createFlowControl } from "../flow-control/flow-control.ts";
import type { ResourceFeed, ResourceReader, ResourceWriter } from "../ports/resources.ts";
import { createBuiltInKinds } from "../registry/built-in-kinds.ts";
import { randomNameSuffix } from "../registry/generated-name.ts";
import { createFeed, createWriter } from "../registry/in-process.ts";
import { createKindTable, type KindTable, resolveKind, viewsOf } from "../registry/kind-table.ts";
import { createReader } from "../registry/reader.ts";
import type { RegistryDeps } from "../registry/registry-deps.ts";
import { createReplayedChance } from "../registry/replayed-chance.ts";
import type { ControlPlaneConfig, ControlPlaneDeps } from "./control-plane-ports.ts";
import { composeControllers } from "./controllers.ts";
import { composeDecisions } from "./decisions.ts";
import { composeResourceMetrics } from "./resource-metrics.ts";
import { composeRest } from "./rest.ts";
import { composeStartChecks, composeStartHooks, writeFirstObjects } from "./start.ts";
import { composeConversions, composeWebhooks } from "./webhooks.ts";

/** A control plane, built and not yet running. */
export interface ControlPlane {
  /** The API server. */
  readonly handle: HttpHandler;
  readonly reader: ResourceReader;
  readonly writer: ResourceWriter;
  readonly feed: ResourceFeed;
  /**
   * Resolves when the cluster's first objects exist. It stays pending forever when their creation fails; `run` rejects
   * then.
   */
  readonly ready: Promise<void>;
  /**
   * Creates the objects that every cluster begins with, becomes ready (`/readyz`), and runs the controllers until it is
   * stopped. When a part ends because of a bug, it stops the other parts and rejects.
   */
  run(stop: AbortController): Promise<void>;
}

/** Builds the control plane on a store, bottom up. */
export function createControlPlane(deps: ControlPlaneDeps, options: ControlPlaneConfig): ControlPlane {
  const { store, clock, log, certificates } = deps;
  const now = () => clock.now();
  const chance = createReplayedChance({ ...deps.random, now });
  const randomSuffix = () => randomNameSuffix(chance.number);

  const { serviceCidr } = options;
  const kinds = createKindTable(createBuiltInKinds({ serviceCidr, random: chance.number }));
  const reader = createReader(store, kinds);
  const feed = createFeed(store, kinds);
  const authorizer = createAuthorizer({ feed });
  const admission = [
    ...createAdmissionPlugins(
      {
        ...certificates,
        reader,
        feed,
        clock,
        randomSuffix,
        authorize: authorizer.authorize,
        webhooks: composeWebhooks({ ...deps, reader, kinds, authorize: authorizer.authorize }),
        resolveKind: (apiVersion, kind) => resolveKind(kinds, apiVersion, kind),
        viewsOf: (kind) => viewsOf(kinds, kind),
      },
      { apiAudiences: deps.tokens.audiences, networkPolicies: options.networkPolicies },
    ),
    createEscalationCheck(authorizer),
  ];
  const { now: decisionTime, uuid: newUid, record } = chance;
  const decisions = composeDecisions({ ...deps, reader });
  const { noteDeletion } = decisions;
  const registry: RegistryDeps = {
    ...{ store, kinds, admission, now: decisionTime, newUid, randomSuffix, record },
    noteDeletion,
  };
  const writer = createWriter(registry, "nodelet");

  const connectConversion = composeConversions({ ...deps, reader });
  const definitions = followDefinitions({ kinds, feed, writer, reader, clock, log, connectConversion });
  const authenticator = createApiAuthenticator({ ...deps, reader, now });
  const readiness = createReadiness();
  const resourceMetrics = composeResourceMetrics({ ...deps, reader }, options);
  const hooks = composeStartHooks(deps);
  const shared = { ...deps, registry, decisions, reader, authorizer, resourceMetrics, hooks };
  const aggregation = composeAggregation({ ...deps, kinds, reader, writer, feed, hooks });
  const flowControl = createFlowControl({ ...deps, feed });
  const queueMetrics = createQueueMetrics(deps.metrics, clock);
  const controllers = composeControllers(
    { ...shared, writer, feed, queueMetrics, ...foreignServers(aggregation), timeline: decisions.timeline },
    options,
  );
  const { checks: startChecks, controllers: startControllers } = composeStartChecks(hooks, definitions);
  const parts = { ...shared, flowControl, authenticator, definitions, readiness, startChecks, aggregation };

  return {
    handle: composeRest(parts, options),
    reader,
    writer,
    feed,
    ready: readiness.reached,
    async run(stop) {
      await writeFirstObjects({ reader, writer, clock, hooks, deps }, options);
      readiness.reach();
      log.info("the control plane is ready", { revision: store.revision });
      const others = [...aggregation.controllers, ...decisions.controllers, ...startControllers];
      await runTogether([...controllers, ...others], stop);
    },
  };
}

function composeAggregation(
  parts: ControlPlaneDeps & Omit<ControllerDeps, "clock" | "log"> & { kinds: KindTable; hooks: StartHooks },
) {
  const { kinds, nodes, random, frontProxy } = parts;
  if (frontProxy === undefined) return NO_AGGREGATION;
  return createAggregation({ ...parts, ...nodes, kinds: kinds.all, random: random.number, identity: frontProxy });
}

function foreignServers({ read, backends }: Aggregation) {
  const foreignResources = () => backends.versions().toSorted((a, b) => b.versionPriority - a.versionPriority);
  return { readForeign: read, foreignResources };
}
