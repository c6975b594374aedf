import { createHealthResults } from "../../base/health-results.ts";
import type { HttpHandler } from "../../host/http-server.ts";
import { isWebSocketRequest, wantsTranslation, wantsTunnel } from "../../streams/websocket-request.ts";
import { createWebSocketStreams } from "../../streams/websocket-streams.ts";
import type { Authenticator } from "../access/authenticate.ts";
import type { Authorizer } from "../access/rbac.ts";
import { createRequestUser } from "../access/request-user.ts";
import type { Aggregation } from "../aggregation/aggregation.ts";
import { createComponentStatuses } from "../bootstrap/component-statuses.ts";
import type { Readiness } from "../bootstrap/readiness.ts";
import type { Definitions } from "../custom/follow-definitions.ts";
import { createDecisionsHandler } from "../decisions/serve-decisions.ts";
import { createCurrentDescription } from "../discovery/current-description.ts";
import { describeVersion } from "../discovery/version.ts";
import type { FlowControl } from "../flow-control/flow-control.ts";
import { METRICS_SCHEMAS } from "../kinds/metrics/metrics-kinds.ts";
import { createNodeProxy } from "../node-proxy/node-proxy.ts";
import type { ComputedObjects } from "../ports/computed-objects.ts";
import type { HealthCheck } from "../ports/health-check.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { RegistryDeps } from "../registry/registry-deps.ts";
import { createSubresourceHandlers } from "../rest/all-subresource-handlers.ts";
import { ANSWERING_CHECKS, createStoreChecks } from "../rest/health-checks.ts";
import { createRequestObserver } from "../rest/observe-requests.ts";
import { createApiHandler } from "../rest/serve.ts";
import { createPathHandler } from "../rest/serve-path.ts";
import { createEventLines } from "../rest/serve-watch.ts";
import type { ControlPlaneConfig, ControlPlaneDeps } from "./control-plane-ports.ts";

interface RestParts extends ControlPlaneDeps {
  aggregation: Pick<Aggregation, "backends" | "forward">;
  decisions: { read: Parameters<typeof createDecisionsHandler>[0] };
  flowControl: FlowControl;
  registry: RegistryDeps;
  reader: ResourceReader;
  authenticator: Authenticator;
  authorizer: Authorizer;
  definitions: Definitions;
  readiness: Readiness;
  /** Those of the start, and of what runs since. */
  startChecks: readonly HealthCheck[];
  /** The kinds that are made of what the nodes tell. */
  resourceMetrics: ReadonlyMap<string, ComputedObjects>;
}

/** The API server as a function of a request. */
export function composeRest(parts: RestParts, options: ControlPlaneConfig): HttpHandler {
  const { registry, clock, metrics, store, authorizer, definitions, readiness, tokens } = parts;
  const { kinds } = registry;
  const noteRequest = parts.noteRequest ?? (() => undefined);
  const serveDecisions = createDecisionsHandler(parts.decisions.read);
  const serverAddress = `${options.endpoint.address}:${options.endpoint.port}`;
  const { controllers = true, scheduler = true } = options;
  const componentStatuses = createComponentStatuses({ controllers, scheduler });
  const observer = createRequestObserver(metrics, ({ group, version, resource }) =>
    kinds.find(group, version, resource),
  );
  const watch = { store, clock, random: parts.random.number, observer: observer.watches, lines: createEventLines() };
  return createApiHandler({
    users: createRequestUser(parts),
    audit: parts.audit,
    authorize: authorizer.authorize,
    flowControl: parts.flowControl,
    forward: (request, target, user) => serveDecisions(target) ?? parts.aggregation.forward(request, target, user),
    resources: {
      registry,
      clock,
      noteRequest,
      watch,
      authorize: authorizer.authorize,
      handlers: createSubresourceHandlers(parts),
      connects: connectHandlers(parts, options),
      computed: new Map([...parts.resourceMetrics, ["componentstatuses", componentStatuses]]),
    },
    servePath: createPathHandler({
      description: createCurrentDescription(kinds, {
        definitions: () => ({ ...METRICS_SCHEMAS, ...definitions.schemas() }),
        foreign: parts.aggregation.backends,
        serverAddress,
      }),
      version: describeVersion({ version: options.version }),
      healthChecks: [
        ...ANSWERING_CHECKS,
        ...createStoreChecks(store, clock),
        readiness.healthCheck,
        ...parts.startChecks,
      ],
      log: parts.log,
      healthResults: createHealthResults(clock.now()),
      flowControl: parts.flowControl,
      clock,
      renderMetrics: async () => ({ contentType: metrics.contentType, body: await metrics.render() }),
      openIdConfiguration: () => tokens.openIdConfiguration(),
      keySet: () => tokens.jwks(),
    }),
    observer,
    noteRequest,
    clock,
    log: parts.log,
    newRequestId: parts.random.uuid,
  });
}

/** The subresources that lead to a node: logs, exec, port forwarding and the like. */
function connectHandlers(parts: RestParts, { localNode }: ControlPlaneConfig) {
  const { reader, random, nodes, clock, log, metrics } = parts;
  const { acceptWebSocket } = nodes;
  const streams = {
    wantsTranslation,
    wantsTunnel,
    wantsWebSocket: isWebSocketRequest,
    ...createWebSocketStreams({ acceptWebSocket, clock, log, metrics }),
  };
  return createNodeProxy({ ...nodes, reader, streams, random: random.number, localNode });
}
