import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { KubeClient } from "../../kube/port.ts";
import { type Authenticate, createNodeAuthenticator, createTokenReviews } from "./authenticate.ts";
import { type AuthorizeNodeAction, allowAlways, createAccessReviews } from "./authorize.ts";

interface AccessDeps {
  readonly clock: Clock;
  /** The client of the API server that is asked about users. Undefined on a node without one. */
  readonly reviews: Pick<KubeClient, "create"> | undefined;
}

/** Decides who may do what with the node's own API, as the configuration says. */
interface NodeAccess {
  readonly authenticate: Authenticate;
  readonly authorize: AuthorizeNodeAction;
}

/**
 * Creates the access checks. `findServerProblem` has made sure that an API server exists if the configuration wants it
 * to be asked.
 */
export function createNodeAccess(
  { clock, reviews }: AccessDeps,
  { kubelet, nodeName }: Pick<NodeAgentConfig, "kubelet" | "nodeName">,
): NodeAccess {
  const { authentication, authorization } = kubelet;
  const asked = reviews && { client: reviews, clock };
  const anonymous = authentication.anonymous.enabled === true;
  const reviewToken =
    authentication.webhook.enabled === true && asked !== undefined
      ? createTokenReviews(asked, { cacheTtlMs: authentication.webhook.cacheTTL })
      : undefined;
  const authenticate = createNodeAuthenticator({ clock, reviewToken }, { anonymous });
  assert(authorization.mode === "AlwaysAllow" || asked !== undefined, "nobody can be authorized");
  if (authorization.mode !== "Webhook" || asked === undefined) return { authenticate, authorize: allowAlways };
  const { cacheAuthorizedTTL: allowedTtlMs, cacheUnauthorizedTTL: refusedTtlMs } = authorization.webhook;
  return { authenticate, authorize: createAccessReviews(asked, { nodeName, allowedTtlMs, refusedTtlMs }) };
}
