import type { WebHandler, WebRequest } from "../host/web-server.ts";
import type { Authenticator } from "./access/authenticate.ts";
import { impersonate } from "./access/impersonate.ts";
import type { Authorizer } from "./access/rbac.ts";
import type { ControlPlaneDeps, ControlPlaneOptions, Readiness } from "./control-plane-deps.ts";
import { type ApiDescription, describeApi } from "./discovery/api-description.ts";
import { describeVersion } from "./discovery/version.ts";
import type { Definitions } from "./follow-definitions.ts";
import { createNodeProxy } from "./node-proxy/node-proxy.ts";
import type { ResourceReader } from "./ports/resources.ts";
import type { User } from "./ports/user.ts";
import type { KindTable } from "./registry/kind-table.ts";
import type { RegistryDeps } from "./registry/registry-deps.ts";
import { createRequestObserver } from "./rest/observe-requests.ts";
import { reviewHandlers, tokenHandler } from "./rest/review-handlers.ts";
import { createApiHandler } from "./rest/serve.ts";
import { createPathHandler, type HealthCheck } from "./rest/serve-path.ts";
import type { SubresourceHandler } from "./rest/serve-resource.ts";
import { createEventLines } from "./rest/serve-watch.ts";
import { bindingHandler, evictionHandler, scaleHandler } from "./rest/subresource-handlers.ts";
import { wantsTranslation, wantsTunnel } from "./streams/websocket-request.ts";
import { createWebSocketStreams } from "./streams/websocket-streams.ts";
import type { SubjectReader } from "./subject-reader.ts";

interface RestParts extends ControlPlaneDeps {
  registry: RegistryDeps;
  reader: ResourceReader;
  authenticator: Authenticator;
  authorizer: Authorizer;
  definitions: Definitions;
  readiness: Readiness;
  subjects: SubjectReader;
}

/** The API server as a function of a request. */
export function composeRest(parts: RestParts, options: ControlPlaneOptions): WebHandler {
  const { registry, clock, metrics, store, authorizer, definitions, readiness, tokens } = parts;
  const { kinds } = registry;
  const observer = createRequestObserver(metrics, ({ group, version, resource }) =>
    kinds.find(group, version, resource),
  );
  const watch = { store, clock, random: parts.random.number, observer: observer.watches, lines: createEventLines() };
  return createApiHandler({
    authenticate: (request) => authenticate(parts, request),
    authorize: authorizer.authorize,
    resources: {
      registry,
      clock,
      watch,
      authorize: authorizer.authorize,
      handlers: subresourceHandlers(parts),
      connects: connectHandlers(parts, options),
      prepare: parts.subjects.prepare,
    },
    servePath: createPathHandler({
      description: describedKinds(kinds, definitions, options),
      version: describeVersion({ version: options.version }),
      healthChecks: [...HEALTH_CHECKS, readyCheck(readiness)],
      renderMetrics: async () => ({ contentType: metrics.contentType, body: await metrics.render() }),
      openIdConfiguration: () => tokens.openIdConfiguration(),
      keySet: () => tokens.jwks(),
    }),
    observer,
    clock,
    log: parts.log,
    newRequestId: parts.random.uuid,
  });
}

const HEALTH_CHECKS: readonly HealthCheck[] = [{ name: "ping", isLiveness: true, check: () => undefined }];

function readyCheck(readiness: Readiness): HealthCheck {
  const check = () => (readiness.isReached ? undefined : "the cluster's first objects are not there yet");
  return { name: "poststarthook/bootstrap-cluster", isLiveness: false, check };
}

/** The documents of the kinds as they are now: made anew when a definition changed them. */
function describedKinds(
  kinds: KindTable,
  definitions: Definitions,
  { endpoint }: ControlPlaneOptions,
): () => ApiDescription {
  const serverAddress = `${endpoint.address}:${endpoint.port}`;
  const describe = () => describeApi({ kinds: kinds.all(), definitions: definitions.schemas(), serverAddress });
  let made = { version: kinds.version, description: describe() };
  return () => {
    if (made.version !== kinds.version) made = { version: kinds.version, description: describe() };
    return made.description;
  };
}

function authenticate({ authenticator, authorizer }: RestParts, request: WebRequest): User {
  const user = authenticator.authenticate({ peer: request.peer, authorization: request.header("authorization")[0] });
  return impersonate(user, request.headersBeginning("impersonate-"), authorizer.authorize);
}

function subresourceHandlers(parts: RestParts): ReadonlyMap<string, SubresourceHandler> {
  const { registry, reader, tokens } = parts;
  return new Map<string, SubresourceHandler>([
    ...reviewHandlers(parts),
    ["serviceaccounts/token", tokenHandler(registry, reader, tokens)],
    ["pods/binding", bindingHandler(registry)],
    ["bindings/", bindingHandler(registry)],
    ["pods/eviction", evictionHandler(registry, reader)],
    ["scale", scaleHandler(registry)],
  ]);
}

/** Logs and the like, which come from the node. */
function connectHandlers(parts: RestParts, { localNode }: ControlPlaneOptions) {
  const { reader, random, nodes, clock, log, metrics } = parts;
  const streams = { wantsTranslation, wantsTunnel, ...createWebSocketStreams({ clock, log, metrics }) };
  return createNodeProxy({ ...nodes, reader, streams, random: random.number, localNode });
}
