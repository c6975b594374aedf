import { parseTime } from "../base/clock.ts";
import { type KubeObject, typed } from "./object.ts";

const SECRET_TYPE = "bootstrap.kubernetes.io/token";

/** The namespace of bootstrap tokens. */
export const BOOTSTRAP_TOKEN_NAMESPACE = "kube-system";

/** The name of a bootstrap token's secret begins with this, and its ID follows. */
export const BOOTSTRAP_TOKEN_PREFIX = "bootstrap-token-";

/** What the secret of a bootstrap token says. */
interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
  /** When it expires, in milliseconds since the epoch; undefined: never. One whose expiration is no time has expired. */
  readonly expiresAt: number | undefined;
  /** True when the token may be used for `authentication` or for `signing`. */
  allows(use: "authentication" | "signing"): boolean;
  /** The groups that its user has besides, as they are written. */
  readonly extraGroups: string;
}

/** Reads the secret of a bootstrap token, which need not be a valid one. Undefined for a secret that is none. */
export function readBootstrapToken(object: KubeObject): BootstrapToken | undefined {
  const { metadata = {}, type, data = {} } = typed("Secret", object);
  if (metadata.namespace !== BOOTSTRAP_TOKEN_NAMESPACE || type !== SECRET_TYPE) return undefined;
  const text = (field: string) => Buffer.from(data[field] ?? "", "base64").toString();
  const expiration = text("expiration");
  return {
    id: text("token-id"),
    secret: text("token-secret"),
    expiresAt: expiration === "" ? undefined : (parseTime(expiration) ?? 0),
    allows: (use) => text(`usage-bootstrap-${use}`) === "true",
    extraGroups: text("auth-extra-groups"),
  };
}
