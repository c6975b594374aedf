import type { Authenticator } from "../access/authenticate.ts";
import type { Authorizer } from "../access/rbac.ts";
import type { TokenIssuer } from "../access/service-account-tokens.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { RegistryDeps } from "../registry/registry-deps.ts";
import { reviewHandlers, tokenHandler } from "./review-handlers.ts";
import type { SubresourceHandler } from "./serve-resource.ts";
import { bindingHandler, evictionHandler, scaleHandler } from "./subresource-handlers.ts";

interface SubresourceDeps {
  registry: RegistryDeps;
  reader: ResourceReader;
  tokens: TokenIssuer;
  authenticator: Authenticator;
  authorizer: Authorizer;
}

/** The handlers of all subresources that have one, by the names that `ResourceDeps.handlers` documents. */
export function createSubresourceHandlers(deps: SubresourceDeps): ReadonlyMap<string, SubresourceHandler> {
  const { registry, reader, tokens } = deps;
  return new Map<string, SubresourceHandler>([
    ...reviewHandlers(deps),
    ["serviceaccounts/token", tokenHandler(registry, reader, tokens)],
    ["pods/binding", bindingHandler(registry)],
    ["bindings/", bindingHandler(registry)],
    ["pods/eviction", evictionHandler(registry, reader)],
    ["scale", scaleHandler(registry)],
  ]);
}
