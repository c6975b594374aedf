import type { SubjectAccessReview } from "../../api/gen/types.ts";
import { SUBJECT_ACCESS_REVIEWS } from "../../api/kube-resource.ts";
import type { Clock } from "../../base/clock.ts";
import type { KubeClient } from "../../kube/port.ts";
import type { RequestUser } from "./authenticate.ts";
import { createReviewCache } from "./review-cache.ts";
import type { Asker } from "./review-places.ts";

/** One action on the node that a user asks for. */
export interface NodeAction {
  readonly user: RequestUser;
  readonly verb: string;
  readonly subresource: string;
}

/**
 * Tells whether an action is allowed. Rejects if that cannot be determined, and with AbortedError when the client has
 * gone.
 */
export type AuthorizeNodeAction = (action: NodeAction, asker: Asker) => Promise<boolean>;

/** `authorization.mode: AlwaysAllow` allows every action. */
export const allowAlways: AuthorizeNodeAction = async () => true;

/** An answer whose key is longer than this is not kept, so the question is asked anew each time. */
const MAX_KEY_CHARACTERS = 10_000;

/**
 * `authorization.mode: Webhook` asks the API server whether an action is allowed (authorizer/webhook of
 * k8s.io/apiserver).
 */
export function createAccessReviews(
  { client, clock }: { readonly client: Pick<KubeClient, "create">; readonly clock: Clock },
  options: { readonly nodeName: string; readonly allowedTtlMs: number; readonly refusedTtlMs: number },
): AuthorizeNodeAction {
  const reviews = createReviewCache<boolean>(clock);
  return async ({ user, verb, subresource }, asker) => {
    const spec = {
      resourceAttributes: { verb, version: "v1", resource: "nodes", subresource, name: options.nodeName },
      user: user.name,
      groups: [...user.groups],
      ...(user.uid !== undefined && { uid: user.uid }),
      extra: Object.fromEntries(Object.entries(user.extra).map(([name, values]) => [name, [...values]])),
    };
    const key = JSON.stringify(spec);
    return await reviews.ask(key, asker, async (shared) => {
      const review: SubjectAccessReview = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        metadata: {},
        spec,
      };
      const { status } = await client.create(SUBJECT_ACCESS_REVIEWS, review, { signal: shared });
      if (status?.allowed === true && status.denied === true) {
        throw new Error("webhook subject access review returned both allow and deny response");
      }
      const answer = status?.allowed === true;
      const keepMs = answer ? options.allowedTtlMs : options.refusedTtlMs;
      return { answer, keepMs: key.length > MAX_KEY_CHARACTERS ? 0 : keepMs };
    });
  };
}
