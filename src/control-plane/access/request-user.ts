import { ApiError } from "../../api/api-error.ts";
import { KUBELET_CLIENT_USER } from "../../api/user-names.ts";
import type { ServedRequest } from "../../host/http-server.ts";
import type { User } from "../ports/user.ts";
import type { Authenticator } from "./authenticate.ts";
import { impersonate } from "./impersonate.ts";
import type { Authorizer } from "./rbac.ts";

/**
 * Finds the user as whom a request is served: the one that it proves, or the one whom that user impersonates. The
 * returned function throws an ApiError: Unauthorized, or Forbidden for an impersonation that is not allowed. Also the API
 * server itself is Unauthorized: it calls nodes, and never itself.
 */
export function createRequestUser(deps: {
  authenticator: Pick<Authenticator, "authenticate">;
  authorizer: Pick<Authorizer, "authorize">;
}): (request: Pick<ServedRequest, "peer" | "header" | "headersBeginning">) => User {
  const { authenticator, authorizer } = deps;
  return (request) => {
    // A node writes where it is, and could lead the API server to itself: its own certificate gives no rights here.
    if (request.peer?.kind === "verified" && request.peer.commonName === KUBELET_CLIENT_USER) {
      throw new ApiError("Unauthorized", "Unauthorized");
    }
    const user = authenticator.authenticate({ peer: request.peer, authorization: request.header("authorization")[0] });
    return impersonate(user, request.headersBeginning("impersonate-"), authorizer.authorize);
  };
}
