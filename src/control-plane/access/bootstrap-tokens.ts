import { timingSafeEqual } from "node:crypto";
import { typed } from "../../api/object.ts";
import { parseTime } from "../../base/clock.ts";
import type { LoginDeps, TokenLogin } from "./token-login.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const SECRET_TYPE = "bootstrap.kubernetes.io/token";
const GROUP = "system:bootstrappers";
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/**
 * Finds the user of a bootstrap token, `abcdef.0123456789abcdef`. It is a node's first credential, kept as a secret of
 * kube-system; see `kubeadm token create`.
 */
export function loginByBootstrapToken({ reader, tokens, now }: LoginDeps, token: string): TokenLogin {
  const [, id = "", given = ""] = TOKEN.exec(token) ?? [];
  if (id === "") return { kind: "none" };
  const found = reader.get({ resource: "secrets", namespace: "kube-system", name: `bootstrap-token-${id}` });
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return { kind: "none" };
  const { type, data = {} } = typed("Secret", found);
  const text = (field: string) => Buffer.from(data[field] ?? "", "base64").toString();
  if (type !== SECRET_TYPE || text("token-id") !== id || !isSameSecret(text("token-secret"), given))
    return { kind: "none" };
  if (isExpired(text("expiration"), now()) || text("usage-bootstrap-authentication") !== "true")
    return { kind: "none" };
  const extraGroups = text("auth-extra-groups")
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

/**
 * True when the expiration has passed or cannot be read. A token without an expiration is valid until it is deleted.
 */
function isExpired(expiration: string, nowMs: number): boolean {
  if (expiration === "") return false;
  const end = parseTime(expiration);
  return end === undefined || end <= nowMs;
}
