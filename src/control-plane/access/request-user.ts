import { ApiError } from "../../api/api-error.ts";
import { KUBELET_CLIENT_USER } from "../../api/user-names.ts";
import type { ServedRequest } from "../../host/http-server.ts";
import type { User } from "../ports/user.ts";
import type { Authenticator } from "./authenticate.ts";
import { impersonate } from "./impersonate.ts";
import type { Authorizer } from "./rbac.ts";

type CredentialHeaders = Pick<ServedRequest, "peer" | "header" | "headersBeginning">;

/** Finds out who asks. */
export interface RequestUsers {
  /**
   * The user that the request proves. Throws Unauthorized, also for the API server itself: it calls nodes, and never
   * itself.
   */
  authenticate(request: CredentialHeaders): User;
  /** The user as whom the request is served: that one, or the one whom it impersonates. Throws Forbidden. */
  impersonate(user: User, request: CredentialHeaders): User;
}

/** Finds the users of requests by their credentials and headers. */
export function createRequestUser(deps: {
  authenticator: Pick<Authenticator, "authenticate">;
  authorizer: Pick<Authorizer, "authorize">;
}): RequestUsers {
  const { authenticator, authorizer } = deps;
  return {
    authenticate(request) {
      // A node writes where it is, and could lead the API server to itself: its own certificate gives no rights here.
      if (request.peer?.kind === "verified" && request.peer.commonName === KUBELET_CLIENT_USER) {
        throw new ApiError("Unauthorized", "Unauthorized");
      }
      return authenticator.authenticate({ peer: request.peer, authorization: request.header("authorization")[0] });
    },
    impersonate: (user, request) => impersonate(user, request.headersBeginning("impersonate-"), authorizer.authorize),
  };
}
