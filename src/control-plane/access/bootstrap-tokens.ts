import { timingSafeEqual } from "node:crypto";
import { BOOTSTRAP_TOKEN_NAMESPACE, BOOTSTRAP_TOKEN_PREFIX, readBootstrapToken } from "../../api/bootstrap-token.ts";
import type { LoginDeps, TokenLogin } from "./token-login.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = "system:bootstrappers";
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/**
 * Finds the user of a bootstrap token, `abcdef.0123456789abcdef`. It is a node's first credential, kept as a secret of
 * kube-system; see `kubeadm token create`.
 */
export function loginByBootstrapToken({ reader, tokens, now }: LoginDeps, token: string): TokenLogin {
  const [, id = "", given = ""] = TOKEN.exec(token) ?? [];
  if (id === "") return { kind: "none" };
  const name = `${BOOTSTRAP_TOKEN_PREFIX}${id}`;
  const found = reader.get({ resource: "secrets", namespace: BOOTSTRAP_TOKEN_NAMESPACE, name });
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return { kind: "none" };
  const read = readBootstrapToken(found);
  if (read === undefined || read.id !== id || !isSameSecret(read.secret, given)) return { kind: "none" };
  if ((read.expiresAt ?? Number.POSITIVE_INFINITY) <= now() || !read.allows("authentication")) return { kind: "none" };
  const extraGroups = read.extraGroups
    .split(",")
    .map((group) => group.trim())
    .filter((group) => group !== "");
  // A token with a forbidden group is not valid at all, so that its author notices.
  if (!extraGroups.every((group) => EXTRA_GROUP.test(group))) return { kind: "none" };
  const user = { username: `system:bootstrap:${id}`, groups: [GROUP, ...new Set(extraGroups)] };
  return { kind: "user", user, audiences: tokens.audiences };
}

function isSameSecret(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}
